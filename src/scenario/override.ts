// Changes to a parsed scenario that the command line offers as flags. Each returns a new scenario; the first is untouched.

import { assert, type Duration, ns } from '../base.ts';
import type { Demand, Fault, PolicyName, Scenario } from './model.ts';

export interface Overrides {
  /** The replica of the scenario's first `slow` fault; a fault from the start is added when there is none. */
  readonly slowReplica?: string;
  readonly slowFactor?: number;
  /** Users of every closed demand. */
  readonly users?: number;
  /** Rate of every open demand, in requests a second. */
  readonly ratePerSecond?: number;
  readonly policy?: PolicyName;
  readonly warmUp?: Duration;
  readonly duration?: Duration;
}

/** The scenario with these things changed. Asserts that a policy has a gateway and a slow factor a replica. */
export function withOverrides(scenario: Scenario, overrides: Overrides): Scenario {
  const { topology } = scenario;
  const { policy } = overrides;
  assert(policy === undefined || topology.gateway !== undefined, 'a policy is a setting of the gateway');
  const gateway = topology.gateway;
  return {
    ...scenario,
    topology: {
      ...topology,
      gateway: gateway === undefined || policy === undefined ? gateway : { ...gateway, policy },
    },
    demand: scenario.demand.map((each) => withDemand(each, overrides)),
    faults: withSlow(scenario.faults, overrides),
    warmUp: overrides.warmUp ?? scenario.warmUp,
    duration: overrides.duration ?? scenario.duration,
  };
}

function withDemand(demand: Demand, { users, ratePerSecond }: Overrides): Demand {
  return demand.kind === 'closed'
    ? { ...demand, users: users ?? demand.users }
    : { ...demand, ratePerSecond: ratePerSecond ?? demand.ratePerSecond };
}

function withSlow(faults: readonly Fault[], { slowReplica, slowFactor }: Overrides): readonly Fault[] {
  if (slowReplica === undefined && slowFactor === undefined) return faults;
  const first = faults.findIndex((fault) => fault.kind === 'slow');
  const found = faults[first];
  if (found?.kind === 'slow') {
    const changed: Fault = {
      ...found,
      replica: slowReplica ?? found.replica,
      factor: slowFactor ?? found.factor,
    };
    return faults.with(first, changed);
  }
  assert(slowReplica !== undefined, 'a slow factor needs a replica');
  return [...faults, { at: ns(0), for: undefined, kind: 'slow', replica: slowReplica, factor: slowFactor ?? 1.15 }];
}
