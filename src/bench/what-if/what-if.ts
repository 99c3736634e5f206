// What would happen if: the fleet of a record, or of a scenario, as it is and with one thing changed, played many times in imagined
// time. Equal seeds for every alternative, so that they meet the same chance and their difference is known better than either.
//
//   record ──fit──► fleet ──► as it is      held against what was seen: is the fit any good?
//              │      │                     if not, nothing is predicted
//              │      └──► changed, n times  failed, back after, throughput, p50, p99, and the difference: in rank
//              │
//              └──of half──► the other half  how far off a prediction of this fleet was
//
// Nobody has to say what to change: a scenario, or what was fitted to a record, proposes what its settings leave open.
//
// The intervals are those of one further run of the record's length (95 %), with the error of the fit in them; those of a
// difference are of its mean.

import type { RunRecord } from '../../record.ts';
import type { Scenario } from '../../scenario.ts';
import { type Figure, figuresOf, latencyShares } from '../figures.ts';
import { ReplicationPool } from '../replicate-all.ts';
import { type FigureInterval, predictionsOf, recoveryNames, type Replication, seedsFrom } from '../replications.ts';
import { twinsOf } from '../twins.ts';
import { type Certificate, certify } from './certificate.ts';
import { type Change, changed, changeText } from './changes.ts';
import { drawnFrom, type FittedFleet } from './fit-fleet.ts';
import { proposedChanges } from './proposals.ts';
import { inRank, judge, type Judgement, type Measure, measureFor, pairedDifference } from './rank.ts';

export interface Fitness {
  readonly figure: string;
  readonly unit: Figure['unit'];
  readonly observed: number;
  /** With where it may lie: where one run strays to by chance, and as far as worlds may differ. */
  readonly predicted: FigureInterval;
  readonly within: boolean;
}

export interface Alternative {
  readonly title: string;
  readonly figures: readonly FigureInterval[];
  /** Against the fleet as it is: mean and interval, by figure. Absent for that fleet itself. */
  readonly differences?: readonly FigureInterval[];
  /** Whether it helps, by the measure of the table. Absent for the fleet as it is. */
  readonly judgement?: Judgement;
  /** Why it could not be played. Then there are no figures. */
  readonly problem?: string;
}

export interface WhatIf {
  readonly notes: readonly string[];
  /** Empty where there was no record. */
  readonly fitness: readonly Fitness[];
  /** The error of the same fit where the truth is known, or why there is no telling. Absent where there was no record. */
  readonly certificate?: Certificate | string;
  /** Why nothing is predicted. Then the fleet as it is stands alone. */
  readonly refusal?: string;
  readonly measure: Measure;
  readonly replications: number;
  /** The fleet as it is, then the changes in rank, then those that could not be played. */
  readonly alternatives: readonly Alternative[];
}

export interface WhatIfOptions {
  /** Empty: what the fleet itself leaves open. */
  readonly changes: readonly Change[];
  /** Three at least. */
  readonly replications: number;
  readonly workers: number;
  readonly seed: number;
  /** Predict with a fit that does not do what was seen. */
  readonly anyway?: boolean;
  /** Aborted: the changes that have been played are told. */
  readonly stop?: AbortSignal;
  /** Hears how many runs are done, of how many. */
  readonly onRun?: (finished: number, of: number) => void;
}

const shown = ['throughput', 'failed', 'p50', 'p99', ...Object.values(recoveryNames)];
/** A fleet that does not do these as they were seen predicts nothing. */
const essential = ['throughput', 'failed'];

/** Of a record's fleet. */
export async function whatIf(record: RunRecord, fleet: FittedFleet, options: WhatIfOptions): Promise<WhatIf> {
  const certificate = certify(record, options.seed);
  const result = await play(
    { base: fleet.scenario, drawn: (seed) => drawnFrom(fleet, seed), path: fleet.path, seen: seenFigures(record) },
    options,
  );
  return { ...result, notes: fleet.notes, certificate };
}

/** Of a scenario as it is written. */
export function whatIfScenario(scenario: Scenario, options: WhatIfOptions): Promise<WhatIf> {
  return play({ base: scenario, drawn: () => scenario, path: 0, seen: undefined }, options);
}

interface Fleet {
  readonly base: Scenario;
  /** One that it may be, by seed. */
  readonly drawn: (seed: number) => Scenario;
  readonly path: number;
  /** Undefined where there is no record to hold it against. */
  readonly seen: readonly Figure[] | undefined;
}

async function play(fleet: Fleet, options: WhatIfOptions): Promise<WhatIf> {
  const { replications, seed, stop } = options;
  const sets = setsOf(fleet.base, options.changes);
  const pool = new ReplicationPool({
    workers: options.workers,
    stop,
    onRun: (finished) => options.onRun?.(finished, (sets.length + 1) * replications),
  });
  const seeds = seedsFrom(seed, replications);
  const runs = async (changes: readonly Change[]): Promise<readonly Replication[]> => {
    const jobs = seeds.flatMap((each) => {
      const scenario = withAll(fleet.drawn(each), changes);
      return typeof scenario === 'string' ? [] : [{ scenario, seed: each }];
    });
    return (await pool.run(jobs)).map((replication) => delayed(replication, fleet.path));
  };
  try {
    const base = await runs([]);
    const measure = measureFor(fleet.base, base);
    const fitness = fleet.seen === undefined ? [] : fitnessOf(fleet.seen, base);
    const asItIs: Alternative = { title: 'as it is', figures: figuresFrom(base) };
    const head = { notes: [], fitness, measure, replications };
    const strays = fitness.filter(({ figure, within }) => !within && [...essential, measure.figure].includes(figure));
    if (strays.length > 0 && options.anyway !== true) {
      const refusal = `the fitted fleet does not do what was seen (${strays.map(({ figure }) => figure).join(', ')})`;
      return { ...head, refusal, alternatives: [asItIs] };
    }
    const tried: Tried[] = [];
    for (const set of sets) {
      const one = await unlessStopped(stop, () => tryOut(set, fleet.base, () => runs(set)));
      if (one === undefined) break;
      tried.push(one);
    }
    return { ...head, alternatives: [asItIs, ...ranked(tried, base, measure)] };
  } finally {
    await pool.close();
  }
}

/** Undefined when it was stopped on the way. */
async function unlessStopped<Result>(
  stop: AbortSignal | undefined,
  act: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await act();
  } catch (error) {
    if (stop?.aborted === true) return undefined;
    throw error;
  }
}

type Tried =
  | { readonly title: string; readonly problem: string }
  | { readonly title: string; readonly runs: readonly Replication[] };

async function tryOut(
  set: readonly Change[],
  base: Scenario,
  runs: () => Promise<readonly Replication[]>,
): Promise<Tried> {
  const title = set.length === 1 ? set.map(changeText).join('') : 'all of these';
  const made = withAll(base, set);
  return typeof made === 'string' ? { title, problem: made } : { title, runs: await runs() };
}

/** Each change alone; of several that were asked for and are of different kinds, all of them together too. */
function setsOf(base: Scenario, asked: readonly Change[]): readonly (readonly Change[])[] {
  const changes = asked.length === 0 ? proposedChanges(base) : asked;
  const isOneOfEach = new Set(asked.map(({ kind }) => kind)).size === asked.length;
  return [...changes.map((change) => [change]), ...(asked.length > 1 && isOneOfEach ? [asked] : [])];
}

function withAll(scenario: Scenario, changes: readonly Change[]): Scenario | string {
  let now: Scenario | string = scenario;
  for (const change of changes) {
    if (typeof now === 'string') return now;
    now = changed(now, change);
  }
  return now;
}

function ranked(tried: readonly Tried[], base: readonly Replication[], measure: Measure): readonly Alternative[] {
  const playable = tried.flatMap((one) => ('runs' in one ? [one] : []));
  const judged = playable.flatMap(({ title, runs }) => {
    const judgement = judge(measure, base, runs, playable.length);
    return judgement === undefined
      ? []
      : [{ title, figures: figuresFrom(runs), differences: differencesOf(base, runs), judgement }];
  });
  return [...inRank(judged, measure), ...tried.flatMap((one) => ('problem' in one ? [{ ...one, figures: [] }] : []))];
}

const figuresFrom = (runs: readonly Replication[]): readonly FigureInterval[] =>
  predictionsOf(runs).filter(({ name }) => shown.includes(name));

function differencesOf(base: readonly Replication[], other: readonly Replication[]): readonly FigureInterval[] {
  return figuresFrom(base).flatMap(
    ({ name: figure, unit }) => pairedDifference({ figure, unit }, base, other, 0.95) ?? [],
  );
}

/** Held as a lab and its imagined twin are: the same tolerances. */
function fitnessOf(seen: readonly Figure[], base: readonly Replication[]): readonly Fitness[] {
  return twinsOf(seen, base).map(({ figure, unit, lab, sim, low, high, agrees }) => ({
    figure,
    unit,
    observed: lab,
    predicted: { name: figure, unit, value: sim, low, high },
    within: agrees,
  }));
}

function seenFigures(record: RunRecord): readonly Figure[] {
  const phase = record.phases[0];
  const balanced = new Set(
    record.topology.services
      .filter(({ role }) => role === 'service')
      .flatMap(({ replicas }) => replicas.map(({ id }) => id)),
  );
  return phase === undefined ? [] : figuresOf(phase, (id) => balanced.has(id)).figures;
}

/** Every latency later by what is spent on the way. */
function delayed(replication: Replication, path: number): Replication {
  const figures = replication.figures.map((figure) =>
    figure.name in latencyShares ? { ...figure, value: figure.value + path } : figure,
  );
  return { ...replication, figures };
}
