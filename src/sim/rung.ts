// A row of buckets of equal width: the part of the future between two instants. The width is a power of two, so that the bucket of
// a time is exact, and so is where each bucket begins.

const slotsMax = 512;

export class Rung {
  /** The end of each bucket, as in buckets.ts. */
  readonly ends = new Int32Array(slotsMax + 1);
  /** Nothing here is later than this, nor at it. */
  limit = 0;
  #width = 1;
  #scale = 1;
  /** The first bucket's number, counted from time 0. */
  #base = 0;
  #slots = 0;
  /** Every bucket before this one is empty. */
  #first = 0;

  /** Covers times from `from` to `to`, both included, for so many events; of what lies at or beyond `limit` it never hears. */
  cover(from: number, to: number, events: number, limit: number): void {
    const slots = Math.min(slotsMax, Math.max(16, events >> 3));
    let width = 1;
    while (width * slots <= to - from) width *= 2;
    this.#width = width;
    this.#scale = 1 / width;
    this.#base = Math.floor(from * this.#scale);
    this.#slots = Math.floor(to * this.#scale) - this.#base + 1;
    this.#first = 0;
    this.limit = Math.min(limit, this.beginningOf(this.#slots));
  }

  slotOf(time: number): number {
    return Math.floor(time * this.#scale) - this.#base;
  }

  beginningOf(slot: number): number {
    return (this.#base + slot) * this.#width;
  }

  endingOf(slot: number): number {
    return Math.min(this.beginningOf(slot + 1), this.limit);
  }

  /** The first bucket that is not empty; −1 where all are. */
  firstSlot(): number {
    const { ends } = this;
    const slots = this.#slots;
    let slot = this.#first;
    while (slot < slots && ends[slot] === 0) slot += 1;
    this.#first = slot;
    return slot === slots ? -1 : slot;
  }
}
