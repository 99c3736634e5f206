// The imagined world in the conductor's hands: the same arrangements, the same lines, no processes and no waiting. A whole
// run with its experiments takes a fifth of a second, so verdicts can be tried on hundreds of them.

import { ns } from '../base.ts';
import { evaluate, type ObjectiveResult, type Outcome } from '../load.ts';
import type { ExperimentKind, HistogramLine, RecordLine } from '../record.ts';
import type { Arrangement, ObjectiveFilter, Scenario } from '../scenario.ts';
import { simulationOf } from '../sim.ts';
import { Histogram, histogramOfFields } from '../stats.ts';
import type { World } from './world.ts';

export interface SimWorldOptions {
  readonly scenario: Scenario;
  readonly seed: number;
}

export function simWorld({ scenario, seed }: SimWorldOptions): World {
  const simulation = simulationOf(scenario, { seed });
  return {
    name: 'sim',
    programs: {},
    available: availableIn(scenario),
    topology: () => simulation.topology(),
    now: () => simulation.now,
    digest: () => simulation.digest,
    close: () => Promise.resolve(),
    play(arrangement, tell, stop) {
      const lines: RecordLine[] = [];
      for (const line of simulation.play(arrangement)) {
        tell(line);
        lines.push(line);
        if (stop.aborted) break;
      }
      return Promise.resolve({ objectives: objectivesOf(scenario, arrangement, lines), limits: [] });
    },
  };
}

function objectivesOf(
  scenario: Scenario,
  arrangement: Arrangement,
  lines: readonly RecordLine[],
): readonly ObjectiveResult[] {
  const outcomeOf = (filters: readonly ObjectiveFilter[]): Outcome | undefined => {
    const group = filters.find(({ key }) => key === 'group')?.value;
    const replica = filters.find(({ key }) => key === 'replica')?.value;
    if (replica === undefined) return groupsOutcome(lines, group);
    // What one group got of one replica is in no line of a record.
    return group === undefined ? replicaOutcome(lines, replica, arrangement) : undefined;
  };
  return evaluate(scenario.objectives, outcomeOf, ns(arrangement.duration));
}

/** Of one group, or of all together. */
function groupsOutcome(lines: readonly RecordLine[], group: string | undefined): Outcome {
  const wanted = (name: string | undefined): boolean => name !== undefined && (group === undefined || name === group);
  const ledgers = lines.filter((line) => line.kind === 'ledger').filter((ledger) => wanted(ledger.group));
  const planned = ledgers.reduce((sum, ledger) => sum + ledger.planned, 0);
  const answered = ledgers.reduce((sum, ledger) => sum + ledger.answered, 0);
  return { planned, sent: planned, answered, latency: latencyOf(lines, (of) => wanted(of.group)) };
}

/** What one replica answered, and what went wrong at it, in the seconds that are judged. */
function replicaOutcome(lines: readonly RecordLine[], id: string, { warmUp }: Arrangement): Outcome {
  const ticks = lines.filter((line) => line.kind === 'tick');
  const from = (ticks[0]?.at_ns ?? 0) + warmUp;
  let finished = 0;
  let withStatus = 0;
  let without = 0;
  for (const { at_ns, replicas } of ticks) {
    const seen = at_ns < from ? undefined : replicas.find((replica) => replica.id === id);
    finished += seen?.finished ?? 0;
    for (const [kind, count] of Object.entries(seen?.errors ?? {})) {
      if (kind.startsWith('status-')) withStatus += count;
      else without += count;
    }
  }
  const planned = finished + without;
  return {
    planned,
    sent: planned,
    answered: finished - withStatus,
    latency: latencyOf(lines, (of) => of.replica === id),
  };
}

function latencyOf(lines: readonly RecordLine[], wanted: (of: HistogramLine['of']) => boolean): Histogram {
  const latency = new Histogram();
  for (const line of lines) {
    if (line.kind !== 'histogram' || line.of.what !== 'latency' || !wanted(line.of)) continue;
    const histogram = histogramOfFields(line);
    if (histogram instanceof Histogram) latency.add(histogram);
  }
  return latency;
}

function availableIn({ topology }: Scenario): readonly ExperimentKind[] {
  const registry = topology.clients.some((clients) => clients.via === 'registry');
  return [
    'stop-replica',
    'open-loop',
    ...(topology.gateway === undefined ? [] : (['swap-policy'] as const)),
    'slow-another',
    'kill-suspect',
    'scale-out',
    'scale-up',
    ...(registry ? (['random-choice', 'through-forwarder'] as const) : []),
    'less-load',
    'visit-alone',
  ];
}
