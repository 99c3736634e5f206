// One figure before and after, and what that means: worse, better, the same, or not settled yet.
//
//   worse       less likely than the level to be chance, and at least as large as what matters
//   same        the whole interval lies within what matters (on the bad side, which is the one that counts)
//   unsettled   neither: more runs would tell, and how many is said
//
// Times, rates and costs are compared as ratios (their logarithms scatter evenly), shares as differences. A figure may gate a release
// (clients feel it), be its price (it costs more, but nobody feels it), show the mechanism, or judge the ruler.

import { chanceOf, type Difference, differenceOf, intervalOf, runsFor, type RunValue } from './difference.ts';

export type FigureRole = 'gate' | 'price' | 'mechanism' | 'ruler';

/** What is known of a figure beforehand. */
export interface FigureKind {
  /** `throughput`, `p99`, … as it is shown. */
  readonly name: string;
  readonly unit: 'per-second' | 'share' | 'nanoseconds' | 'count';
  readonly role: FigureRole;
  readonly better: 'more' | 'less';
  /** Ratios are logarithms inside; shares are compared as they are. */
  readonly scale: 'ratio' | 'difference';
  /** The smallest change that matters: 0.03 is 3 %, or three percentage points of a share. */
  readonly smallest: number;
}

export type Finding = 'worse' | 'better' | 'same' | 'unsettled';

/** Plain data. Changes: 0.05 is 5 % more, or five percentage points more of a share. */
export interface Effect extends FigureKind {
  readonly base: number;
  readonly candidate: number;
  readonly change: number;
  /** 95 %. */
  readonly low: number;
  readonly high: number;
  readonly basis: Difference['basis'];
  readonly finding: Finding;
  /** Runs a side that would settle it. Absent where it is settled. */
  readonly runsNeeded?: number;
}

const confidence = 0.95;

/** Undefined where a side does not have the figure. `level`: how likely chance may be to be called worse (or better). */
export function effectOf(
  kind: FigureKind,
  base: readonly RunValue[],
  candidate: readonly RunValue[],
  level: number,
): Effect | undefined {
  const difference = differenceOf(scaled(kind, base), scaled(kind, candidate));
  if (difference === undefined) return undefined;
  const bad = kind.better === 'more' ? -1 : 1;
  const { low, high } = intervalOf(difference, confidence);
  const smallest = kind.scale === 'ratio' ? Math.log1p(kind.smallest) : kind.smallest;
  const harm = difference.estimate * bad;
  const harmMost = bad === 1 ? high : -low;
  const proven = (direction: 1 | -1): boolean =>
    harm * direction >= smallest && chanceOf(difference, direction === 1 ? bad : bad === 1 ? -1 : 1) < level;
  const finding = proven(1) ? 'worse' : proven(-1) ? 'better' : harmMost < smallest ? 'same' : 'unsettled';
  const runs = Math.min(base.length, candidate.length);
  return {
    ...kind,
    base: meanOf(base),
    candidate: meanOf(candidate),
    change: unscaled(kind, difference.estimate),
    low: unscaled(kind, low),
    high: unscaled(kind, high),
    basis: difference.basis,
    finding,
    ...(finding === 'unsettled' ? { runsNeeded: runsFor(difference, runs, roomOf(harm, smallest)) } : {}),
  };
}

/** How far an interval around this estimate may reach before it touches what matters. */
const roomOf = (harm: number, smallest: number): number => Math.max(0.25 * smallest, Math.abs(smallest - harm));

function scaled({ scale }: FigureKind, runs: readonly RunValue[]): readonly RunValue[] {
  if (scale === 'difference') return runs;
  return runs.flatMap((run) =>
    run.value <= 0
      ? []
      : [
          {
            ...run,
            value: Math.log(run.value),
            error: run.error === undefined ? undefined : run.error / run.value,
          },
        ],
  );
}

const unscaled = ({ scale }: FigureKind, value: number): number => (scale === 'ratio' ? Math.expm1(value) : value);

const meanOf = (runs: readonly RunValue[]): number => runs.reduce((sum, { value }) => sum + value, 0) / runs.length;
