// Users who think for the same time, in the order in which they began: then they also end in that order, and a ring with one
// event in the calendar does for all of them. Three million users would otherwise be three million entries in the heap, and
// every event would sink through all of them.
//
// Nobody stops thinking before the time, so unlike `Deadlines` nothing in the ring is ever dead.
//
// Hot: everything.

import { assert } from '../base.ts';
import { grownInts, grownTimes } from './grown.ts';

const firstCapacity = 64;

export class Thoughts {
  readonly #ended: (user: number, group: number, now: number) => void;
  readonly #arm: (at: number) => void;
  #ends: Float64Array<ArrayBuffer>;
  #users: Int32Array<ArrayBuffer>;
  #groups: Uint16Array<ArrayBuffer>;
  #head = 0;
  #count = 0;
  #armed = false;
  /** The end that was entered last. */
  #last = 0;

  /**
   * There is room for `users` from the start, and no more: what grows by doubling is there twice for a while. `arm` schedules the one event
   * that leads to `pass`; `ended` hears of each user whose thought is over.
   */
  constructor(users: number, ended: (user: number, group: number, now: number) => void, arm: (at: number) => void) {
    const capacity = Math.max(firstCapacity, users);
    this.#ends = new Float64Array(capacity);
    this.#users = new Int32Array(capacity);
    this.#groups = new Uint16Array(capacity);
    this.#ended = ended;
    this.#arm = arm;
  }

  /** `group` is told again when the thought is over. Ends may not go backwards. */
  begin(user: number, group: number, end: number): void {
    if (this.#count === this.#users.length) this.#grow();
    assert(end >= this.#last, 'thoughts end in the order in which they began');
    this.#last = end;
    const place = this.#wrapped(this.#head + this.#count);
    this.#ends[place] = end;
    this.#users[place] = user;
    this.#groups[place] = group;
    this.#count += 1;
    if (this.#armed) return;
    this.#armed = true;
    this.#arm(end);
  }

  /** The event has come: ends every thought that is over, then arms for the next. While it works it counts as armed, so that
   * whoever thinks again at once arms no second event. */
  pass(now: number): void {
    while (this.#count > 0) {
      const end = this.#ends[this.#head] ?? 0;
      if (end > now) {
        this.#arm(end);
        return;
      }
      const user = this.#users[this.#head] ?? 0;
      const group = this.#groups[this.#head] ?? 0;
      this.#head = this.#wrapped(this.#head + 1);
      this.#count -= 1;
      this.#ended(user, group, now);
    }
    this.#armed = false;
  }

  #wrapped(place: number): number {
    return place < this.#users.length ? place : place - this.#users.length;
  }

  #grow(): void {
    const before = this.#users.length;
    this.#ends = grownTimes(this.#ends, before * 2);
    this.#users = grownInts(this.#users, before * 2);
    const groups = new Uint16Array(before * 2);
    groups.set(this.#groups);
    this.#groups = groups;
    for (const column of [this.#ends, this.#users, this.#groups]) column.copyWithin(before, 0, this.#head);
  }
}
