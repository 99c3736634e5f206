// Which change helps, which does nothing, which does harm: by one figure that suits what happened, and by the interval of the paired
// differences, wide enough that all of the intervals of a table hold together in 95 of 100 tables (Bonferroni: each of m at
// 1 − 5 %/m). Who ranks ten fixes by ten plain intervals calls one of them a help by chance in every third table.
//
//                          worse │ better
//   helps                        │  ├──┤
//   makes it worse     ├──┤      │
//   changes nothing            ├┼┤            and not by more than is worth naming
//   no effect seen         ├────┼───┤         it may be either: more runs would tell
//
// Whatever else it does, a change with which more fails makes it worse: a fleet that refuses quickly has a fine throughput.

import { meanInterval } from '../../stats.ts';
import type { Scenario } from '../../scenario.ts';
import { type Figure, figureNamed } from '../figures.ts';
import { type FigureInterval, type Replication } from '../replications.ts';

/** What changes are judged by. */
export interface Measure {
  readonly figure: string;
  readonly unit: Figure['unit'];
  readonly better: 'less' | 'more';
  /** A difference that is worth naming, in the figure's unit. */
  readonly least: number;
  /** Why this figure. */
  readonly because: string;
}

export type Standing = 'helps' | 'changes nothing' | 'no effect seen' | 'makes it worse';

export interface Judgement {
  readonly standing: Standing;
  /** Of the measure, against the fleet as it is; all of a table's hold together. */
  readonly difference: FigureInterval;
}

const together = 0.95;
/** Where more fails than this, failing is what matters. */
const failedMax = 0.01;

/** By the runs of the fleet as it is. */
export function measureFor(scenario: Scenario, asItIs: readonly Replication[]): Measure {
  const mean = (name: string): number => meanOf(asItIs, name) ?? 0;
  if (mean('failed') > failedMax) {
    return {
      figure: 'failed',
      unit: 'share',
      better: 'less',
      least: 0.01,
      because: 'requests fail, so what counts is how many of them',
    };
  }
  if (scenario.demand.some(({ kind }) => kind === 'closed')) {
    return {
      figure: 'throughput',
      unit: 'per-second',
      better: 'more',
      least: 0.02 * mean('throughput'),
      because: 'users wait for their answers, so what a fleet can do shows in how many it gives',
    };
  }
  return {
    figure: 'p99',
    unit: 'nanoseconds',
    better: 'less',
    least: 0.05 * mean('p99'),
    because: 'all is answered, so what counts is how long the slowest hundredth waits',
  };
}

/** `others`: of how many changes the table tells. Undefined where the figure is missing in too many runs. */
export function judge(
  measure: Measure,
  base: readonly Replication[],
  changed: readonly Replication[],
  others: number,
): Judgement | undefined {
  const confidence = 1 - (1 - together) / Math.max(1, others);
  const difference = pairedDifference(measure, base, changed, confidence);
  if (difference === undefined) return undefined;
  const failing = pairedDifference({ figure: 'failed', unit: 'share' }, base, changed, confidence);
  const isFailingMore = failing !== undefined && failing.low > 0 && failing.value > failedMax;
  return { standing: isFailingMore ? 'makes it worse' : standingOf(difference, measure), difference };
}

/** Run by run, for each pair met the same chance. */
export function pairedDifference(
  { figure, unit }: Pick<Measure, 'figure' | 'unit'>,
  base: readonly Replication[],
  changed: readonly Replication[],
  confidence: number,
): FigureInterval | undefined {
  const differences = base.flatMap(({ figures }, index) => {
    const before = figureNamed(figures, figure);
    const after = figureNamed(changed[index]?.figures ?? [], figure);
    return before === undefined || after === undefined ? [] : [after - before];
  });
  const interval = meanInterval(differences, confidence);
  return interval === undefined
    ? undefined
    : { name: figure, unit, value: interval.mean, low: interval.low, high: interval.high };
}

function standingOf({ low, high }: FigureInterval, { better, least }: Measure): Standing {
  if (low >= -least && high <= least) return 'changes nothing';
  const [good, bad] = better === 'more' ? [low > 0, high < 0] : [high < 0, low > 0];
  if (good) return 'helps';
  return bad ? 'makes it worse' : 'no effect seen';
}

const order: readonly Standing[] = ['helps', 'changes nothing', 'no effect seen', 'makes it worse'];

/** The best first. */
export function inRank<Judged extends { readonly judgement: Judgement }>(
  judged: readonly Judged[],
  { better }: Measure,
): readonly Judged[] {
  const sign = better === 'more' ? -1 : 1;
  return judged.toSorted(
    ({ judgement: one }, { judgement: other }) =>
      order.indexOf(one.standing) - order.indexOf(other.standing) ||
      sign * (one.difference.value - other.difference.value),
  );
}

function meanOf(replications: readonly Replication[], name: string): number | undefined {
  const values = replications.flatMap(({ figures }) => figureNamed(figures, name) ?? []);
  return meanInterval(values)?.mean;
}
