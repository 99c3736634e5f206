// Timeouts of one length, in the order in which they were set: then they also run out in that order, and a ring with one
// event in the calendar does for all of them. Thirty thousand requests a second with a timeout of 30 s would otherwise keep
// 900,000 dead entries in the heap, and every event would pay for them.
//
//   ┌────┬────┬────┬────┐
//   │ 17 │ 18 │ 21 │ 22 │ ◄── set      the event stands at 17's expiry; what has ended by then is passed over
//   └────┴────┴────┴────┘
//
// Most requests end long before their timeout. When the ring is full it is first rid of those, and grows only if what lives
// fills half of it: three hundred thousand requests a second with 30 s each keep some ten thousand entries instead of nine
// million.
//
// Hot: `set`.

import { assert } from '../base.ts';
import { grownInts, grownTimes } from './grown.ts';

const firstCapacity = 64;

export interface Timed {
  /** Whether what had this number then is still there. */
  isAlive(id: number, generation: number): boolean;
  /** Its time has run out. */
  expire(id: number, now: number): void;
}

export class Deadlines {
  readonly length: number;
  /** Whom they end. */
  readonly timed: Timed;
  readonly #arm: (at: number) => void;
  #expiries = new Float64Array(firstCapacity);
  #ids = new Int32Array(firstCapacity);
  #generations = new Int32Array(firstCapacity);
  #head = 0;
  #count = 0;
  #armed = false;

  /** `arm` schedules the one event that leads to `pass`. */
  constructor(length: number, timed: Timed, arm: (at: number) => void) {
    assert(length > 0, 'a timeout takes time');
    this.length = length;
    this.timed = timed;
    this.#arm = arm;
  }

  set(id: number, generation: number, now: number): void {
    if (this.#count === this.#ids.length) this.#makeRoom();
    const place = (this.#head + this.#count) & (this.#ids.length - 1);
    this.#expiries[place] = now + this.length;
    this.#ids[place] = id;
    this.#generations[place] = generation;
    this.#count += 1;
    if (this.#armed) return;
    this.#armed = true;
    this.#arm(now + this.length);
  }

  /** The event has come: ends what is due, and arms again for the first that lives. While it works it counts as armed, so
   * that what is set meanwhile (behind all others in the ring) arms no second event. */
  pass(now: number): void {
    while (this.#count > 0) {
      const head = this.#head;
      const id = this.#ids[head] ?? 0;
      const alive = this.timed.isAlive(id, this.#generations[head] ?? 0);
      const expiry = this.#expiries[head] ?? 0;
      if (alive && expiry > now) {
        this.#arm(expiry);
        return;
      }
      this.#head = (head + 1) & (this.#ids.length - 1);
      this.#count -= 1;
      if (alive) this.timed.expire(id, now);
    }
    this.#armed = false;
  }

  #makeRoom(): void {
    this.#forgetDead();
    if (this.#count > this.#ids.length / 2) this.#grow();
  }

  #forgetDead(): void {
    const mask = this.#ids.length - 1;
    let kept = 0;
    for (let index = 0; index < this.#count; index++) {
      const from = (this.#head + index) & mask;
      const id = this.#ids[from] ?? 0;
      const generation = this.#generations[from] ?? 0;
      if (!this.timed.isAlive(id, generation)) continue;
      const to = (this.#head + kept) & mask;
      this.#expiries[to] = this.#expiries[from] ?? 0;
      this.#ids[to] = id;
      this.#generations[to] = generation;
      kept += 1;
    }
    this.#count = kept;
  }

  #grow(): void {
    const before = this.#ids.length;
    const capacity = before * 2;
    this.#expiries = unrolled(grownTimes(this.#expiries, capacity), before, this.#head);
    this.#ids = unrolled(grownInts(this.#ids, capacity), before, this.#head);
    this.#generations = unrolled(grownInts(this.#generations, capacity), before, this.#head);
  }
}

/** Moves what had wrapped round the old end to behind it. */
function unrolled<Column extends Float64Array | Int32Array>(column: Column, before: number, head: number): Column {
  column.copyWithin(before, 0, head);
  return column;
}
