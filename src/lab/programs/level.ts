// A number that steps up and down, and the area under it. The difference of two areas divided by the time between them is
// the exact mean, however rarely somebody looks:
//
//   2 │   ┌──┐
//   1 │ ┌─┘  └────┐        area = 1·a + 2·b + 1·c
//   0 └─┘a  b   c └──

import type { Instant } from '../../base.ts';

export class Level {
  #value = 0;
  #area = 0;
  #since: Instant;

  constructor(now: Instant) {
    this.#since = now;
  }

  get value(): number {
    return this.#value;
  }

  /** Steps by `step` at `now`, which never lies before the step that came before. */
  add(step: number, now: Instant): void {
    this.#area = this.areaAt(now);
    this.#value += step;
    this.#since = now;
  }

  /** The area up to `now`, in units times nanoseconds. */
  areaAt(now: Instant): number {
    return this.#area + this.#value * Math.max(0, now - this.#since);
  }
}
