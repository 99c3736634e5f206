// What would happen if: the fleet of a record, or of a scenario, as it is and with one thing changed, played many times in imagined
// time. Equal seeds for every alternative, so that they meet the same chance and their difference is known better than either.
//
//   record ──fit──► fleet ──► as it is      held against what was seen: is the fit any good?
//                     │
//                     └──► changed, n times  throughput, failed, p50, p99, and the difference
//
// The intervals are those of one further run of the record's length (95 %), with the error of the fit in them; those of a
// difference are of its mean.

import { meanInterval } from '../../stats.ts';
import type { RunRecord } from '../../record.ts';
import type { Scenario } from '../../scenario.ts';
import { type Figure, figuresOf } from '../figures.ts';
import { replicateAll } from '../replicate-all.ts';
import { type FigureInterval, predictionsOf, type Replication, seedsFrom } from '../replications.ts';
import { type Change, changed, changeText } from './changes.ts';
import { drawnFrom, type FittedFleet } from './fit-fleet.ts';

export interface Fitness {
  readonly figure: string;
  readonly unit: Figure['unit'];
  readonly observed: number;
  readonly predicted: FigureInterval;
  /** Whether what was seen lies where one run in twenty strays from. */
  readonly within: boolean;
}

export interface Alternative {
  readonly title: string;
  readonly figures: readonly FigureInterval[];
  /** Against the fleet as it is: mean and interval, by figure. Absent for that fleet itself. */
  readonly differences?: readonly FigureInterval[];
  /** Why it could not be played. Then there are no figures. */
  readonly problem?: string;
}

export interface WhatIf {
  readonly notes: readonly string[];
  /** Empty where there was no record. */
  readonly fitness: readonly Fitness[];
  readonly alternatives: readonly Alternative[];
}

export interface WhatIfOptions {
  readonly changes: readonly Change[];
  readonly replications: number;
  readonly workers: number;
  readonly seed: number;
}

const shown = ['throughput', 'failed', 'p50', 'p99'];

/** Of a record's fleet. */
export async function whatIf(record: RunRecord, fleet: FittedFleet, options: WhatIfOptions): Promise<WhatIf> {
  const result = await play((seed) => drawnFrom(fleet, seed), options, fleet.path);
  const phase = record.phases[0];
  const balanced = new Set(
    record.topology.services
      .filter(({ role }) => role === 'service')
      .flatMap(({ replicas }) => replicas.map(({ id }) => id)),
  );
  const seen = phase === undefined ? [] : figuresOf(phase, (id) => balanced.has(id)).figures;
  const fitness = result.asItIs.flatMap((predicted): Fitness[] => {
    const observed = seen.find(({ name }) => name === predicted.name)?.value;
    if (observed === undefined) return [];
    const within = observed >= predicted.low && observed <= predicted.high;
    return [{ figure: predicted.name, unit: predicted.unit, observed, predicted, within }];
  });
  return { notes: fleet.notes, fitness, alternatives: result.alternatives };
}

/** Of a scenario as it is written. */
export async function whatIfScenario(scenario: Scenario, options: WhatIfOptions): Promise<WhatIf> {
  const { alternatives } = await play(() => scenario, options, 0);
  return { notes: [], fitness: [], alternatives };
}

async function play(
  fleetOf: (seed: number) => Scenario,
  { changes, replications, workers, seed }: WhatIfOptions,
  path: number,
): Promise<{ readonly asItIs: readonly FigureInterval[]; readonly alternatives: readonly Alternative[] }> {
  const seeds = seedsFrom(seed, replications);
  const sets: readonly (readonly Change[])[] = [
    [],
    ...changes.map((change) => [change]),
    ...(changes.length > 1 && new Set(changes.map(({ kind }) => kind)).size === changes.length ? [changes] : []),
  ];
  const plans = sets.map((set) => ({
    title: set.length === 0 ? 'as it is' : set.length === 1 ? set.map(changeText).join('') : 'all of these',
    scenarios: seeds.map((each) => withAll(fleetOf(each), set)),
  }));
  const jobs = plans.flatMap(({ scenarios }) =>
    scenarios.flatMap((scenario, index) =>
      typeof scenario === 'string' ? [] : [{ scenario, seed: seeds[index] ?? seed }],
    ),
  );
  const results = (await replicateAll(jobs, workers)).map((replication) => delayed(replication, path));
  let taken = 0;
  let base: readonly Replication[] = [];
  let asItIs: readonly FigureInterval[] = [];
  const alternatives = plans.map(({ title, scenarios }): Alternative => {
    const problem = scenarios.find((scenario) => typeof scenario === 'string');
    if (problem !== undefined) return { title, figures: [], problem };
    const own = results.slice(taken, taken + scenarios.length);
    taken += scenarios.length;
    const all = predictionsOf(own);
    const figures = all.filter(({ name }) => shown.includes(name));
    if (base.length === 0) {
      base = own;
      asItIs = all;
      return { title, figures };
    }
    return { title, figures, differences: differencesOf(base, own) };
  });
  return { asItIs, alternatives };
}

function withAll(scenario: Scenario, changes: readonly Change[]): Scenario | string {
  let now: Scenario | string = scenario;
  for (const change of changes) {
    if (typeof now === 'string') return now;
    now = changed(now, change);
  }
  return now;
}

/** Every latency later by what is spent on the way. */
function delayed(replication: Replication, path: number): Replication {
  const figures = replication.figures.map((figure) =>
    figure.unit === 'nanoseconds' ? { ...figure, value: figure.value + path } : figure,
  );
  return { ...replication, figures };
}

/** Run by run, for each pair met the same chance. */
function differencesOf(base: readonly Replication[], other: readonly Replication[]): readonly FigureInterval[] {
  return shown.flatMap((name): FigureInterval[] => {
    const pairs = base.flatMap((one, index) => {
      const before = one.figures.find((figure) => figure.name === name);
      const after = other[index]?.figures.find((figure) => figure.name === name);
      return before === undefined || after === undefined ? [] : [{ before, after }];
    });
    const interval = meanInterval(pairs.map(({ before, after }) => after.value - before.value));
    const unit = pairs[0]?.before.unit;
    return interval === undefined || unit === undefined
      ? []
      : [{ name, unit, value: interval.mean, low: interval.low, high: interval.high }];
  });
}
