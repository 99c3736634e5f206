// A whole record from a scenario and a seed: header, topology, then phase by phase. For tests of the diagnosis on hundreds of
// runs, and for everybody who has no use for a live picture.

import type { ExperimentFacts, RecordLine } from '../record.ts';
import { recordVersion } from '../record.ts';
import { type Arrangement, baselineOf, type Scenario } from '../scenario.ts';
import { Simulation } from './simulation.ts';

export interface SimulatedPhase {
  readonly arrangement: Arrangement;
  /** Present when the phase is an experiment. */
  readonly experiment?: ExperimentFacts;
}

export interface SimulateOptions {
  readonly seed: number;
  /** The scenario's own baseline when absent. */
  readonly phases?: readonly SimulatedPhase[];
  /** RFC 3339; imagined time has no date of its own, so the epoch stands for it. */
  readonly startedAt?: string;
  /** What the header says of the program. */
  readonly program?: string;
}

export function* simulate(scenario: Scenario, options: SimulateOptions): Generator<RecordLine, void> {
  const simulation = new Simulation(scenario, { seed: options.seed });
  yield {
    kind: 'header',
    format: 'plimsoll-record',
    version: recordVersion,
    id: `sim-${scenario.name}-${options.seed}`,
    started_at: options.startedAt ?? '1970-01-01T00:00:00Z',
    world: 'sim',
    scenario: scenario.name,
    seed: options.seed,
    environment: { plimsoll: options.program ?? 'unknown' },
  };
  yield { kind: 'topology', at_ns: 0, ...simulation.topology() };
  for (const { arrangement, experiment } of options.phases ?? [{ arrangement: baselineOf(scenario) }]) {
    yield phaseLine(simulation.now, arrangement, experiment);
    yield* simulation.play(arrangement);
  }
  yield { kind: 'end', at_ns: simulation.now, reason: 'finished', digest: simulation.digest };
}

function phaseLine(at_ns: number, arrangement: Arrangement, experiment: ExperimentFacts | undefined): RecordLine {
  return {
    kind: 'phase',
    at_ns,
    name: arrangement.name,
    measure_from_ns: at_ns + arrangement.warmUp,
    ...(experiment === undefined ? {} : { experiment }),
  };
}
