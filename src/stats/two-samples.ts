// Do two samples come from the same place? Four questions that sound alike:
//
//   Welch          are the means different?                          variances may differ; wants a few dozen, or bell shapes
//   Mann–Whitney   is one usually greater than the other?            any shape, ties allowed
//   Kolmogorov     do the distributions differ anywhere?             any shape; weak in the tails
//   permutation    does this very statistic differ?                  any statistic, exact, costs its repetitions
//
// All of them take values that know nothing of each other. Latencies one after another do know of each other (a queue has a
// memory), so feed them means of batches or of runs, not requests. All p are two-sided.

import type { Dice } from '../base.ts';
import { kolmogorovAbove, normalAbove, studentAbove, studentQuantile } from './distributions.ts';
import { meanOf, varianceOf } from './moments.ts';
import { byValue } from './quantile.ts';
import { shuffle } from './shuffle.ts';

export interface WelchTest {
  readonly t: number;
  readonly degrees: number;
  readonly p: number;
  /** Mean of the second less mean of the first, with its interval. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

/** Welch's t-test (Biometrika 34, 1947). Undefined when a sample has fewer than two values or neither varies at all. */
export function welchTest(
  first: readonly number[],
  second: readonly number[],
  confidence = 0.95,
): WelchTest | undefined {
  const [mean1, mean2] = [meanOf(first), meanOf(second)];
  const [variance1, variance2] = [varianceOf(first), varianceOf(second)];
  if (mean1 === undefined || mean2 === undefined || variance1 === undefined || variance2 === undefined)
    return undefined;
  const [square1, square2] = [variance1 / first.length, variance2 / second.length];
  const square = square1 + square2;
  if (square === 0) return undefined;
  const degrees = square ** 2 / (square1 ** 2 / (first.length - 1) + square2 ** 2 / (second.length - 1));
  const difference = mean2 - mean1;
  const t = difference / Math.sqrt(square);
  const half = studentQuantile(0.5 + confidence / 2, degrees) * Math.sqrt(square);
  return {
    t,
    degrees,
    p: bothTails(studentAbove(Math.abs(t), degrees)),
    difference,
    low: difference - half,
    high: difference + half,
  };
}

export interface MannWhitneyTest {
  /** Pairs in which the second is greater, ties counted half. */
  readonly u: number;
  readonly z: number;
  readonly p: number;
  /** u as a share of all pairs: the probability that a value of the second is greater than one of the first. */
  readonly superiority: number;
}

/**
 * The Mann–Whitney U test by its normal approximation, with corrections for ties and for continuity: good from about eight
 * values a side. Undefined when a sample is empty or all values are equal.
 */
export function mannWhitneyTest(first: readonly number[], second: readonly number[]): MannWhitneyTest | undefined {
  const [n1, n2] = [first.length, second.length];
  const n = n1 + n2;
  const { ranks, ties } = midranks([...first, ...second]);
  const square = n < 2 ? 0 : ((n1 * n2) / 12) * (n + 1 - ties / (n * (n - 1)));
  if (n1 === 0 || n2 === 0 || square <= 0) return undefined;
  const rankSum = ranks.slice(n1).reduce((sum, rank) => sum + rank, 0);
  const u = rankSum - (n2 * (n2 + 1)) / 2;
  const distance = u - (n1 * n2) / 2;
  // Half a pair towards the middle: U moves in steps, the normal distribution does not.
  const z = (Math.sign(distance) * Math.max(0, Math.abs(distance) - 0.5)) / Math.sqrt(square);
  return { u, z, p: bothTails(normalAbove(Math.abs(z))), superiority: u / (n1 * n2) };
}

/** The rank of each value from 1, equal values sharing the mean of theirs; and Σ(t³ − t) over the groups of equals. */
export function midranks(values: readonly number[]): { readonly ranks: readonly number[]; readonly ties: number } {
  const order = values.map((value, index) => ({ value, index })).sort((one, other) => one.value - other.value);
  const ranks: number[] = Array.from({ length: values.length }, () => 0);
  let ties = 0;
  let from = 0;
  while (from < order.length) {
    let to = from;
    while (order[to]?.value === order[from]?.value && to < order.length) to++;
    const size = to - from;
    ties += size ** 3 - size;
    for (const { index } of order.slice(from, to)) ranks[index] = (from + 1 + to) / 2;
    from = to;
  }
  return { ranks, ties };
}

export interface KolmogorovTest {
  /** The largest distance between the two empirical distributions. */
  readonly distance: number;
  readonly p: number;
}

/**
 * The two-sample Kolmogorov–Smirnov test, by the limiting distribution with Stephens' correction for small samples (J. Royal
 * Stat. Soc. B 32, 1970). With ties, p is too large rather than too small. Undefined when a sample is empty.
 */
export function kolmogorovTest(first: readonly number[], second: readonly number[]): KolmogorovTest | undefined {
  if (first.length === 0 || second.length === 0) return undefined;
  const distance = largestGap(first.toSorted(byValue), second.toSorted(byValue));
  const root = Math.sqrt((first.length * second.length) / (first.length + second.length));
  return { distance, p: kolmogorovAbove((root + 0.12 + 0.11 / root) * distance) };
}

function largestGap(first: readonly number[], second: readonly number[]): number {
  let [i, j, gap] = [0, 0, 0];
  while (i < first.length && j < second.length) {
    const value = Math.min(first[i] ?? Infinity, second[j] ?? Infinity);
    // Equal values are passed on both sides before the distributions are compared.
    while (first[i] === value) i++;
    while (second[j] === value) j++;
    gap = Math.max(gap, Math.abs(i / first.length - j / second.length));
  }
  return gap;
}

export interface PermutationOptions {
  readonly permutations: number;
  readonly dice: Dice;
  /** What is compared, large in size when the samples differ. Default: the difference of their means. */
  readonly statistic?: (first: readonly number[], second: readonly number[]) => number;
}

/**
 * How often would chance alone, dealing the same values anew, give a statistic as far from 0? The observed deal counts as one
 * of the deals, so that p is never 0 and the test keeps its level (Phipson and Smyth, 2010).
 */
export function permutationTest(
  first: readonly number[],
  second: readonly number[],
  options: PermutationOptions,
): number {
  const { permutations, dice, statistic = differenceOfMeans } = options;
  const observed = Math.abs(statistic(first, second));
  // A deal that only differs by rounding is as far.
  const threshold = observed * (1 - 1e-12);
  const pool = [...first, ...second];
  let asFar = 1;
  for (let deal = 0; deal < permutations; deal++) {
    shuffle(pool, dice);
    if (Math.abs(statistic(pool.slice(0, first.length), pool.slice(first.length))) >= threshold) asFar += 1;
  }
  return asFar / (permutations + 1);
}

const differenceOfMeans = (first: readonly number[], second: readonly number[]): number =>
  (meanOf(second) ?? 0) - (meanOf(first) ?? 0);

const bothTails = (oneTail: number): number => Math.min(1, 2 * oneTail);
