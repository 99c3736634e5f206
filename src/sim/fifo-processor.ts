// The processor of a process with one thread: requests use it one after the other, so who comes later takes nothing from who was
// there before, and the end of each is known when it begins. A quota of one core or more never bites.

import { type Processor, quotaPeriod } from './processor.ts';

export class FifoProcessor implements Processor {
  usedNs = 0;
  throttledNs = 0;
  throttledPeriods = 0;
  /** Processor time for each period. */
  readonly #allowance: number;
  #freeAt = 0;
  #periodBegan = 0;
  /** In that period. */
  #used = 0;

  /** `cores`: undefined is no quota. */
  constructor(cores: number | undefined) {
    this.#allowance = cores === undefined || cores >= 1 ? Infinity : cores * quotaPeriod;
  }

  begin(_job: number, work: number, now: number): number {
    const at = Math.max(now, this.#freeAt);
    this.usedNs += work;
    this.#freeAt = this.#allowance === Infinity ? at + work : this.#throttled(work, at);
    return this.#freeAt;
  }

  /** When so much work is done that begins at `from`. */
  #throttled(work: number, from: number): number {
    let at = from;
    let left = work;
    for (;;) {
      const began = Math.floor(at / quotaPeriod) * quotaPeriod;
      if (began > this.#periodBegan) {
        this.#periodBegan = began;
        this.#used = 0;
      }
      const next = began + quotaPeriod;
      const slice = Math.min(left, this.#allowance - this.#used, next - at);
      at += slice;
      left -= slice;
      this.#used += slice;
      if (left <= 0) return Math.round(at);
      if (at >= next) continue;
      this.throttledNs += next - at;
      this.throttledPeriods += 1;
      at = next;
    }
  }

  leave(): boolean {
    return false;
  }

  pass(): void {}

  stand(): void {}

  goOn(now: number, late: number): void {
    if (this.#freeAt > now - late) this.#freeAt += late;
  }

  clear(now: number): void {
    this.#freeAt = now;
  }

  settle(): void {}
}
