// Quantiles of samples that are small enough to be kept: exact, and with an interval that assumes nothing about where the
// values come from.

import { assert } from '../base.ts';
import { binomialAtMost } from './distributions.ts';

/**
 * The q-quantile, linear between the two nearest values (definition 7 of Hyndman and Fan, The American Statistician 50, 1996,
 * which R and NumPy use unless told otherwise). Undefined of nothing.
 */
export function quantileOf(values: readonly number[], q: number): number | undefined {
  return quantileOfSorted(values.toSorted(byValue), q);
}

/** The same of values that are already in rising order. */
export function quantileOfSorted(sorted: readonly number[], q: number): number | undefined {
  assert(q >= 0 && q <= 1, 'a quantile lies between 0 and 1');
  const place = q * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) return undefined;
  return below + (place - Math.floor(place)) * (above - below);
}

export const medianOf = (values: readonly number[]): number | undefined => quantileOf(values, 0.5);

/**
 * Two of the values, between which the true q-quantile lies with at least the given confidence, whatever the distribution:
 * how many of n independent values are below it is binomial. Undefined when there are too few values to say so.
 */
export function quantileInterval(
  values: readonly number[],
  q: number,
  confidence: number,
): { readonly low: number; readonly high: number } | undefined {
  const sorted = values.toSorted(byValue);
  const count = sorted.length;
  const tail = (1 - confidence) / 2;
  // The k-th smallest is above the quantile when fewer than k values are below it, and below it when k or more are.
  const lowRank = firstWhere(count + 1, (rank) => binomialAtMost(rank, count, q) > tail);
  const highRank = firstWhere(count + 1, (rank) => 1 - binomialAtMost(rank - 1, count, q) <= tail);
  const low = sorted[lowRank - 1];
  const high = sorted[highRank - 1];
  return low === undefined || high === undefined ? undefined : { low, high };
}

/** The least whole number from 0 for which a condition holds that goes on holding; `bound` when it holds for none below. */
function firstWhere(bound: number, holds: (candidate: number) => boolean): number {
  let low = 0;
  let high = bound;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export const byValue = (one: number, other: number): number => one - other;
