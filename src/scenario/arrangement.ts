// An arrangement is one phase of a run as data: the scenario as it stands, with what an experiment changes applied. The
// conductor makes them; the lab and the simulator carry them out in the same way, so that either world can answer
// "what would happen if".

import type { Duration } from '../base.ts';
import type { Clients, Demand, Fault, PolicyName, Scenario } from './model.ts';

export interface Arrangement {
  /** The phase's name: `baseline`, `stop-replica`, … */
  readonly name: string;
  /** Played first and recorded, but not judged. */
  readonly warmUp: Duration;
  readonly duration: Duration;
  readonly demand: readonly Demand[];
  readonly clients: readonly Clients[];
  /** The gateway's policy; undefined where there is no gateway. */
  readonly policy: PolicyName | undefined;
  /** The scenario's own faults, timed from the start of the run; only the baseline plays them out. Those without an end
   * that began in the baseline are still there in every later phase. */
  readonly faults: readonly Fault[];
  /** How many replicas each service has now. */
  readonly replicas: Readonly<Record<string, number>>;
  /** Service times of these replicas are multiplied, on top of the scenario's own faults. */
  readonly slowness: Readonly<Record<string, number>>;
  /** Worker pools that differ from the scenario's. */
  readonly workers: Readonly<Record<string, number>>;
  /** Frozen from `at` (counted from the start of the phase) for so long, then continued. */
  readonly stopped: { readonly replica: string; readonly at: Duration; readonly for: Duration } | undefined;
  /** Killed before the phase begins; started again after it. */
  readonly killed: readonly string[];
  /** Instead of the demand: one closed user at each replica alone, past the balancer. */
  readonly visitAlone: boolean;
}

/** The scenario as it is, without any experiment. */
export function baselineOf(scenario: Scenario): Arrangement {
  return {
    name: 'baseline',
    warmUp: scenario.warmUp,
    duration: scenario.duration,
    demand: scenario.demand,
    clients: scenario.topology.clients,
    policy: scenario.topology.gateway?.policy,
    faults: scenario.faults,
    replicas: Object.fromEntries(scenario.topology.services.map((service) => [service.name, service.replicas])),
    slowness: {},
    workers: {},
    stopped: undefined,
    killed: [],
    visitAlone: false,
  };
}
