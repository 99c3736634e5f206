// Jobs by a key: the one with the smallest is first, of several the one that came first. Any of them can be taken out, because
// each knows its place: by the pool's `next`, which it needs for no list while it is here.
//
//        0
//      ┌─┴─┐            children of i: 2i+1, 2i+2
//      1   2            parent of i:   (i−1) >> 1
//
// Hot: everything. Entering and leaving take O(log n).

import { grownInts, grownTimes } from './grown.ts';
import type { Jobs } from './jobs.ts';

const firstCapacity = 8;

export class JobHeap {
  readonly #jobs: Jobs;
  #keys: Float64Array<ArrayBuffer> = new Float64Array(firstCapacity);
  /** How many had come before: settles ties. */
  #orders: Float64Array<ArrayBuffer> = new Float64Array(firstCapacity);
  #items: Int32Array<ArrayBuffer> = new Int32Array(firstCapacity);
  #size = 0;
  #come = 0;

  constructor(jobs: Jobs) {
    this.#jobs = jobs;
  }

  get size(): number {
    return this.#size;
  }

  /** The job with the smallest key; −1 when there is none. */
  get first(): number {
    return this.#size === 0 ? -1 : (this.#items[0] ?? -1);
  }

  /** Infinity when there is none. */
  get firstKey(): number {
    return this.#size === 0 ? Infinity : (this.#keys[0] ?? Infinity);
  }

  push(key: number, job: number): void {
    if (this.#size === this.#items.length) this.#grow();
    this.#rise(this.#size++, key, this.#come++, job);
  }

  /** Takes a job out. False when it is not here. */
  remove(job: number): boolean {
    const place = this.#jobs.next[job] ?? -1;
    if (place < 0 || place >= this.#size || this.#items[place] !== job) return false;
    const last = --this.#size;
    if (place === last) return true;
    const key = this.#keys[last] ?? 0;
    const order = this.#orders[last] ?? 0;
    const moved = this.#items[last] ?? 0;
    if (this.#isBefore(key, order, (place - 1) >> 1)) this.#rise(place, key, order, moved);
    else this.#sink(place, key, order, moved);
    return true;
  }

  clear(): void {
    this.#size = 0;
  }

  #isBefore(key: number, order: number, place: number): boolean {
    if (place < 0) return false;
    const other = this.#keys[place] ?? 0;
    return key < other || (key === other && order < (this.#orders[place] ?? 0));
  }

  #rise(from: number, key: number, order: number, job: number): void {
    let hole = from;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!this.#isBefore(key, order, parent)) break;
      this.#move(parent, hole);
      hole = parent;
    }
    this.#place(hole, key, order, job);
  }

  #sink(from: number, key: number, order: number, job: number): void {
    let hole = from;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= this.#size) break;
      const right = child + 1;
      if (right < this.#size && this.#isBefore(this.#keys[right] ?? 0, this.#orders[right] ?? 0, child)) child = right;
      if (this.#isBefore(key, order, child)) break;
      this.#move(child, hole);
      hole = child;
    }
    this.#place(hole, key, order, job);
  }

  #move(from: number, to: number): void {
    this.#place(to, this.#keys[from] ?? 0, this.#orders[from] ?? 0, this.#items[from] ?? 0);
  }

  #place(at: number, key: number, order: number, job: number): void {
    this.#keys[at] = key;
    this.#orders[at] = order;
    this.#items[at] = job;
    this.#jobs.next[job] = at;
  }

  #grow(): void {
    const capacity = 2 * this.#items.length;
    this.#keys = grownTimes(this.#keys, capacity);
    this.#orders = grownTimes(this.#orders, capacity);
    this.#items = grownInts(this.#items, capacity);
  }
}
