// Experiments on something that serves users, ranked by how much they would decide against what they could harm.
//
//   worth = theories told apart ÷ (1 + harm)
//
// Harm is counted in the share of the capacity that is missing meanwhile, ten for all of it: another policy takes nothing away, a
// replica that is left out takes its share, and where the others are busy already they get that on top.

import { type PlannedExperiment, planExperiments } from '../../diagnose.ts';
import type { ExperimentKind, RunRecord } from '../../record.ts';

export interface Proposal {
  readonly experiment: PlannedExperiment;
  /** What would be done, and how it is undone: a sentence each. */
  readonly does: string;
  readonly undoes: string;
  /** What it could do to users, in words. */
  readonly risk: string;
  readonly harm: number;
  readonly worth: number;
}

/** What can be done through the admin API and undone again at once. */
export const liveKinds = ['swap-policy', 'kill-suspect'] as const satisfies readonly ExperimentKind[];

/** Best first; empty where nothing is open that these would decide. */
export function proposalsFor(record: RunRecord, policy: string, endpoints: number): Proposal[] {
  return planExperiments(record, liveKinds)
    .filter((experiment) => experiment.kind !== 'swap-policy' || experiment.policy !== policy)
    .flatMap((experiment) => proposalOf(experiment, policy, endpoints) ?? [])
    .toSorted((one, other) => other.worth - one.worth);
}

function proposalOf(experiment: PlannedExperiment, policy: string, endpoints: number): Proposal | undefined {
  const decides = Math.max(1, experiment.tellsFrom.length);
  if (experiment.kind === 'swap-policy') {
    const harm = 0.1;
    return {
      experiment,
      does: `balance by ${experiment.policy ?? 'least-request'} instead of ${policy}`,
      undoes: `balance by ${policy} again`,
      risk: 'nobody loses a replica; requests go to whoever has fewest',
      harm,
      worth: decides / (1 + harm),
    };
  }
  // The last one cannot be left out.
  if (experiment.target === undefined || endpoints < 2) return undefined;
  const harm = 10 / endpoints;
  return {
    experiment: { ...experiment, did: `gave ${experiment.target} no new requests` },
    does: `give ${experiment.target} no new requests (weight 0)`,
    undoes: `give ${experiment.target} its weight again`,
    risk: `the other ${endpoints - 1} carry ${((100 * endpoints) / (endpoints - 1)).toFixed(0)} % of what they carry now`,
    harm,
    worth: decides / (1 + harm),
  };
}
