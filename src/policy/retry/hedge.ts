// A second request while the first is still out: when an answer has not come after the time in which nearly all come, another
// endpoint is asked as well, and the first answer counts (Dean and Barroso 2013). It cuts the tail that belongs to an
// endpoint, a pause here, a lost packet there, for a few percent more load. It makes things worse when the tail belongs to
// the load: then everybody is slow and everything is sent twice. So hedges are paid from a budget of their own.
//
//   delay = the `quantile` of recent latencies, 0.95 by default: about one request in twenty is hedged
//
// Only requests that may be carried out twice are hedged; the caller sees to that. No delay is given before `samplesMin`
// latencies have been seen: a guess would hedge everything.

import { assert, type Duration, type Instant, ns } from '../../base.ts';
import { RecentQuantile } from '../balance/recent-quantile.ts';
import { RetryBudget } from './budget.ts';

export interface HedgeOptions {
  readonly quantile?: number;
  readonly samplesMin?: number;
  /** Hedges ÷ requests at most, 0.05 by default. */
  readonly ratio?: number;
}

export class Hedge {
  readonly #latencies = new RecentQuantile(256);
  readonly #budget: RetryBudget;
  readonly #quantile: number;
  readonly #samplesMin: number;
  #samples = 0;

  constructor(options: HedgeOptions = {}) {
    this.#quantile = options.quantile ?? 0.95;
    this.#samplesMin = options.samplesMin ?? 50;
    assert(this.#quantile > 0 && this.#quantile < 1, 'a quantile is between 0 and 1');
    this.#budget = new RetryBudget({ ratio: options.ratio ?? 0.05, minPerSecond: 1 });
  }

  /** A request begins. How long to wait before asking another endpoint; undefined: do not hedge. */
  started(now: Instant): Duration | undefined {
    this.#budget.deposit(now);
    return this.#samples < this.#samplesMin ? undefined : ns(this.#latencies.quantile(this.#quantile));
  }

  /** The delay has passed without an answer: may another endpoint be asked? If so it is counted. */
  mayHedge(now: Instant): boolean {
    return this.#budget.withdraw(now);
  }

  /** An answer came, from whichever. */
  finished(latency: Duration): void {
    this.#samples += 1;
    this.#latencies.add(latency);
  }
}
