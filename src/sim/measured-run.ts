// One run boiled down to what a formula speaks of: the judged part as one long tick, its ledger and its latencies. What the
// tests against theory are made of.

import { assert, seconds } from '../base.ts';
import type { ClientTick, LedgerLine, RecordLine, ReplicaTick, TickLine } from '../record.ts';
import { type Arrangement, baselineOf, formatProblem, parseScenario, type Scenario } from '../scenario.ts';
import { Histogram, histogramOfFields, type MeanInterval, meanInterval } from '../stats.ts';
import { Simulation } from './simulation.ts';

export interface MeasuredRun {
  /** The judged part. */
  readonly tick: TickLine;
  readonly clients: ClientTick;
  readonly ledger: LedgerLine;
  /** Of the first group. */
  readonly latency: Histogram;
  readonly simulation: Simulation;
}

export function scenarioFrom(text: string, settings: readonly string[] = []): Scenario {
  const parsed = parseScenario(text, 'scenario.yaml', settings);
  if ('scenario' in parsed) return parsed.scenario;
  assert(false, parsed.problems.map(formatProblem).join('\n'));
}

/** Plays the baseline of a scenario, or an arrangement of it, in one tick for the warm-up and one for the rest. */
export function measuredRun(
  scenario: Scenario,
  seed: number,
  arrangement: Arrangement = baselineOf(scenario),
): MeasuredRun {
  const simulation = new Simulation(scenario, { seed, tick: seconds(1e6) });
  return measured(simulation, arrangement);
}

/** The same in a simulation that has played before. */
export function measured(simulation: Simulation, arrangement: Arrangement): MeasuredRun {
  const lines = [...simulation.play(arrangement)];
  const tick = lastOf(lines, 'tick');
  const clients = tick.clients[0];
  const histogram = lines.find((line) => line.kind === 'histogram');
  assert(clients !== undefined && histogram !== undefined, 'a phase has clients and their latencies');
  const latency = histogramOfFields(histogram);
  assert(latency instanceof Histogram, 'a histogram that was just written can be read');
  return { tick, clients, ledger: firstOf(lines, 'ledger'), latency, simulation };
}

function lastOf<Kind extends RecordLine['kind']>(
  lines: readonly RecordLine[],
  kind: Kind,
): Extract<RecordLine, { kind: Kind }> {
  return firstOf(lines.toReversed(), kind);
}

function firstOf<Kind extends RecordLine['kind']>(
  lines: readonly RecordLine[],
  kind: Kind,
): Extract<RecordLine, { kind: Kind }> {
  const found = lines.find((line): line is Extract<RecordLine, { kind: Kind }> => line.kind === kind);
  assert(found !== undefined, `a phase has a ${kind}`);
  return found;
}

/** Answers a second in the judged part. */
export const throughputOf = ({ tick, clients }: MeasuredRun): number => clients.answered / (tick.span_ns / 1e9);

/** Milliseconds. */
export const meanLatencyOf = ({ latency }: MeasuredRun): number => (latency.mean ?? Number.NaN) / 1e6;

export function replicaOf({ tick }: MeasuredRun, id: string): ReplicaTick {
  const found = tick.replicas.find((replica) => replica.id === id);
  assert(found !== undefined, `${id} is in the tick`);
  return found;
}

/** Student's interval over independent runs, seeds 1 to `runs`. 99.9 %: a right simulation fails one test in a thousand, and
 * with fixed seeds either always or never. */
export function replicated(runs: number, figure: (seed: number) => number): MeanInterval {
  const interval = meanInterval(
    Array.from({ length: runs }, (_, index) => figure(index + 1)),
    0.999,
  );
  assert(interval !== undefined, 'an interval takes two runs');
  return interval;
}
