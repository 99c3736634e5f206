// What happens soon: a heap by (time, order).
//
// Flat: three typed arrays that double when full. Four children a node: half the levels of a binary heap, and the four times
// share a cache line.
//
//   times     ┌──┬──┬──┬──┬──┬─
//   orders    ├──┼──┼──┼──┼──┼─
//   events    ├──┼──┼──┼──┼──┼─
//             └0─┴1─┴2─┴3─┴4─┴─        children of i: 4i+1 … 4i+4
//
// Most events schedule exactly one other. So `next` leaves a hole at the root, and the first `push` after it fills the hole and
// sinks: one sift instead of two (a "replace top" that nobody has to ask for).
//
// Hot: everything.

import { assert } from '../base.ts';

const firstCapacity = 64;

export class NearHeap {
  /** Of the event that `next` took out last. */
  time = 0;
  event = 0;

  times = new Float64Array(firstCapacity);
  orders = new Float64Array(firstCapacity);
  events = new Int32Array(firstCapacity);
  #places = 0;
  /** Whether the root has left and its place is free. It counts in `#places`. */
  #hole = false;

  get size(): number {
    return this.#hole ? this.#places - 1 : this.#places;
  }

  /** When the first event happens; Infinity when there is none. */
  get firstTime(): number {
    if (this.#hole) this.closeHole();
    return this.#places === 0 ? Infinity : (this.times[0] ?? Infinity);
  }

  /** Returns how many there are now. */
  push(time: number, order: number, event: number): number {
    if (this.#hole) {
      this.#hole = false;
      this.#sink(time, order, event);
      return this.#places;
    }
    if (this.#places === this.times.length) this.#grow();
    this.#rise(this.#places++, time, order, event);
    return this.#places;
  }

  /** Takes out the first event into `time` and `event`. False when there is none. */
  next(): boolean {
    if (this.#hole) this.closeHole();
    if (this.#places === 0) return false;
    this.time = this.times[0] ?? 0;
    this.event = this.events[0] ?? 0;
    this.#hole = true;
    return true;
  }

  /** From now on what is in the heap stands in the first `size` places of the columns. */
  closeHole(): void {
    if (!this.#hole) return;
    this.#hole = false;
    const last = --this.#places;
    if (last > 0) this.#sink(this.times[last] ?? 0, this.orders[last] ?? 0, this.events[last] ?? 0);
  }

  clear(): void {
    this.#places = 0;
    this.#hole = false;
  }

  /** Moves a newcomer up from the end. */
  #rise(from: number, time: number, order: number, event: number): void {
    const { times, orders, events } = this;
    let hole = from;
    while (hole > 0) {
      const parent = (hole - 1) >> 2;
      const parentTime = times[parent] ?? 0;
      if (parentTime < time || (parentTime === time && (orders[parent] ?? 0) < order)) break;
      times[hole] = parentTime;
      orders[hole] = orders[parent] ?? 0;
      events[hole] = events[parent] ?? 0;
      hole = parent;
    }
    times[hole] = time;
    orders[hole] = order;
    events[hole] = event;
  }

  /** Moves an event down from the root. */
  #sink(time: number, order: number, event: number): void {
    const { times, orders, events } = this;
    const size = this.#places;
    let hole = 0;
    for (;;) {
      const first = 4 * hole + 1;
      if (first >= size) break;
      const end = first + 4 < size ? first + 4 : size;
      let child = first;
      let childTime = times[first] ?? 0;
      for (let other = first + 1; other < end; other++) {
        const otherTime = times[other] ?? 0;
        if (otherTime < childTime || (otherTime === childTime && (orders[other] ?? 0) < (orders[child] ?? 0))) {
          child = other;
          childTime = otherTime;
        }
      }
      if (time < childTime || (time === childTime && order < (orders[child] ?? 0))) break;
      times[hole] = childTime;
      orders[hole] = orders[child] ?? 0;
      events[hole] = events[child] ?? 0;
      hole = child;
    }
    times[hole] = time;
    orders[hole] = order;
    events[hole] = event;
  }

  #grow(): void {
    const capacity = this.times.length * 2;
    assert(capacity <= 2 ** 28, 'a calendar of more than 268 million events is a mistake');
    const times = new Float64Array(capacity);
    const orders = new Float64Array(capacity);
    const events = new Int32Array(capacity);
    times.set(this.times);
    orders.set(this.orders);
    events.set(this.events);
    this.times = times;
    this.orders = orders;
    this.events = events;
  }
}
