// What happens next: events in a total order (time, rank, sequence). Rank says which kind goes first at one instant (a worker
// is released before the next request seizes it); sequence settles the rest in the order of scheduling, so that no result
// hangs on the shape of a structure. An event is one number to whoever schedules it, so nothing is allocated for one.
//
// A small calendar is a heap (near-heap.ts). A heap of a million waits for memory at every level, so in a large calendar only what
// comes next stands in the heap, and the rest lies unsorted in buckets:
//
//   heap     │ some dozens │
//   rung 1                 ├──┼──┼──┼──┤                                         one bucket of rung 0, split
//   rung 0                 ·           ├───────┼───────┼───────┼───────┤         up to 512 buckets
//   beyond                                                             ├──►      one bucket without an end
//                       horizon ───────────────────────────────────────────► time
//
// When the heap is empty, the next bucket goes into it, or is split into a finer rung if it holds too many. So an event moves two or
// three times before its turn, each time to the end of some bucket, whatever its distance in time: timeouts of 30 s and
// services of 1 ms do not disturb each other. A heap that grows too large becomes a rung. This is a ladder queue (Tang, Goh and
// Thng, "Ladder queue: an O(1) priority queue structure for large-scale discrete event simulation", 2005) with a heap for its bottom.
//
// Hot: everything. Measured: see sim.bench.ts.

import { Buckets } from './buckets.ts';
import { NearHeap } from './near-heap.ts';
import { Rung } from './rung.ts';

/** Ranks are 0 … 15; sequences stay below 2^49, which is 650 days at ten million events a second. */
export const rankMax = 15;
const rankUnit = 2 ** 49;

/** A bucket of so many at most goes into the heap as it is. */
const smallBucket = 64;
/** A heap of so many becomes a rung. */
const largeHeap = 256;
/** Rungs one above the other; what would need more stays in the heap. */
const rungsMax = 12;

export class Calendar {
  readonly #heap = new NearHeap();
  readonly #buckets = new Buckets();
  /** From the coarsest to the finest; those from `#depth` on are not in use. */
  readonly #rungs: Rung[] = [];
  #depth = 0;
  /** The bucket without an end. */
  #beyond = 0;
  /** What is earlier than this is in the heap; what is not, is not. */
  #horizon = Infinity;
  #inBuckets = 0;
  #spillAt = largeHeap;
  #sequence = 0;

  /** Of the event that `next` took out last. */
  get time(): number {
    return this.#heap.time;
  }

  get event(): number {
    return this.#heap.event;
  }

  /** Events still to come. */
  get pending(): number {
    return this.#heap.size + this.#inBuckets;
  }

  /** How many events there is room for before anything grows. */
  get room(): number {
    return this.#heap.times.length + this.#buckets.times.length;
  }

  /** When the next event happens; Infinity when there is none. */
  get nextTime(): number {
    const time = this.#heap.firstTime;
    if (time !== Infinity || this.#inBuckets === 0) return time;
    this.#refill();
    return this.#heap.firstTime;
  }

  schedule(time: number, rank: number, event: number): void {
    const order = rank * rankUnit + this.#sequence++;
    if (time < this.#horizon) {
      if (this.#heap.push(time, order, event) >= this.#spillAt) this.#spill();
      return;
    }
    this.#inBuckets += 1;
    for (let depth = this.#depth - 1; depth >= 0; depth--) {
      const rung = this.#rungs[depth];
      if (rung !== undefined && time < rung.limit) {
        this.#appendTo(rung, time, order, event);
        return;
      }
    }
    this.#beyond = this.#buckets.append(this.#beyond, time, order, event);
  }

  /** Takes out the first event into `time` and `event`. False when there is none. */
  next(): boolean {
    if (this.#heap.next()) return true;
    if (this.#inBuckets === 0) return false;
    this.#refill();
    return this.#heap.next();
  }

  clear(): void {
    this.#heap.clear();
    this.#buckets.clear();
    for (const rung of this.#rungs) rung.ends.fill(0);
    this.#depth = 0;
    this.#beyond = 0;
    this.#horizon = Infinity;
    this.#inBuckets = 0;
    this.#spillAt = largeHeap;
  }

  #appendTo(rung: Rung, time: number, order: number, event: number): void {
    const slot = rung.slotOf(time);
    rung.ends[slot] = this.#buckets.append(rung.ends[slot] ?? 0, time, order, event);
  }

  /** Brings the first bucket into the heap, which is empty. */
  #refill(): void {
    this.#spillAt = largeHeap;
    for (;;) {
      const rung = this.#rungs[this.#depth - 1];
      if (rung === undefined) {
        const bucket = this.#beyond;
        this.#beyond = 0;
        if (this.#split(bucket, Infinity)) continue;
        this.#load(bucket);
        this.#horizon = Infinity;
        return;
      }
      const slot = rung.firstSlot();
      if (slot < 0) {
        this.#depth -= 1;
        continue;
      }
      const bucket = rung.ends[slot] ?? 0;
      rung.ends[slot] = 0;
      const limit = rung.endingOf(slot);
      if (this.#split(bucket, limit)) continue;
      this.#load(bucket);
      this.#horizon = limit;
      return;
    }
  }

  #load(bucket: number): void {
    const { times, orders, events } = this.#buckets;
    let end = bucket;
    while (end > 0) {
      const first = this.#buckets.first(end);
      this.#inBuckets -= end - first;
      for (let at = first; at < end; at++) this.#heap.push(times[at] ?? 0, orders[at] ?? 0, events[at] ?? 0);
      end = this.#buckets.drop(end);
    }
  }

  /** Makes a rung of a bucket. False where it is small, or cannot be split. */
  #split(bucket: number, limit: number): boolean {
    if (this.#depth === rungsMax || this.#buckets.holdsAtMost(smallBucket, bucket)) return false;
    const { earliest, latest, count } = this.#buckets.span(bucket);
    if (earliest === latest) return false;
    const rung = this.#newRung();
    rung.cover(earliest, latest, count, limit);
    let end = bucket;
    while (end > 0) {
      const first = this.#buckets.first(end);
      for (let at = first; at < end; at++) {
        const { times, orders, events } = this.#buckets;
        this.#appendTo(rung, times[at] ?? 0, orders[at] ?? 0, events[at] ?? 0);
      }
      end = this.#buckets.drop(end);
    }
    return true;
  }

  /** Makes a rung of the heap. */
  #spill(): void {
    const heap = this.#heap;
    const count = heap.size;
    const { times, orders, events } = heap;
    const earliest = heap.firstTime;
    let latest = earliest;
    for (let place = 0; place < count; place++) latest = Math.max(latest, times[place] ?? 0);
    if (this.#depth === rungsMax || earliest === latest) {
      this.#spillAt = 2 * count;
      return;
    }
    const rung = this.#newRung();
    rung.cover(earliest, latest, count, this.#horizon);
    for (let place = 0; place < count; place++) {
      this.#appendTo(rung, times[place] ?? 0, orders[place] ?? 0, events[place] ?? 0);
    }
    this.#inBuckets += count;
    heap.clear();
    this.#horizon = rung.beginningOf(0);
  }

  #newRung(): Rung {
    const rung = this.#rungs[this.#depth] ?? new Rung();
    this.#rungs[this.#depth++] = rung;
    return rung;
  }
}
