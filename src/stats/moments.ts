// Mean and variance, of a list or as values come. Squares are taken of distances from the mean, never of the values: the
// difference of two large sums of squares would have no digits left where latencies of 10 s differ by 1 ms.

import { assert } from '../base.ts';

/** The arithmetic mean; undefined of nothing. */
export function meanOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** The sample variance (n − 1 below); undefined of fewer than two. */
export function varianceOf(values: readonly number[]): number | undefined {
  const mean = meanOf(values);
  if (mean === undefined || values.length < 2) return undefined;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return squares / (values.length - 1);
}

/** The same in one pass and constant memory, by Welford's recurrence (Technometrics 4, 1962). */
export class Moments {
  #count = 0;
  #mean = 0;
  #squares = 0;
  #min = Infinity;
  #max = -Infinity;

  add(value: number): void {
    assert(Number.isFinite(value), 'a value is finite');
    this.#count += 1;
    const distance = value - this.#mean;
    this.#mean += distance / this.#count;
    this.#squares += distance * (value - this.#mean);
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** Takes in what another has seen. */
  merge(other: Moments): void {
    if (other.#count === 0) return;
    const count = this.#count + other.#count;
    const distance = other.#mean - this.#mean;
    this.#squares += other.#squares + (distance * distance * this.#count * other.#count) / count;
    this.#mean += (distance * other.#count) / count;
    this.#count = count;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  get count(): number {
    return this.#count;
  }

  get mean(): number | undefined {
    return this.#count === 0 ? undefined : this.#mean;
  }

  /** The sample variance; undefined of fewer than two. */
  get variance(): number | undefined {
    return this.#count < 2 ? undefined : this.#squares / (this.#count - 1);
  }

  get min(): number | undefined {
    return this.#count === 0 ? undefined : this.#min;
  }

  get max(): number | undefined {
    return this.#count === 0 ? undefined : this.#max;
  }
}
