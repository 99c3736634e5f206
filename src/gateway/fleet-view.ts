// What the balancer is given to choose from: the fleet as configured, seen through slow start and the subset, and the balancer
// itself, put together from levels, zones and the policy of that name.
//
//   by priority        when there are levels, or panic is allowed
//   └─ by zone         when this gateway knows where it stands
//      └─ the policy

import type { Instant } from '../base.ts';
import {
  type Balancer,
  balancerByName,
  type BalancerName,
  byPriority,
  deterministicAperture,
  type Endpoint,
  type Fleet,
  randomSubset,
  warmingFleet,
  zoneAware,
} from '../policy.ts';
import type { ChoiceConfig, SubsetConfig } from './policy-config.ts';

export interface BalancerPlan {
  readonly policy: BalancerName;
  readonly seed: number;
  /** There are levels of priority, or panic. */
  readonly layered: boolean;
  readonly panicBelow: number;
  readonly zone: ChoiceConfig['zone'];
}

export function balancerOf(plan: BalancerPlan): Balancer {
  const { policy, seed, zone, panicBelow } = plan;
  const inLevel = (level: number): Balancer => {
    if (zone === undefined) return balancerByName(policy, { seed: seed + level });
    const inner = (layer: 'local' | 'remote' | 'all'): Balancer =>
      balancerByName(policy, { seed: seed + 3 * level + ['local', 'remote', 'all'].indexOf(layer) });
    return zoneAware({ ...zone, seed: seed + level, inner });
  };
  return plan.layered ? byPriority({ seed, panicBelow, level: inLevel }) : inLevel(0);
}

/** The fleet with newcomers' weights lowered, and everybody outside the subset without one. `again`: when newcomers weigh
 * more, undefined when nobody warms up. */
export function viewOf(
  fleet: Fleet,
  since: readonly (Instant | undefined)[],
  now: Instant,
  choice: ChoiceConfig,
): { readonly fleet: Fleet; readonly again: Instant | undefined } {
  const warm =
    choice.slowStart === undefined ? { fleet, again: undefined } : warmingFleet(fleet, since, now, choice.slowStart);
  return choice.subset === undefined ? warm : { fleet: confined(warm.fleet, choice.subset), again: warm.again };
}

/** Indices stay what they are: those outside keep their places, with nothing to weigh. */
function confined(fleet: Fleet, subset: SubsetConfig): Fleet {
  const part = subset.kind === 'random' ? randomSubset(fleet, subset) : deterministicAperture(fleet, subset);
  const members = new Map(part.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const outside = (endpoint: Endpoint): Endpoint => ({ ...endpoint, weight: 0 });
  return { ...fleet, endpoints: fleet.endpoints.map((endpoint) => members.get(endpoint.id) ?? outside(endpoint)) };
}
