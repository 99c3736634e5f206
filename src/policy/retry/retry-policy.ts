// How somebody asks again after a failure: how often, how soon, and out of which budget. Clients of a group have one budget together;
// a replica has one for each call that it makes.

import { type Dice, type Duration, ns, seconds } from '../../base.ts';
import { backOff } from './back-off.ts';
import { RetryBudget } from './budget.ts';

/** The longest wait before anybody asks again. */
const waitMax = seconds(10);

/** What a scenario says of it. */
export interface RetrySettings {
  /** Further tries after the first. */
  readonly retries: number;
  /** Ceiling of the first wait. Absent or zero: at once. */
  readonly backOff?: Duration | undefined;
  /** Retries for each request at most, over ten seconds, and one a second besides. Absent: no budget. */
  readonly budget?: number | undefined;
}

export interface RetryPolicy {
  readonly retries: number;
  /** Undefined: as often as `retries` says, whatever the others do. */
  readonly budget: RetryBudget | undefined;
  /** The wait before retry number `attempt`, which counts from 1. */
  readonly wait: (attempt: number) => Duration;
}

/** Waits are drawn from `source`, and from nothing where there are none. `parts`: the budget is shared by so many who each see an
 * equal part of the requests. */
export function retryPolicyOf(
  { retries, backOff: base = ns(0), budget }: RetrySettings,
  source: Dice,
  parts = 1,
): RetryPolicy {
  return {
    retries,
    budget: budget === undefined ? undefined : new RetryBudget({ ratio: budget, minPerSecond: 1 / parts }),
    wait: (attempt) => (base === 0 ? base : backOff(attempt, source, { base, max: waitMax })),
  };
}
