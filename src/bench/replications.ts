// The same scenario played many times with other seeds, and an honest interval for every figure. Replications know nothing of
// each other, so Student's interval holds; within one run neighbouring seconds resemble each other, and it would not.
//
// Percentiles are not averaged. The estimate is the quantile of all runs together; its interval comes from how the quantiles
// of single runs scatter around it ("sectioning": Asmussen and Glynn, Stochastic Simulation, 2007, section III.5).
//
// Before anything is counted the beginning is cut off: MSER-5 on what the fullest replica held, averaged over a few pilot runs in which
// nothing was left out. A scenario in which something begins or ends on the way has no steady state; its own warm-up stands.

import { assert, type Duration, ms, ns } from '../base.ts';
import { measuredTicks, type PhaseRecord, recordOf, type TickLine } from '../record.ts';
import { allFaults, type Arrangement, baselineOf, type Scenario } from '../scenario.ts';
import { simulate, Simulation } from '../sim.ts';
import {
  Histogram,
  type HistogramFields,
  histogramFields,
  histogramOfFields,
  studentQuantile,
  warmUpCut,
} from '../stats.ts';
import { type Figure, figuresOf, latencyShares } from './figures.ts';
import { healedAt, recoveryOf } from './recovery.ts';

export interface FigureInterval extends Figure {
  readonly low: number;
  readonly high: number;
}

export interface Replication {
  readonly figures: readonly Figure[];
  /** As data, so that it can come from another thread. */
  readonly latency: HistogramFields;
}

export interface SettledRun {
  readonly arrangement: Arrangement;
  /** What was found out about the beginning, as a sentence. */
  readonly warmUp: string;
}

const confidence = 0.95;
const pilots = 5;
const pilotTick = ms(100);

/** One run of the scenario's baseline, or of an arrangement of it. */
export function replicate(
  scenario: Scenario,
  seed: number,
  arrangement: Arrangement = baselineOf(scenario),
): Replication {
  const record = recordOf([...simulate(scenario, { seed, phases: [{ arrangement }] })]);
  const phase = record.phases[0];
  assert(phase !== undefined, 'a run has a phase');
  const balanced = new Set(scenario.topology.services.map((service) => service.name));
  const { figures, latency } = figuresOf(phase, (id) => balanced.has(id.replace(/-\d+$/, '')));
  return {
    figures: [...figures, ...leftFigures(phase), ...recoveryFigures(scenario, phase)],
    latency: histogramFields(latency),
  };
}

/** Of what was asked, what had not ended when the judged seconds did, beyond what was under way when they began: a queue that grows. */
export const leftBehind = 'left behind';

function leftFigures(phase: PhaseRecord): readonly Figure[] {
  const clients = measuredTicks(phase).flatMap((tick) => tick.clients);
  const planned = sum(clients.map((group) => group.planned));
  const ended = sum(clients.map(({ answered, errors = {} }) => answered + sum(Object.values(errors))));
  return planned === 0 ? [] : [{ name: leftBehind, unit: 'share', value: Math.max(0, 1 - ended / planned) }];
}

/** Names of figures that only a run has in which something goes wrong for a while. */
export const recoveryNames = { after: 'back after', back: 'is back' } as const;

function recoveryFigures(scenario: Scenario, phase: PhaseRecord): readonly Figure[] {
  const healed = healedAt(scenario);
  const recovery = healed === undefined ? undefined : recoveryOf(phase, healed);
  if (recovery === undefined) return [];
  return [
    { name: recoveryNames.after, unit: 'nanoseconds', value: recovery.after },
    { name: recoveryNames.back, unit: 'share', value: recovery.back ? 1 : 0 },
  ];
}

/** The seeds of so many replications. Equal for every alternative, so that they meet the same chance. */
export const seedsFrom = (seed: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => seed + index);

/** Every figure with its interval. At least two replications. */
export function intervalsOf(replications: readonly Replication[]): readonly FigureInterval[] {
  assert(replications.length >= 2, 'an interval takes two runs');
  const pooled = pooledLatency(replications);
  const names = [...new Set(replications.flatMap(({ figures }) => figures.map(({ name }) => name)))];
  return names.map((name) => {
    const found = replications.flatMap(({ figures }) => figures.filter((figure) => figure.name === name));
    const values = found.map(({ value }) => value);
    const share = Object.entries(latencyShares).find(([quantile]) => quantile === name)?.[1];
    const centre =
      share === undefined
        ? sum(values) / values.length
        : (pooled.quantile(share)?.value ?? sum(values) / values.length);
    const squares = sum(values.map((value) => (value - centre) ** 2));
    const half =
      values.length < 2
        ? Infinity
        : studentQuantile(0.5 + confidence / 2, values.length - 1) *
          Math.sqrt(squares / (values.length * (values.length - 1)));
    return { name, unit: found[0]?.unit ?? 'count', value: centre, low: centre - half, high: centre + half };
  });
}

/** Where one further run of the same length would lie, with the given confidence, by figure. */
export function predictionsOf(
  replications: readonly Pick<Replication, 'figures'>[],
  level = confidence,
): readonly FigureInterval[] {
  const count = replications.length;
  assert(count >= 3, 'a prediction takes three runs');
  const names = [...new Set(replications.flatMap(({ figures }) => figures.map(({ name }) => name)))];
  return names.map((name) => {
    const found = replications.flatMap(({ figures }) => figures.filter((figure) => figure.name === name));
    const values = found.map(({ value }) => value);
    const mean = sum(values) / values.length;
    const deviation = Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / Math.max(1, values.length - 1));
    const half = studentQuantile(0.5 + level / 2, count - 1) * deviation * Math.sqrt(1 + 1 / count);
    return { name, unit: found[0]?.unit ?? 'count', value: mean, low: mean - half, high: mean + half };
  });
}

export function pooledLatency(replications: readonly Replication[]): Histogram {
  const pooled = new Histogram();
  for (const { latency } of replications) {
    const histogram = histogramOfFields(latency);
    assert(histogram instanceof Histogram, 'a histogram that was just written can be read');
    pooled.add(histogram);
  }
  return pooled;
}

/** The baseline with as long a warm-up as it needs. */
export function settled(scenario: Scenario, seed: number): SettledRun {
  const baseline = baselineOf(scenario);
  const own = `${baseline.warmUp / 1e9} s as the scenario says`;
  if (allFaults(scenario).some(({ at, for: length }) => at > 0 || length !== undefined) || hasCourse(scenario)) {
    return { arrangement: baseline, warmUp: `${own}; what happens on the way has no steady state` };
  }
  const series = pilotSeries(scenario, baseline, seed);
  const cut = warmUpCut(series);
  if (cut === undefined) return { arrangement: baseline, warmUp: `${own}; too short a run to judge it` };
  const needed = (cut.cut * pilotTick) as Duration;
  if (!cut.settled) {
    return { arrangement: baseline, warmUp: `${own}; MSER-5 finds that the run was still changing at its middle` };
  }
  if (needed <= baseline.warmUp) {
    return { arrangement: baseline, warmUp: `${own}; MSER-5 would cut ${(needed / 1e9).toFixed(1)} s` };
  }
  return {
    arrangement: { ...baseline, warmUp: needed },
    warmUp: `${(needed / 1e9).toFixed(1)} s by MSER-5, more than the scenario's ${baseline.warmUp / 1e9} s`,
  };
}

const hasCourse = (scenario: Scenario): boolean =>
  scenario.demand.some(
    (demand) =>
      demand.kind === 'open' &&
      (demand.stages !== undefined || demand.bursts !== undefined || demand.times !== undefined),
  );

/** What the fullest replica had in flight, tick by tick from the very beginning, averaged over the pilots. (What all clients have
 * in flight says nothing where closed users do not think: it is their number, from the first instant on.) */
function pilotSeries(scenario: Scenario, baseline: Arrangement, seed: number): readonly number[] {
  const whole = { ...baseline, warmUp: ns(0), duration: ns(baseline.warmUp + baseline.duration) };
  const runs = seedsFrom(seed, pilots).map((each) => {
    const simulation = new Simulation(scenario, { seed: each, tick: pilotTick });
    return [...simulation.play(whole)].filter((line) => line.kind === 'tick').map(fullestOf);
  });
  return (runs[0] ?? []).map((_, index) => sum(runs.map((run) => run[index] ?? 0)) / runs.length);
}

const fullestOf = (tick: TickLine): number =>
  tick.replicas.reduce((most, { in_flight_mean: mean }) => Math.max(most, mean ?? 0), 0);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
