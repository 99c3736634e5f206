// How unevenly something is spread over a few places: requests over replicas, say. Each measure is of amounts that are not
// negative, and undefined where nothing was spread.
//
//               4 equal    1 of 4 has all    reads as
//   Jain        1          1/4               "as if n·Jain places shared it equally"
//   Gini        0          3/4               0 … (n−1)/n
//   CV          0          √3                deviation ÷ mean (population)
//   max/mean    1          4                 how much more than its share the fullest has

import { assert } from '../base.ts';
import { meanOf } from './moments.ts';
import { byValue } from './quantile.ts';

/** (Σx)² ÷ (n·Σx²): Jain, Chiu and Hawe, DEC-TR-301, 1984. */
export function jainIndex(amounts: readonly number[]): number | undefined {
  const mean = positiveMeanOf(amounts);
  if (mean === undefined) return undefined;
  const squares = amounts.reduce((sum, amount) => sum + (amount / mean) ** 2, 0);
  return amounts.length / squares;
}

/** Half the mean difference of two places, as a share of the mean. */
export function giniIndex(amounts: readonly number[]): number | undefined {
  const mean = positiveMeanOf(amounts);
  if (mean === undefined) return undefined;
  const n = amounts.length;
  const weighted = amounts.toSorted(byValue).reduce((sum, amount, index) => sum + (2 * index + 1 - n) * amount, 0);
  return weighted / (n * n * mean);
}

/** Coefficient of variation: the deviation over these places (all there are, so n below) as a share of the mean. */
export function coefficientOfVariation(amounts: readonly number[]): number | undefined {
  const mean = positiveMeanOf(amounts);
  if (mean === undefined) return undefined;
  const variance = amounts.reduce((sum, amount) => sum + (amount / mean - 1) ** 2, 0) / amounts.length;
  return Math.sqrt(variance);
}

export function maxOverMean(amounts: readonly number[]): number | undefined {
  const mean = positiveMeanOf(amounts);
  return mean === undefined ? undefined : Math.max(...amounts) / mean;
}

function positiveMeanOf(amounts: readonly number[]): number | undefined {
  assert(
    amounts.every((amount) => amount >= 0),
    'amounts that are spread are not negative',
  );
  const mean = meanOf(amounts);
  return mean === undefined || mean === 0 ? undefined : mean;
}
