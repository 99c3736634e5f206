// The processor time of one process under a quota, as the kernel's bandwidth control gives it: in each period of 100 ms the
// process may use `quota × 100 ms`, and then it stands still until the next period begins. A quota of a fifth is therefore not a
// processor five times slower: it runs at full speed for 20 ms and then waits for 80.
//
//   period  │▓▓▓▓░░░░░░░░░░░░│▓▓▓▓░░░░░░░░░░░░│      ▓ runs, ░ throttled
//
// The process has one thread, so requests use the processor one after the other, and a quota of one core or more never bites.

const period = 100e6;

export class CpuQuota {
  /** Totals since the beginning. */
  throttledNs = 0;
  throttledPeriods = 0;
  readonly #allowance: number;
  #freeAt = 0;
  #periodBegan = 0;
  #used = 0;

  /** `cores`: undefined is no quota. */
  constructor(cores: number | undefined) {
    this.#allowance = cores === undefined || cores >= 1 ? Infinity : cores * period;
  }

  /** Uses so much processor time as soon as the process is free, from `now` at the earliest. Returns when it is used up. */
  use(cpu: number, now: number): number {
    let at = Math.max(now, this.#freeAt);
    if (this.#allowance === Infinity) {
      this.#freeAt = at + cpu;
      return this.#freeAt;
    }
    let left = cpu;
    for (;;) {
      const began = Math.floor(at / period) * period;
      if (began > this.#periodBegan) {
        this.#periodBegan = began;
        this.#used = 0;
      }
      const next = began + period;
      const slice = Math.min(left, this.#allowance - this.#used, next - at);
      at += slice;
      left -= slice;
      this.#used += slice;
      if (left <= 0) break;
      if (at >= next) continue;
      this.throttledNs += next - at;
      this.throttledPeriods += 1;
      at = next;
    }
    this.#freeAt = Math.round(at);
    return this.#freeAt;
  }

  /** The process was started again. */
  clear(now: number): void {
    this.#freeAt = now;
  }
}
