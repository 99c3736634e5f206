// Many alarms on one timer: a binary heap of due instants. The engine asks for the earliest, sleeps that long, and rings
// everything that is due. Equal instants ring in the order in which they were set, on any engine, so that a run can be
// repeated. A cancelled alarm leaves the heap at once; a request's timeout is set and cancelled far more often than rung.

import type { Instant } from '../base.ts';
import type { Alarm } from './engine.ts';

export class Alarms {
  readonly #heap: Entry[] = [];
  #sequence = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** When the earliest is due; undefined when none is set. */
  get next(): Instant | undefined {
    return this.#heap[0]?.at;
  }

  set(at: Instant, ring: (now: Instant) => void): Alarm {
    const entry = new Entry(this, at, this.#sequence++, ring);
    entry.index = this.#heap.length;
    this.#heap.push(entry);
    this.#rise(entry);
    return entry;
  }

  /** Rings all that are due at `now` and were set before this call: an alarm that sets another for `now` cannot keep us here. */
  ring(now: Instant): void {
    const limit = this.#sequence;
    let kept: Entry[] | undefined;
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.at > now) break;
      this.remove(first);
      if (first.sequence >= limit) (kept ??= []).push(first);
      else first.ring(now);
    }
    if (kept === undefined) return;
    for (const entry of kept) {
      if (entry.cancelled) continue;
      entry.index = this.#heap.length;
      this.#heap.push(entry);
      this.#rise(entry);
    }
  }

  clear(): void {
    for (const entry of this.#heap) entry.index = -1;
    this.#heap.length = 0;
  }

  remove(entry: Entry): void {
    const index = entry.index;
    if (index < 0) return;
    entry.index = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return;
    last.index = index;
    this.#heap[index] = last;
    this.#rise(last);
    this.#sink(last);
  }

  #rise(entry: Entry): void {
    while (entry.index > 0) {
      const above = this.#heap[(entry.index - 1) >> 1];
      if (above === undefined || !entry.before(above)) return;
      this.#swap(entry, above);
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#heap[2 * entry.index + 1];
      const right = this.#heap[2 * entry.index + 2];
      if (left === undefined) return;
      const smaller = right !== undefined && right.before(left) ? right : left;
      if (!smaller.before(entry)) return;
      this.#swap(entry, smaller);
    }
  }

  #swap(one: Entry, other: Entry): void {
    const index = one.index;
    one.index = other.index;
    other.index = index;
    this.#heap[one.index] = one;
    this.#heap[other.index] = other;
  }
}

class Entry implements Alarm {
  readonly at: Instant;
  readonly sequence: number;
  readonly ring: (now: Instant) => void;
  /** Where it stands in the heap; −1 when it has rung or was cancelled. */
  index = -1;
  cancelled = false;
  readonly #alarms: Alarms;

  constructor(alarms: Alarms, at: Instant, sequence: number, ring: (now: Instant) => void) {
    this.#alarms = alarms;
    this.at = at;
    this.sequence = sequence;
    this.ring = ring;
  }

  before(other: Entry): boolean {
    return this.at < other.at || (this.at === other.at && this.sequence < other.sequence);
  }

  cancel(): void {
    this.cancelled = true;
    this.#alarms.remove(this);
  }
}
