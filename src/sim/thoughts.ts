// Users who think for the same time, in the order in which they began: then they also end in that order, and a ring with one
// event in the calendar does for all of them. Three million users would otherwise be three million entries in the heap, and
// every event would sink through all of them.
//
// Nobody stops thinking before the time, so unlike `Deadlines` nothing in the ring is ever dead.
//
// Hot: everything.

import { assert } from '../base.ts';
import { grownInts, grownTimes } from './jobs.ts';

const firstCapacity = 64;

export class Thoughts {
  readonly #ended: (user: number, now: number) => void;
  readonly #arm: (at: number) => void;
  #ends: Float64Array<ArrayBuffer>;
  #users: Int32Array<ArrayBuffer>;
  #head = 0;
  #count = 0;
  #armed = false;

  /**
   * There is room for `users` from the start: what grows by doubling is there twice for a while. `arm` schedules the one event
   * that leads to `pass`; `ended` hears of each user whose thought is over.
   */
  constructor(users: number, ended: (user: number, now: number) => void, arm: (at: number) => void) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(firstCapacity, users)));
    this.#ends = new Float64Array(capacity);
    this.#users = new Int32Array(capacity);
    this.#ended = ended;
    this.#arm = arm;
  }

  /** Ends may not go backwards. */
  begin(user: number, end: number): void {
    if (this.#count === this.#users.length) this.#grow();
    const mask = this.#users.length - 1;
    const last = this.#ends[(this.#head + this.#count - 1) & mask] ?? 0;
    assert(this.#count === 0 || end >= last, 'thoughts end in the order in which they began');
    const place = (this.#head + this.#count) & mask;
    this.#ends[place] = end;
    this.#users[place] = user;
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
      this.#head = (this.#head + 1) & (this.#users.length - 1);
      this.#count -= 1;
      this.#ended(user, now);
    }
    this.#armed = false;
  }

  #grow(): void {
    const before = this.#users.length;
    this.#ends = grownTimes(this.#ends, before * 2);
    this.#users = grownInts(this.#users, before * 2);
    this.#ends.copyWithin(before, 0, this.#head);
    this.#users.copyWithin(before, 0, this.#head);
  }
}
