// Retries as a share of requests. A retry that helps one request is load to everybody else; when most requests fail, most
// retries fail too, and three layers that each try three times turn one request into twenty-seven. So retries are not
// limited for each request alone but for all together, over the last few seconds:
//
//   retries ≤ ratio · requests + minPerSecond · window
//
// The first term keeps the amplification at 1 + ratio (1.2 by default) whatever fails. The second lets a quiet service, and a
// fleet that has just started, retry at all. The shape and defaults are Finagle's (20 %, 10 a second, 10 s); what differs is
// that both counts age by slots of a second instead of a token's own lifetime.
//
// Hot: `deposit`, once a request. `withdraw` runs only for a retry.

import { assert, type Duration, inSeconds, type Instant, ns, seconds } from '../../base.ts';
import { WindowCount } from '../../stats.ts';

/** The window is exact to one of so many parts. */
const slots = 10;

export interface RetryBudgetOptions {
  /** Retries allowed for each request, 0.2 by default. */
  readonly ratio?: number;
  /** Retries a second allowed whatever the load, 10 by default. */
  readonly minPerSecond?: number;
  /** How far back requests and retries count, 10 s by default. */
  readonly window?: Duration;
}

export class RetryBudget {
  readonly #ratio: number;
  readonly #reserve: number;
  readonly #requests: WindowCount;
  readonly #retries: WindowCount;

  constructor(options: RetryBudgetOptions = {}) {
    const window = options.window ?? seconds(10);
    this.#ratio = options.ratio ?? 0.2;
    assert(this.#ratio >= 0, 'a retry budget is a share of the requests, not less than none');
    this.#reserve = (options.minPerSecond ?? 10) * inSeconds(window);
    assert(this.#reserve >= 0, 'a retry budget has a reserve of none or more');
    this.#requests = new WindowCount(ns(window / slots), slots);
    this.#retries = new WindowCount(ns(window / slots), slots);
  }

  /** A request has come in (not one of its retries). */
  deposit(now: Instant): void {
    this.#requests.add(1, now);
  }

  /** Whether one more retry fits; if it does, it is counted. */
  withdraw(now: Instant): boolean {
    if (this.left(now) < 1) return false;
    this.#retries.add(1, now);
    return true;
  }

  /** Retries that would fit now. Never negative. */
  left(now: Instant): number {
    return Math.max(0, this.#ratio * this.#requests.totalAt(now) + this.#reserve - this.#retries.totalAt(now));
  }
}
