// policy: who gets the next request, who is fit for it, whether to try again, until when. Pure.

// Who gets it.
export * from './policy/balance/balancer.ts';
export { boundedLoad } from './policy/balance/bounded-load.ts';
export {
  balancerByName,
  balancerNames,
  isBalancerName,
  type BalancerName,
  type BalancerOptions,
} from './policy/balance/by-name.ts';
export { type ByPriority, byPriority, type ByPriorityOptions } from './policy/balance/by-priority.ts';
export { hashText } from './policy/balance/hash.ts';
export { leastRequest, type LeastRequestOptions } from './policy/balance/least-request.ts';
export { maglev, type MaglevOptions } from './policy/balance/maglev.ts';
export { peakEwma, type PeakEwmaOptions } from './policy/balance/peak-ewma.ts';
export { pickFirst } from './policy/balance/pick-first.ts';
export { prequal, type PrequalOptions, type ProbingBalancer, type Reading } from './policy/balance/prequal.ts';
export { type LevelHealth, type LevelLoad, priorityLoads, type PriorityOptions } from './policy/balance/priority.ts';
export { random } from './policy/balance/random.ts';
export { rendezvous } from './policy/balance/rendezvous.ts';
export { ringHash } from './policy/balance/ring-hash.ts';
export { roundRobin } from './policy/balance/round-robin.ts';
export { slowStartFactor, type SlowStartOptions, warmingFleet } from './policy/balance/slow-start.ts';
export { smoothRoundRobin } from './policy/balance/smooth-round-robin.ts';
export { type ApertureOptions, deterministicAperture, randomSubset } from './policy/balance/subset.ts';
export { weightedRoundRobin } from './policy/balance/weighted-round-robin.ts';
export { localShare, type ZoneAware, zoneAware, type ZoneAwareOptions } from './policy/balance/zone-aware.ts';

// Who is fit for it.
export { ActiveCheck, type ActiveCheckSettings, type HealthChange } from './policy/health/active.ts';

// Whether to try again.
export { backOff, type BackOffOptions } from './policy/retry/back-off.ts';
export { RetryBudget, type RetryBudgetOptions } from './policy/retry/budget.ts';
export { type RetryPolicy, retryPolicyOf, type RetrySettings } from './policy/retry/retry-policy.ts';
export { isIdempotent } from './policy/retry/idempotent.ts';
export { type FailedAttempt, mayRepeat, type Repeat } from './policy/retry/may-repeat.ts';
export { Hedge, type HedgeOptions } from './policy/retry/hedge.ts';
export { Breaker, type BreakerSettings, type BreakerState, defaultBreakerSettings } from './policy/health/breaker.ts';
export {
  defaultOutlierSettings,
  type OutlierChange,
  OutlierDetector,
  type OutlierReason,
  type OutlierSettings,
} from './policy/health/outlier.ts';

// Whether to let it in.
export { CeilingCounts, type Ceiling, type Ceilings, defaultCeilings } from './policy/admit/ceilings.ts';
export { defaultGradientSettings, GradientLimit, type GradientSettings, nextLimit } from './policy/admit/gradient.ts';
export { defaultHopelessSettings, Hopeless, type HopelessSettings } from './policy/admit/hopeless.ts';
export { defaultWaitingRoomSettings, WaitingRoom, type WaitingRoomSettings } from './policy/admit/waiting-room.ts';

// Until when.
export {
  canFinish,
  deadlineOf,
  envoyRemainingHeader,
  formatGrpcTimeout,
  formatRemainingMs,
  forwarded,
  grpcTimeoutHeader,
  leftUntil,
  parseGrpcTimeout,
  parseRemainingMs,
  remainingHeader,
} from './policy/deadline.ts';
export { type GatewaySafety, unsafeGateway } from './policy/unsafe-gateway.ts';
export {
  amplification,
  type CallSettings,
  type ChainSettings,
  type UnsafeFinding,
  type UnsafeName,
  unsafeNames,
  unsafeSettings,
  worstCase,
} from './policy/unsafe-settings.ts';
