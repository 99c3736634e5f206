// A number that stays what it is until it changes (requests in flight, workers at work) and whose mean over a span is wanted
// exactly, not sampled: each value counts for as long as it lasted.
//
//   3 ┤    ┌──┐
//   2 ┤ ┌──┘  └───┐           mean = area ÷ span
//   1 ┤─┘         └──
//     └──────────────► now
//
// Reading does not write: a span ends and the next begins only with `restart`. The integral over all time, in value·seconds, is
// there too: whoever can read it twice needs nothing else.

import { assert, between, type Duration, type Instant } from '../base.ts';

export interface LevelSpan {
  readonly span: Duration;
  /** Weighted by time. Over a span of no length it is the value itself. */
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

export class Level {
  #value: number;
  #changed: Instant;
  /** Value times nanoseconds, from the beginning up to the last change. Exact for whole numbers up to 2^53. */
  #integral = 0;
  #spanFrom: Instant;
  #integralAtSpanFrom = 0;
  #min: number;
  #max: number;

  constructor(value: number, now: Instant) {
    this.#value = value;
    this.#changed = now;
    this.#spanFrom = now;
    this.#min = value;
    this.#max = value;
  }

  get value(): number {
    return this.#value;
  }

  /** Hot. */
  set(value: number, now: Instant): void {
    this.#integral = this.#integralAt(now);
    this.#changed = now;
    this.#value = value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** Hot. */
  change(by: number, now: Instant): void {
    this.set(this.#value + by, now);
  }

  /** What it was like from the beginning of the span until now. */
  spanUntil(now: Instant): LevelSpan {
    const span = between(this.#spanFrom, now);
    assert(span >= 0, 'a span does not end before it began');
    const area = this.#integralAt(now) - this.#integralAtSpanFrom;
    return { span, mean: span === 0 ? this.#value : area / span, min: this.#min, max: this.#max };
  }

  /** Begins the next span. */
  restart(now: Instant): void {
    this.#integralAtSpanFrom = this.#integralAt(now);
    this.#spanFrom = now;
    this.#min = this.#value;
    this.#max = this.#value;
  }

  /** Value·seconds since the beginning, whatever the spans. */
  integralSecondsAt(now: Instant): number {
    return this.#integralAt(now) / 1e9;
  }

  #integralAt(now: Instant): number {
    const lasted = between(this.#changed, now);
    assert(lasted >= 0, 'time does not go back');
    return this.#integral + this.#value * lasted;
  }
}
