// The table of balancers: the name a person writes in a scenario or a gateway's configuration, and what it builds. Those that
// need to be told more than a seed (levels, zones, parts) are put together by whoever knows it.

import type { Balancer } from './balancer.ts';
import { boundedLoad } from './bounded-load.ts';
import { leastRequest } from './least-request.ts';
import { maglev } from './maglev.ts';
import { peakEwma } from './peak-ewma.ts';
import { pickFirst } from './pick-first.ts';
import { prequal } from './prequal.ts';
import { random } from './random.ts';
import { rendezvous } from './rendezvous.ts';
import { ringHash } from './ring-hash.ts';
import { roundRobin } from './round-robin.ts';
import { smoothRoundRobin } from './smooth-round-robin.ts';
import { weightedRoundRobin } from './weighted-round-robin.ts';

export interface BalancerOptions {
  readonly seed: number;
}

const table = {
  'round-robin': roundRobin,
  'weighted-round-robin': weightedRoundRobin,
  'smooth-round-robin': smoothRoundRobin,
  random,
  'least-request': leastRequest,
  'two-choices': (options: BalancerOptions) => leastRequest({ ...options, full: false }),
  'peak-ewma': peakEwma,
  prequal,
  'ring-hash': ringHash,
  'bounded-load': boundedLoad,
  maglev,
  rendezvous,
  'pick-first': pickFirst,
} as const satisfies Readonly<Record<string, (options: BalancerOptions) => Balancer>>;

export type BalancerName = keyof typeof table;

/** In the order in which a person should read them. */
export const balancerNames: readonly BalancerName[] = [
  'round-robin',
  'weighted-round-robin',
  'smooth-round-robin',
  'random',
  'least-request',
  'two-choices',
  'peak-ewma',
  'prequal',
  'ring-hash',
  'bounded-load',
  'maglev',
  'rendezvous',
  'pick-first',
];

export function isBalancerName(name: string): name is BalancerName {
  return Object.hasOwn(table, name);
}

/** A new balancer with an empty fleet: call `rebuild` before the first `pick`. */
export function balancerByName(name: BalancerName, options: BalancerOptions): Balancer {
  return table[name](options);
}
