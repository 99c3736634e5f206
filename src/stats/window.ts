// How many in the last while: counts in slots of equal length, the oldest forgotten as time moves on.
//
//   slots      │ 4 │ 0 │ 7 │ 2 │ 5·          the last is not over yet
//   totalAt    └────── window ─────┘ now     so the window is exact to the length of one slot
//
// Reading does not write: a slot that time has passed by is left out of the sum, and emptied when it is used again.

import { assert, type Duration, type Instant } from '../base.ts';

export class WindowCount {
  readonly #slotLength: Duration;
  readonly #counts: Float64Array;
  /** Which slot of all time each count belongs to. */
  readonly #slots: Float64Array;

  /** Covers the slot that is going on and the `slots − 1` before it. */
  constructor(slotLength: Duration, slots: number) {
    assert(slotLength > 0, 'a slot lasts');
    assert(Number.isInteger(slots) && slots > 0, 'a window has a whole number of slots');
    this.#slotLength = slotLength;
    this.#counts = new Float64Array(slots);
    this.#slots = new Float64Array(slots).fill(-1);
  }

  /** Hot. */
  add(count: number, now: Instant): void {
    const slot = Math.floor(now / this.#slotLength);
    const place = slot % this.#counts.length;
    const isSame = this.#slots[place] === slot;
    this.#counts[place] = isSame ? (this.#counts[place] ?? 0) + count : count;
    this.#slots[place] = slot;
  }

  totalAt(now: Instant): number {
    const newest = Math.floor(now / this.#slotLength);
    const oldest = newest - this.#counts.length + 1;
    let total = 0;
    for (let place = 0; place < this.#counts.length; place++) {
      const slot = this.#slots[place] ?? -1;
      if (slot >= oldest && slot <= newest) total += this.#counts[place] ?? 0;
    }
    return total;
  }
}
