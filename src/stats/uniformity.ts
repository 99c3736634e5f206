// Are these counts what an even spread would give? There are two ways not to be: less even than chance (something prefers a
// place), and more even than chance (something takes turns). Strict rotation over four replicas gives counts that differ by
// one; a fair coin never does. So both tails are told apart.
//
// With many counts everything is significant: 10 million requests make a skew of 0.1 % certain and no less harmless. So the
// size of the effect stands beside the probability, and a verdict needs both.

import { assert } from '../base.ts';
import { chiSquareAbove, chiSquareBelow } from './distributions.ts';
import { meanOf } from './moments.ts';

export interface UniformityTest {
  readonly statistic: number;
  readonly degrees: number;
  /** Probability of counts at least as uneven, if each request chose its place by a fair throw. */
  readonly pMoreUneven: number;
  /** Probability of counts at least as even. Close to 0: they take turns. */
  readonly pMoreEven: number;
  /** Largest distance of a place from its fair share, as a part of that share. */
  readonly largestDeviation: number;
}

/**
 * Pearson's chi-square against equal shares, or against shares in proportion to `weights`. Undefined for fewer than two places
 * or nothing counted. The approximation wants five or more expected in each place.
 */
export function uniformityTest(counts: readonly number[], weights?: readonly number[]): UniformityTest | undefined {
  assert(weights === undefined || weights.length === counts.length, 'there is a weight for each count');
  const total = sumOf(counts);
  if (counts.length < 2 || total === 0) return undefined;
  const weightTotal = weights === undefined ? counts.length : sumOf(weights);
  let statistic = 0;
  let largestDeviation = 0;
  counts.forEach((count, place) => {
    const expected = (total * (weights?.[place] ?? 1)) / weightTotal;
    assert(expected > 0, 'each place expects something: leave out those of weight 0');
    statistic += (count - expected) ** 2 / expected;
    largestDeviation = Math.max(largestDeviation, Math.abs(count / expected - 1));
  });
  const degrees = counts.length - 1;
  return {
    statistic,
    degrees,
    pMoreUneven: chiSquareAbove(statistic, degrees),
    pMoreEven: chiSquareBelow(statistic, degrees),
    largestDeviation,
  };
}

export interface DispersionTest {
  /** Variance ÷ mean: 1 for arrivals that know nothing of each other, 0 for a clock, above 1 for bursts. */
  readonly index: number;
  readonly pMoreBursty: number;
  readonly pMoreRegular: number;
}

/**
 * Are counts of equal spans of time those of a Poisson process? (n − 1)·index is chi-square with n − 1 degrees of freedom then.
 * Undefined for fewer than two spans or nothing counted.
 */
export function dispersionTest(counts: readonly number[]): DispersionTest | undefined {
  const mean = meanOf(counts);
  if (mean === undefined || mean === 0 || counts.length < 2) return undefined;
  const degrees = counts.length - 1;
  const statistic = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / mean;
  return {
    index: statistic / degrees,
    pMoreBursty: chiSquareAbove(statistic, degrees),
    pMoreRegular: chiSquareBelow(statistic, degrees),
  };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
