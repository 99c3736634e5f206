// A cumulative histogram as Prometheus wants it: counts of values up to each bound, their sum and their number.

import type { Duration } from '../../base.ts';

/** 0.5 ms to 60 s, five or six a decade, in milliseconds: numbers that people recognise. */
const boundsMs: readonly number[] = [
  0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1e3, 1.5e3, 2e3, 3e3, 5e3, 7e3,
  10e3, 15e3, 20e3, 30e3, 60e3,
];

export class Histogram {
  readonly #name: string;
  /** Values in each bucket alone; the last counts what is beyond every bound. */
  readonly #counts = new Float64Array(boundsMs.length + 1);
  #sumNs = 0;
  #count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(value: Duration): void {
    let bucket = 0;
    while (bucket < boundsMs.length && value > (boundsMs[bucket] ?? 0) * 1e6) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumNs += value;
    this.#count += 1;
  }

  /** Lines of Prometheus text, in seconds. */
  lines(): string[] {
    const lines = [`# TYPE ${this.#name} histogram`];
    let below = 0;
    for (const [bucket, bound] of boundsMs.entries()) {
      below += this.#counts[bucket] ?? 0;
      lines.push(`${this.#name}_bucket{le="${bound / 1e3}"} ${below}`);
    }
    lines.push(
      `${this.#name}_bucket{le="+Inf"} ${this.#count}`,
      `${this.#name}_sum ${this.#sumNs / 1e9}`,
      `${this.#name}_count ${this.#count}`,
    );
    return lines;
  }
}
