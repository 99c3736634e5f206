// Does it rise? The slope of a line through points, as the median of the slopes of all pairs: a third of the points may be
// nonsense and the answer hardly moves (Theil 1950; interval by Sen, J. American Stat. Assoc. 63, 1968, from the distribution
// of Kendall's count of rising less falling pairs; its test for "no trend" is Mann's).
//
// All pairs are looked at, so 2,000 points are 2 million slopes: about half a second, and the bound.

import { assert } from '../base.ts';
import { normalAbove, normalQuantile } from './distributions.ts';
import { medianOf, byValue, quantileOfSorted } from './quantile.ts';

export interface Trend {
  readonly slope: number;
  readonly low: number;
  readonly high: number;
  /** The line's height at x = 0: the median of what the slope leaves over. */
  readonly intercept: number;
  /** Two-sided probability of so much rise or fall in a series that has none. */
  readonly p: number;
}

export const trendPointsMax = 2000;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Undefined of fewer than three points, or when all have the same x. */
export function trendOf(points: readonly Point[], confidence = 0.95): Trend | undefined {
  assert(points.length <= trendPointsMax, `a trend is taken of at most ${trendPointsMax} points`);
  const slopes: number[] = [];
  let rising = 0;
  points.forEach(({ x, y }, index) => {
    for (const other of points.slice(index + 1)) {
      if (other.x === x) continue;
      const slope = (other.y - y) / (other.x - x);
      slopes.push(slope);
      rising += Math.sign(slope);
    }
  });
  if (points.length < 3 || slopes.length === 0) return undefined;
  slopes.sort(byValue);
  const slope = quantileOfSorted(slopes, 0.5) ?? 0;
  const deviation = Math.sqrt(kendallVariance(points));
  const reach = normalQuantile(0.5 + confidence / 2) * deviation;
  const lowRank = Math.max(0, Math.floor((slopes.length - reach) / 2) - 1);
  const highRank = Math.min(slopes.length - 1, Math.ceil((slopes.length + reach) / 2));
  const z = deviation === 0 ? 0 : Math.max(0, Math.abs(rising) - 1) / deviation;
  return {
    slope,
    low: slopes[lowRank] ?? slope,
    high: slopes[highRank] ?? slope,
    intercept: medianOf(points.map(({ x, y }) => y - slope * x)) ?? 0,
    p: Math.min(1, 2 * normalAbove(z)),
  };
}

/** Of the count of rising less falling pairs when there is no trend, with equal y accounted for (Kendall 1955). */
function kendallVariance(points: readonly Point[]): number {
  const sizes = new Map<number, number>();
  for (const { y } of points) sizes.set(y, (sizes.get(y) ?? 0) + 1);
  const part = (n: number): number => (n * (n - 1) * (2 * n + 5)) / 18;
  return [...sizes.values()].reduce((variance, size) => variance - part(size), part(points.length));
}
