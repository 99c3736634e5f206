// Events in no order, in buckets: one pool of chunks for all of them. A bucket is one number, its end: where its next event will be
// written, and 0 while it is empty. Chunks that are full are linked from the newest to the oldest.
//
//   chunk 7  │ a b c d e f g h … │ ◄── link ── chunk 2 │ x y . . . . │
//                                                          ▲
//                                                          └ end: what comes next goes here
//
// So an event is written beside the one before it, and five hundred buckets write to five hundred lines of memory at most.
//
// Hot: `append`.

import { assert } from '../base.ts';
import { grownInts, grownTimes } from './grown.ts';

const logChunk = 7;
export const chunk = 2 ** logChunk;
const firstCapacity = 4 * chunk;

export class Buckets {
  times = new Float64Array(firstCapacity);
  orders = new Float64Array(firstCapacity);
  events = new Int32Array(firstCapacity);
  /** By chunk: the one filled before it in the same bucket; −1 for none. Of a free chunk: the next free one. */
  #links = new Int32Array(firstCapacity / chunk);
  #unused = 0;
  #free = -1;

  /** Adds an event to the bucket that ends at `end`. Returns its new end. */
  append(end: number, time: number, order: number, event: number): number {
    const at = (end & (chunk - 1)) === 0 ? this.#newChunk(end) : end;
    this.times[at] = time;
    this.orders[at] = order;
    this.events[at] = event;
    return at + 1;
  }

  /** Where the newest chunk of a bucket begins: it reaches to `end`. */
  first(end: number): number {
    return (end - 1) & ~(chunk - 1);
  }

  /** Lets go of the newest chunk, which has been read. Returns the end of what is left of the bucket. */
  drop(end: number): number {
    const before = this.#before(end);
    const index = (end - 1) >> logChunk;
    this.#links[index] = this.#free;
    this.#free = index;
    return before;
  }

  /** The end of a bucket's older chunks. */
  #before(end: number): number {
    return ((this.#links[(end - 1) >> logChunk] ?? -1) + 1) << logChunk;
  }

  /** Whether a bucket holds at most so many events. */
  holdsAtMost(most: number, end: number): boolean {
    let left = most;
    for (let at = end; at > 0; at = this.#before(at)) {
      left -= at - this.first(at);
      if (left < 0) return false;
    }
    return true;
  }

  /** How many events a bucket holds, and the times of the first and the last. */
  span(bucket: number): { readonly count: number; readonly earliest: number; readonly latest: number } {
    const { times } = this;
    let count = 0;
    let earliest = Infinity;
    let latest = -Infinity;
    for (let end = bucket; end > 0; end = this.#before(end)) {
      const first = this.first(end);
      count += end - first;
      for (let at = first; at < end; at++) {
        const time = times[at] ?? 0;
        if (time < earliest) earliest = time;
        if (time > latest) latest = time;
      }
    }
    return { count, earliest, latest };
  }

  clear(): void {
    this.#unused = 0;
    this.#free = -1;
  }

  #newChunk(end: number): number {
    let index = this.#free;
    if (index >= 0) this.#free = this.#links[index] ?? -1;
    else {
      if (this.#unused === this.#links.length) this.#grow();
      index = this.#unused++;
    }
    this.#links[index] = (end >> logChunk) - 1;
    return index << logChunk;
  }

  #grow(): void {
    const capacity = this.times.length * 2;
    assert(capacity <= 2 ** 28, 'a calendar of more than 268 million events is a mistake');
    this.times = grownTimes(this.times, capacity);
    this.orders = grownTimes(this.orders, capacity);
    this.events = grownInts(this.events, capacity);
    this.#links = grownInts(this.#links, capacity / chunk);
  }
}
