// A newcomer is cold: its caches are empty, its code is not compiled, its pools are closed. Full traffic at once would make it
// the slowest of the fleet, or fell it. So its weight grows over a window, from a floor to the whole (Envoy's slow start):
//
//   weight(t) = weight · max(floor, (t ÷ window)^(1 ÷ aggression))       t = time since it joined or recovered
//
//    1 ┤        ╭───────      aggression 1: a straight line
//      │     ╭──╯             above 1: fast at first
//   .1 ┤─────╯                below 1: slow at first
//      └──────┼──────────► t
//           window
//
// Works with balancers that heed weights. When everybody is new nobody is slowed, since only proportions count.

import { after, assert, between, type Duration, type Instant, ns } from '../../base.ts';
import type { Fleet } from './balancer.ts';

export interface SlowStartOptions {
  readonly window: Duration;
  /** 1 by default. */
  readonly aggression?: number;
  /** Share of its weight that a newcomer has at once, 0.1 by default. */
  readonly floor?: number;
}

/** The part of its weight that an endpoint has after `age`, from the floor to 1. */
export function slowStartFactor(age: Duration, options: SlowStartOptions): number {
  const { window, aggression = 1, floor = 0.1 } = options;
  assert(window > 0, 'a window lasts');
  assert(aggression > 0, 'aggression is positive');
  assert(floor > 0 && floor <= 1, 'the floor is a share that lets something through');
  if (age >= window) return 1;
  return Math.max(floor, (Math.max(0, age) / window) ** (1 / aggression));
}

/** The fleet with the weights of its newcomers lowered. `since`: when each endpoint became fit; undefined for those that always
 * were. `again`: when to ask the next time, undefined when everybody is warm. */
export function warmingFleet(
  fleet: Fleet,
  since: readonly (Instant | undefined)[],
  now: Instant,
  options: SlowStartOptions,
): { readonly fleet: Fleet; readonly again: Instant | undefined } {
  let warming = false;
  const endpoints = fleet.endpoints.map((endpoint, index) => {
    const joined = since[index];
    if (joined === undefined || now >= after(joined, options.window)) return endpoint;
    warming = true;
    const age = between(joined, now);
    return { ...endpoint, weight: endpoint.weight * slowStartFactor(age, options) };
  });
  // A hundredth of the window is finer than anybody can see in the load.
  const again = warming ? after(now, ns(options.window / 100)) : undefined;
  return { fleet: { ...fleet, endpoints }, again };
}
