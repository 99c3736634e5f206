// What is run to see how often the verdict is right: every built-in scenario that the lab can play, each time with another replica at
// fault and by another factor where it has one, and what must come out.

import type { Dice } from '../../base.ts';

export type GatewayProgram = 'plimsoll' | 'haproxy' | 'nginx' | 'envoy';
export const gatewayPrograms: readonly GatewayProgram[] = ['plimsoll', 'haproxy', 'nginx', 'envoy'];

export interface Plan {
  readonly scenario: string;
  readonly settings: readonly string[];
  readonly pattern: string;
  /** A word that the culprit must say; undefined: nobody in particular is to blame. */
  readonly culprit: string | undefined;
}

export interface PlanKind {
  readonly name: string;
  /** So many by default. */
  readonly runs: number;
  /** What may balance; none where the scenario has no balancer, or where that program cannot show the pattern. */
  readonly gateways: readonly GatewayProgram[];
  draw(die: Dice): Plan;
}

/** nginx has no active health checks, so nothing is evicted by them. */
const withChecks: readonly GatewayProgram[] = ['plimsoll', 'haproxy', 'envoy'];

const replica = (die: Dice): string => `api-${1 + die.below(4)}`;

function plain(scenario: string, pattern: string, options: Partial<Omit<PlanKind, 'name' | 'draw'>> = {}): PlanKind {
  return {
    name: scenario,
    runs: options.runs ?? 3,
    gateways: options.gateways ?? gatewayPrograms,
    draw: () => ({ scenario, settings: [], pattern, culprit: undefined }),
  };
}

/** One replica has the fault, another one each time. */
function faulty(
  scenario: string,
  pattern: string,
  fault: string,
  options: Partial<Omit<PlanKind, 'name' | 'draw'>> = {},
): PlanKind {
  return {
    ...plain(scenario, pattern, options),
    draw: (die) => {
      const culprit = replica(die);
      return { scenario, settings: [`faults.0.${fault}=${culprit}`], pattern, culprit };
    },
  };
}

const slowness = (die: Dice): { readonly culprit: string; readonly settings: readonly string[] } => {
  const culprit = replica(die);
  const factor = (1.05 + die.next() * 0.45).toFixed(2);
  return { culprit, settings: [`faults.0.slow.replica=${culprit}`, `faults.0.slow.factor=${factor}`] };
};

const convoy: PlanKind = {
  ...plain('convoy', 'convoy', { runs: 20 }),
  draw: (die) => ({ scenario: 'convoy', pattern: 'convoy', ...slowness(die) }),
};

/** The convoy's slow replica, and too few users for it to matter. */
const belowTheKnee: PlanKind = {
  ...plain('convoy', 'healthy', { runs: 6 }),
  name: 'below-the-knee',
  draw: (die) => {
    const { settings } = slowness(die);
    const crowd =
      die.below(2) === 0 ? ['demand.0.closed.users=12'] : ['demand.0.closed.users=40', 'demand.0.closed.think=100ms'];
    return { scenario: 'convoy', settings: [...settings, ...crowd], pattern: 'healthy', culprit: undefined };
  },
};

/** Most of the clients in the one zone or in the other. */
const zoneSkew: PlanKind = {
  ...plain('zone-skew', 'zone-imbalance', { gateways: [] }),
  draw: (die) => {
    const [full, rates] = die.below(2) === 0 ? (['a', [390, 130]] as const) : (['b', [130, 390]] as const);
    const settings = rates.map((rate, group) => `demand.${group}.open.rate=${rate}/s`);
    return { scenario: 'zone-skew', settings, pattern: 'zone-imbalance', culprit: `zone ${full}` };
  },
};

export const planKinds: readonly PlanKind[] = [
  convoy,
  belowTheKnee,
  plain('healthy', 'healthy', { runs: 20 }),
  faulty('slow-replica', 'slow-replica', 'slow.replica'),
  plain('overload', 'overload'),
  {
    ...plain('pick-first', 'pick-first', { gateways: [] }),
    draw: () => ({ scenario: 'pick-first', settings: [], pattern: 'pick-first', culprit: 'callers' }),
  },
  faulty('black-hole', 'fast-fail-blackhole', 'fail.replica'),
  faulty('cold-start', 'cold-start', 'kill'),
  faulty('eviction-cascade', 'eviction-cascade', 'slow.replica', { gateways: withChecks }),
  plain('throttled', 'cpu-throttling'),
  zoneSkew,
  plain('no-healthy-upstream', 'worker-pool-exhaustion', { gateways: withChecks }),
  plain('retry-storm', 'metastable-retry'),
  plain('connection-pinning', 'connection-pinning', { gateways: [] }),
  plain('internet-scale', 'healthy', { runs: 1 }),
];
