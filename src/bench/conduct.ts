// Conducts one run: the baseline, then the experiments that would tell the theories apart that are still alive, then the
// verdict. Everything goes into the record as it happens; the diagnosis sees nothing but that record.
//
//   header ─ topology ─ baseline ─► which theories live? ─► experiment ─► … ─► verdict ─ end

import { type Diagnosis, diagnose, type PlannedExperiment, planExperiments } from '../diagnose.ts';
import {
  type EndLine,
  type Environment,
  type ExperimentFacts,
  type RecordLine,
  recordOf,
  recordVersion,
} from '../record.ts';
import { type Arrangement, baselineOf, type Scenario } from '../scenario.ts';
import type { ObjectiveResult } from '../load.ts';
import { arrange, inOrder } from './experiments.ts';
import type { World } from './world.ts';

export interface RunOptions {
  readonly id: string;
  readonly scenario: Scenario;
  readonly world: World;
  readonly seed: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly environment: Environment;
  /** `auto`: those that discriminate; `none`; or these kinds only. */
  readonly experiments: 'auto' | 'none' | readonly ExperimentFacts['kind'][];
  /** Gets every line of the record, in order, as it happens. */
  readonly tell: (line: RecordLine) => void;
  /** Hears what comes next, for a progress display. */
  readonly announce?: (news: RunNews) => void;
  /** Aborted: the phase ends now, what was recorded is judged, the record is closed. */
  readonly stop: AbortSignal;
}

export type RunNews =
  | { readonly kind: 'phase'; readonly arrangement: Arrangement; readonly experiment: ExperimentFacts | undefined }
  | { readonly kind: 'plan'; readonly experiments: readonly ExperimentFacts[] };

export interface RunResult {
  readonly diagnosis: Diagnosis;
  readonly objectives: readonly ObjectiveResult[];
  readonly limits: readonly string[];
  readonly interrupted: boolean;
}

export async function conduct(options: RunOptions): Promise<RunResult> {
  const { scenario, world, stop } = options;
  const lines: RecordLine[] = [];
  const tell = (line: RecordLine): void => {
    lines.push(line);
    options.tell(line);
  };
  tell({
    kind: 'header',
    format: 'plimsoll-record',
    version: recordVersion,
    id: options.id,
    started_at: options.startedAt,
    world: world.name,
    scenario: scenario.name,
    seed: options.seed,
    environment: { ...options.environment, programs: { ...options.environment.programs, ...world.programs } },
  });
  tell({ kind: 'topology', at_ns: world.now(), ...world.topology() });

  const baseline = baselineOf(scenario);
  const limits: string[] = [];
  const play = async (arrangement: Arrangement, experiment: ExperimentFacts | undefined) => {
    options.announce?.({ kind: 'phase', arrangement, experiment });
    const at_ns = world.now();
    tell({
      kind: 'phase',
      at_ns,
      name: arrangement.name,
      measure_from_ns: at_ns + arrangement.warmUp,
      ...(experiment === undefined ? {} : { experiment }),
    });
    const outcome = await world.play(arrangement, tell, stop);
    limits.push(...outcome.limits);
    return outcome;
  };

  let end: Pick<EndLine, 'reason' | 'detail'> = { reason: 'finished' };
  let objectives: readonly ObjectiveResult[] = [];
  try {
    const outcome = await play(baseline, undefined);
    objectives = outcome.objectives;
    const aborted = (outcome.broken ?? []).length > 0;
    if (aborted) end = { reason: 'objective', detail: (outcome.broken ?? []).map(nameOf).join('; ') };
    const planned = stop.aborted || aborted ? [] : chosen(options, lines);
    if (planned.length > 0) options.announce?.({ kind: 'plan', experiments: planned });
    for (const [index, experiment] of planned.entries()) {
      if (stop.aborted) break;
      await play(arrange(baseline, experiment, nameFor(planned, index)), experiment);
    }
    if (stop.aborted) end = { reason: 'interrupted' };
  } catch (error) {
    end = { reason: 'failed', detail: error instanceof Error ? error.message : String(error) };
    tell({ kind: 'end', at_ns: world.now(), ...end });
    throw error;
  }
  const diagnosis = diagnose(recordOf(lines));
  tell({ kind: 'verdict', at_ns: world.now(), verdict: diagnosis });
  const digest = world.digest?.();
  tell({ kind: 'end', at_ns: world.now(), ...end, ...(digest === undefined ? {} : { digest }) });
  return { diagnosis, objectives, limits: [...new Set(limits)], interrupted: stop.aborted };
}

const nameOf = ({ metric, expression }: ObjectiveResult): string => `${metric} ${expression}`;

function chosen(options: RunOptions, lines: readonly RecordLine[]): readonly ExperimentFacts[] {
  const { experiments, world } = options;
  if (experiments === 'none') return [];
  const available =
    experiments === 'auto' ? world.available : world.available.filter((kind) => experiments.includes(kind));
  // What an experiment would tell is the planner's business; the record says what was done.
  return inOrder(planExperiments(recordOf(lines), available)).map(factsOf);
}

function factsOf(plan: PlannedExperiment): ExperimentFacts {
  const facts: ExperimentFacts & { tellsFrom?: unknown } = { ...plan };
  delete facts.tellsFrom;
  return facts;
}

/** The phase's name is the experiment's kind; a second of the same kind gets a number. */
function nameFor(planned: readonly ExperimentFacts[], index: number): string {
  const kind = planned[index]?.kind ?? 'experiment';
  const before = planned.slice(0, index).filter((one) => one.kind === kind).length;
  return before === 0 ? kind : `${kind}-${before + 1}`;
}
