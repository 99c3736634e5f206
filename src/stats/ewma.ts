// A mean that forgets: a value counts e^(−age / τ). It is unbiased from the first value on, because the weights are summed
// beside the values, and the sum of the weights is worth having itself: divided by τ it is the rate at which values come.
//
// Reading does not write. Time only takes weight away, so the mean between two values stays what it is, and what fades is how
// much it should be believed.

import { assert, between, type Duration, inSeconds, type Instant, start } from '../base.ts';

export class Ewma {
  readonly #timeConstant: Duration;
  #last: Instant = start;
  #weighted = 0;
  #weight = 0;

  /** `timeConstant`: the age at which a value counts 1/e. */
  constructor(timeConstant: Duration) {
    assert(timeConstant > 0, 'a time constant is positive');
    this.#timeConstant = timeConstant;
  }

  /** Hot. Instants do not go back. */
  add(value: number, now: Instant): void {
    const decay = this.#decayTo(now);
    this.#weighted = this.#weighted * decay + value;
    this.#weight = this.#weight * decay + 1;
    this.#last = now;
  }

  /** Undefined before the first value, and when all there were have faded to nothing. */
  get mean(): number | undefined {
    return this.#weight === 0 ? undefined : this.#weighted / this.#weight;
  }

  /** How many values at full weight would count as much as what is remembered. */
  weightAt(now: Instant): number {
    return this.#weight * this.#decayTo(now);
  }

  /** Values per second, over about the last time constant. Too low until one has passed. */
  ratePerSecondAt(now: Instant): number {
    return this.weightAt(now) / inSeconds(this.#timeConstant);
  }

  #decayTo(now: Instant): number {
    const age = between(this.#last, now);
    assert(age >= 0 || this.#weight === 0, 'time does not go back');
    return Math.exp(0 - age / this.#timeConstant);
  }
}
