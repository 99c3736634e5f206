// Incidents of the lab: which scenario is played, through which balancer, with which fault, and what is right. The evidence is what the
// programs themselves leave behind.

import type { Dice } from '../../../base.ts';
import type { LabOptions } from '../../../lab.ts';
import type { KindName } from '../kind.ts';

export interface LabCase extends KindName {
  readonly gateway: LabOptions['gateway'];
  /** Other words than the replica's for the one to blame. */
  readonly blame?: readonly string[];
  draw(die: Dice): LabPlan;
}

export interface LabPlan {
  readonly scenario: string;
  readonly settings: readonly string[];
  /** The replica to blame, where one is. */
  readonly culprit?: string;
}

const short = ['warm_up=2s', 'duration=12s'];
const replica = (die: Dice): string => `api-${1 + die.below(4)}`;

/** An open loop over four replicas that could do 800/s. */
const open = (rate: number, policy: string, faults: string): readonly string[] => [
  ...short,
  `demand.0.open.rate=${rate}/s`,
  `gateway.policy=${policy}`,
  `faults=${faults}`,
];

/** The scenario of the slow replica has no health checks that would take one out. */
const withoutChecks = ['demand.0.open.rate=200/s'];

const faults: readonly LabCase[] = [
  {
    slug: 'slow-replica',
    name: 'HAProxy',
    gateway: 'haproxy',
    draw: (die) => {
      const culprit = replica(die);
      const settings = [...short, `faults.0.slow.replica=${culprit}`, `faults.0.slow.factor=${2.5 + die.next()}`];
      return { scenario: 'slow-replica', settings, culprit };
    },
  },
  {
    slug: 'slow-replica',
    name: 'a busy thread',
    gateway: 'plimsoll',
    draw: (die) => {
      const culprit = replica(die);
      const fault = `[{ at: 0s, burn: { replica: ${culprit}, share: 0.7 } }]`;
      return { scenario: 'black-hole', settings: open(200, 'round-robin', fault), culprit };
    },
  },
  {
    slug: 'convoy',
    gateway: 'haproxy',
    draw: (die) => {
      const culprit = replica(die);
      const settings = [...short, `faults.0.slow.replica=${culprit}`, 'faults.0.slow.factor=1.3'];
      return { scenario: 'convoy', settings, culprit };
    },
  },
  {
    slug: 'fast-fail-blackhole',
    name: 'nginx',
    gateway: 'nginx',
    draw: (die) => {
      const culprit = replica(die);
      return { scenario: 'black-hole', settings: [...short, `faults.0.fail.replica=${culprit}`], culprit };
    },
  },
  {
    slug: 'fast-fail-blackhole',
    name: 'our gateway',
    gateway: 'plimsoll',
    draw: (die) => {
      const culprit = replica(die);
      return { scenario: 'black-hole', settings: [...short, `faults.0.fail.replica=${culprit}`], culprit };
    },
  },
  {
    slug: 'pick-first',
    gateway: 'plimsoll',
    blame: ['client'],
    draw: () => ({ scenario: 'pick-first', settings: short, culprit: 'api-1' }),
  },
  {
    slug: 'worker-pool-exhaustion',
    alike: ['health-check-on-shared-workers'],
    gateway: 'haproxy',
    draw: () => ({ scenario: 'no-healthy-upstream', settings: ['duration=20s'] }),
  },
  {
    slug: 'overload',
    alike: ['overload-open-loop'],
    gateway: 'nginx',
    draw: (die) => ({ scenario: 'overload', settings: [...short, `demand.0.open.rate=${950 + die.below(150)}/s`] }),
  },
  {
    slug: 'cpu-throttling',
    gateway: 'haproxy',
    draw: () => ({ scenario: 'throttled', settings: ['duration=15s'] }),
  },
  {
    slug: 'unreachable-target',
    name: 'killed',
    gateway: 'nginx',
    draw: (die) => {
      const culprit = replica(die);
      const settings = [...short, ...withoutChecks, `faults=[{ at: 4s, kill: ${culprit} }]`];
      return { scenario: 'slow-replica', settings, culprit };
    },
  },
  {
    slug: 'unreachable-target',
    name: 'stopped',
    alike: ['slow-replica'],
    gateway: 'haproxy',
    draw: (die) => {
      const culprit = replica(die);
      const settings = [...short, ...withoutChecks, `faults=[{ at: 4s, stop: ${culprit} }]`, 'gateway.timeout=2s'];
      return { scenario: 'slow-replica', settings, culprit };
    },
  },
  {
    slug: 'cold-start',
    gateway: 'haproxy',
    draw: (die) => {
      const culprit = replica(die);
      return { scenario: 'cold-start', settings: [`faults.0.kill=${culprit}`], culprit };
    },
  },
];

const healthy: readonly LabCase[] = [
  {
    slug: 'healthy',
    name: 'users who think, HAProxy',
    gateway: 'haproxy',
    draw: () => ({ scenario: 'healthy', settings: short }),
  },
  {
    slug: 'healthy',
    name: 'at random, nginx',
    gateway: 'nginx',
    draw: (die) => ({ scenario: 'black-hole', settings: open(240 + die.below(160), 'random', '[]') }),
  },
  {
    slug: 'healthy',
    name: 'least-request, our gateway',
    gateway: 'plimsoll',
    draw: (die) => ({ scenario: 'black-hole', settings: open(320 + die.below(200), 'least-request', '[]') }),
  },
  {
    slug: 'healthy',
    name: 'a burst every second, HAProxy',
    gateway: 'haproxy',
    draw: () => ({
      scenario: 'black-hole',
      settings: [...short, 'faults=[]', 'demand=[{ clients: callers, open: { bursts: { size: 40, every: 1s } } }]'],
    }),
  },
];

export const labCases: readonly LabCase[] = [...faults, ...healthy];
