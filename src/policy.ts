// policy: who gets the next request, who is fit for it, whether to try again, until when. Pure.

export * from './policy/balance/balancer.ts';
export {
  balancerByName,
  balancerNames,
  isBalancerName,
  type BalancerName,
  type BalancerOptions,
} from './policy/balance/by-name.ts';
export { leastRequest, type LeastRequestOptions } from './policy/balance/least-request.ts';
export { pickFirst } from './policy/balance/pick-first.ts';
export { random } from './policy/balance/random.ts';
export { roundRobin } from './policy/balance/round-robin.ts';
export { ActiveCheck, type ActiveCheckSettings, type HealthChange } from './policy/health/active.ts';
export { backOff, type BackOffOptions } from './policy/retry/back-off.ts';
export { RetryBudget, type RetryBudgetOptions } from './policy/retry/budget.ts';
export { isIdempotent } from './policy/retry/idempotent.ts';
