// The table of balancers: the name a person writes in a scenario or a gateway's configuration, and what it builds.

import type { Balancer } from './balancer.ts';
import { leastRequest } from './least-request.ts';
import { pickFirst } from './pick-first.ts';
import { random } from './random.ts';
import { roundRobin } from './round-robin.ts';

export interface BalancerOptions {
  readonly seed: number;
}

const table = {
  'round-robin': roundRobin,
  random,
  'least-request': leastRequest,
  'pick-first': pickFirst,
} as const satisfies Readonly<Record<string, (options: BalancerOptions) => Balancer>>;

export type BalancerName = keyof typeof table;

export const balancerNames: readonly BalancerName[] = ['round-robin', 'random', 'least-request', 'pick-first'];

export function isBalancerName(name: string): name is BalancerName {
  return Object.hasOwn(table, name);
}

/** A new balancer with an empty fleet: call `rebuild` before the first `pick`. */
export function balancerByName(name: BalancerName, options: BalancerOptions): Balancer {
  return table[name](options);
}
