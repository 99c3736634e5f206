// A quantile of the last few whole numbers, kept sorted as they come: one leaves, one enters, and the rest shifts. For a
// hundred small numbers this is a memory move of a few cache lines, cheaper than any cleverer structure.
//
// Hot: `add` and `quantile` allocate nothing.

import { assert } from '../../base.ts';

export class RecentQuantile {
  readonly #sorted: Float64Array;
  /** The same numbers in the order in which they came; `#next` is the oldest once the ring is full. */
  readonly #ring: Float64Array;
  #size = 0;
  #next = 0;

  constructor(capacity: number) {
    assert(Number.isInteger(capacity) && capacity > 0, 'there is room for one number at least');
    this.#sorted = new Float64Array(capacity);
    this.#ring = new Float64Array(capacity);
  }

  add(value: number): void {
    const sorted = this.#sorted;
    if (this.#size === sorted.length) this.#leave(this.#ring[this.#next] ?? 0);
    let place = this.#size;
    while (place > 0 && (sorted[place - 1] ?? 0) > value) {
      sorted[place] = sorted[place - 1] ?? 0;
      place -= 1;
    }
    sorted[place] = value;
    this.#size += 1;
    this.#ring[this.#next] = value;
    this.#next = this.#next + 1 === sorted.length ? 0 : this.#next + 1;
  }

  /** The smallest number that at least this share of the numbers does not exceed; 0 when there are none. */
  quantile(share: number): number {
    if (this.#size === 0) return 0;
    const rank = Math.min(this.#size, Math.max(1, Math.ceil(share * this.#size)));
    return this.#sorted[rank - 1] ?? 0;
  }

  #leave(value: number): void {
    const sorted = this.#sorted;
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    sorted.copyWithin(low, low + 1, this.#size);
    this.#size -= 1;
  }
}
