// How the clients of a group ask again after a failure: how often, how soon, and out of which budget.

import { dice, seconds } from '../base.ts';
import { backOff, RetryBudget } from '../policy.ts';
import type { Clients } from '../scenario.ts';

/** The longest wait of a client before it asks again. */
const waitMax = seconds(10);

export interface Asking {
  readonly retries: number;
  /** Undefined: as often as `retries` says, whatever the others do. */
  readonly budget: RetryBudget | undefined;
  /** The wait before try number `attempt` after the first. */
  wait(attempt: number): number;
}

/** Undefined where clients do not ask again. Waits are drawn from a stream of the group's own, a new one in each phase. */
export function askingOf({ name, retry }: Clients, seed: number, phase: number): Asking | undefined {
  if (retry === undefined) return undefined;
  const source = dice(seed, `retries/${name}/${phase}`);
  const { retries, backOff: base, budget } = retry;
  return {
    retries,
    budget: budget === undefined ? undefined : new RetryBudget({ ratio: budget, minPerSecond: 1 }),
    wait: (attempt) => (base === 0 ? 0 : backOff(attempt, source, { base, max: waitMax })),
  };
}
