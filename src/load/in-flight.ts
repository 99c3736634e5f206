// How many requests are due and unanswered, weighted by time: the mean over a second is exact, not sampled.
//
// A request enters at the instant it came due, which lies a little before the instant at which we notice (a timer is late, a
// turn of the loop takes time). The area that it had until then is added at once; least and greatest are those noticed.
//
//   level   3 ┤      ┌──┐
//           2 ┤  ┌───┘  └──┐         mean = area ÷ span
//           1 ┤──┘░░░░░░░░░└──
//             └──────────────── time
//
// Hot: `enter` and `leave`.

import { assert, type Instant } from '../base.ts';

export interface InFlightSpan {
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

export class InFlight {
  #level = 0;
  #area = 0;
  #from: Instant;
  #last: Instant;
  #min = 0;
  #max = 0;

  constructor(now: Instant) {
    this.#from = now;
    this.#last = now;
  }

  get level(): number {
    return this.#level;
  }

  enter(due: Instant, now: Instant): void {
    this.#moveTo(now);
    this.#area += now - Math.max(due, this.#from);
    this.#level += 1;
    if (this.#level > this.#max) this.#max = this.#level;
  }

  leave(now: Instant): void {
    assert(this.#level > 0, 'whoever leaves was there');
    this.#moveTo(now);
    this.#level -= 1;
    if (this.#level < this.#min) this.#min = this.#level;
  }

  /** The span since the last `cut` (or the beginning), which ends here; the next one begins. */
  cut(now: Instant): InFlightSpan {
    this.#moveTo(now);
    const length = now - this.#from;
    const mean = length > 0 ? this.#area / length : this.#level;
    // Requests that were due while we stood still were there, though the level never showed them: no level can have stayed on
    // one side of its mean.
    const span = { mean, min: Math.min(this.#min, Math.floor(mean)), max: Math.max(this.#max, Math.ceil(mean)) };
    this.#from = now;
    this.#area = 0;
    this.#min = this.#level;
    this.#max = this.#level;
    return span;
  }

  #moveTo(now: Instant): void {
    this.#area += this.#level * (now - this.#last);
    this.#last = now;
  }
}
