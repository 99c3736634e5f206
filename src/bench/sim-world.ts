// The imagined world in the conductor's hands: the same arrangements, the same lines, no processes and no waiting. A whole
// run with its experiments takes a fifth of a second, so verdicts can be tried on hundreds of them.

import { ns } from '../base.ts';
import { evaluate, type ObjectiveResult, type Outcome } from '../load.ts';
import type { ExperimentKind, RecordLine } from '../record.ts';
import type { Arrangement, Scenario } from '../scenario.ts';
import { Simulation } from '../sim.ts';
import { Histogram, histogramOfFields } from '../stats.ts';
import type { World } from './world.ts';

export interface SimWorldOptions {
  readonly scenario: Scenario;
  readonly seed: number;
}

export function simWorld({ scenario, seed }: SimWorldOptions): World {
  const simulation = new Simulation(scenario, { seed });
  return {
    name: 'sim',
    programs: {},
    available: availableIn(scenario),
    topology: () => simulation.topology(),
    now: () => simulation.now,
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

/** Objectives hold for all groups together. */
function objectivesOf(
  scenario: Scenario,
  arrangement: Arrangement,
  lines: readonly RecordLine[],
): readonly ObjectiveResult[] {
  const latency = new Histogram();
  for (const line of lines) {
    if (line.kind !== 'histogram' || line.of.group === undefined || line.of.what !== 'latency') continue;
    const histogram = histogramOfFields(line);
    if (histogram instanceof Histogram) latency.add(histogram);
  }
  const ledgers = lines.filter((line) => line.kind === 'ledger');
  const planned = ledgers.reduce((sum, ledger) => sum + ledger.planned, 0);
  const answered = ledgers.reduce((sum, ledger) => sum + ledger.answered, 0);
  const outcome: Outcome = { planned, sent: planned, answered, latency };
  return evaluate(scenario.objectives, outcome, ns(arrangement.duration));
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
