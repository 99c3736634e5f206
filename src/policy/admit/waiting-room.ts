// A bounded queue that knows when it is too long. A queue that is empty now and then absorbs bursts and is good; one that never
// empties only makes everybody late by its length. The two are told apart by time, not by length (CoDel; Nichols and
// Jacobson 2012, and for requests: Facebook, "Fail at Scale", 2015):
//
//   if the queue has not been empty for the last `interval`, nobody may wait for longer than `target`;
//   otherwise a request may wait for up to `interval`.
//
// And while it has not been empty, the newest is served first (adaptive LIFO): the oldest has waited for so long that its
// client will have given up by the time it is answered, the newest can still be answered in time. First come, first served
// is fair only as long as everybody is served.
//
//            enter                       take
//   calm     ●●●○ ──► ▓▓▓▓ ──► oldest     wait ≤ interval
//   crowded  ●●●● ──► ▓▓▓▓ ──► newest     wait ≤ target, older ones are turned away
//
// Full means full: one more is refused at once.

import { assert, type Duration, type Instant, instantAt, ms } from '../../base.ts';

export interface WaitingRoomSettings {
  /** Requests that may wait. */
  readonly places: number;
  /** How long one may wait while it is crowded: 5 ms. */
  readonly target: Duration;
  /** How long one may wait while it is calm, and how long without an empty moment makes it crowded: 100 ms. */
  readonly interval: Duration;
}

export const defaultWaitingRoomSettings: WaitingRoomSettings = { places: 1024, target: ms(5), interval: ms(100) };

/** `Guest` is whatever waits. */
export class WaitingRoom<Guest> {
  readonly #settings: WaitingRoomSettings;
  /** A ring: `#size` guests from `#head` on, oldest first. Cancelled ones are undefined until they are passed. */
  readonly #guests: (Guest | undefined)[];
  readonly #since: Float64Array;
  #head = 0;
  #size = 0;
  #cancelled = 0;
  #emptyAt: Instant;

  constructor(settings: WaitingRoomSettings, now: Instant) {
    assert(Number.isInteger(settings.places) && settings.places >= 1, 'a waiting room has a place');
    assert(settings.target <= settings.interval, 'the patience of a crowded room is the shorter one');
    this.#settings = settings;
    this.#guests = Array.from({ length: settings.places }, () => undefined);
    this.#since = new Float64Array(settings.places);
    this.#emptyAt = now;
  }

  get size(): number {
    return this.#size - this.#cancelled;
  }

  crowdedAt(now: Instant): boolean {
    return this.size > 0 && now - this.#emptyAt >= this.#settings.interval;
  }

  /** Takes a place if there is one. */
  enter(guest: Guest, now: Instant): boolean {
    if (this.size === 0) this.#emptyAt = now;
    if (this.#size === this.#settings.places) return false;
    const place = (this.#head + this.#size) % this.#settings.places;
    this.#guests[place] = guest;
    this.#since[place] = now;
    this.#size += 1;
    return true;
  }

  /** Who is served next, or undefined. Those who have waited for too long are handed to `turnAway` first, oldest first. */
  take(now: Instant, turnAway: (guest: Guest) => void): Guest | undefined {
    const crowded = this.crowdedAt(now);
    this.#turnAwayTheLate(crowded ? this.#settings.target : this.#settings.interval, now, turnAway);
    const guest = crowded ? this.#takeNewest() : this.#takeOldest();
    if (this.size === 0) this.#emptyAt = now;
    return guest;
  }

  /** When somebody will have waited for too long; undefined when nobody waits. */
  nextLateAt(now: Instant): Instant | undefined {
    this.#passCancelled();
    if (this.#size === 0) return undefined;
    const patience = this.crowdedAt(now) ? this.#settings.target : this.#settings.interval;
    return instantAt((this.#since[this.#head] ?? 0) + patience);
  }

  /** Turns away those who have waited for too long without serving anybody. */
  expire(now: Instant, turnAway: (guest: Guest) => void): void {
    this.#turnAwayTheLate(this.crowdedAt(now) ? this.#settings.target : this.#settings.interval, now, turnAway);
    if (this.size === 0) this.#emptyAt = now;
  }

  /** A guest leaves by itself. */
  cancel(guest: Guest): void {
    for (let step = 0; step < this.#size; step++) {
      const place = (this.#head + step) % this.#settings.places;
      if (this.#guests[place] !== guest) continue;
      this.#guests[place] = undefined;
      this.#cancelled += 1;
      return;
    }
  }

  #turnAwayTheLate(patience: Duration, now: Instant, turnAway: (guest: Guest) => void): void {
    for (;;) {
      this.#passCancelled();
      if (this.#size === 0 || now - (this.#since[this.#head] ?? 0) <= patience) return;
      const guest = this.#takeOldest();
      if (guest !== undefined) turnAway(guest);
    }
  }

  #takeOldest(): Guest | undefined {
    this.#passCancelled();
    if (this.#size === 0) return undefined;
    const guest = this.#guests[this.#head];
    this.#guests[this.#head] = undefined;
    this.#head = (this.#head + 1) % this.#settings.places;
    this.#size -= 1;
    return guest;
  }

  #takeNewest(): Guest | undefined {
    while (this.#size > 0) {
      const place = (this.#head + this.#size - 1) % this.#settings.places;
      const guest = this.#guests[place];
      this.#guests[place] = undefined;
      this.#size -= 1;
      if (guest !== undefined) return guest;
      this.#cancelled -= 1;
    }
    return undefined;
  }

  #passCancelled(): void {
    while (this.#size > 0 && this.#guests[this.#head] === undefined) {
      this.#head = (this.#head + 1) % this.#settings.places;
      this.#size -= 1;
      this.#cancelled -= 1;
    }
  }
}
