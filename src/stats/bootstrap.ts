// An interval for any statistic of independent values, where no formula is at hand: draw as many from the values themselves,
// again and again, and see how the statistic scatters. The ends are corrected for bias and for a spread that changes with the
// value (BCa: Efron, J. American Stat. Assoc. 82, 1987), without which skewed latencies get an interval that is shifted.
//
// It cannot know what is not in the sample: for the maximum, or a p99 of fifty values, it is wrong whatever the number of
// draws. `quantileInterval` says so where that is the case.

import { assert, type Dice } from '../base.ts';
import { normalBelow, normalQuantile } from './distributions.ts';
import { meanOf } from './moments.ts';
import { byValue, quantileOfSorted } from './quantile.ts';

export interface BootstrapOptions {
  readonly resamples: number;
  readonly confidence: number;
  readonly dice: Dice;
}

export interface BootstrapInterval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** Undefined of fewer than two values. */
export function bootstrapInterval(
  values: readonly number[],
  statistic: (values: readonly number[]) => number,
  options: BootstrapOptions,
): BootstrapInterval | undefined {
  const { resamples, confidence, dice } = options;
  assert(confidence > 0 && confidence < 1, 'a confidence lies between 0 and 1');
  if (values.length < 2) return undefined;
  const estimate = statistic(values);
  const draws = Array.from({ length: resamples }, () => statistic(drawAnew(values, dice))).sort(byValue);
  const bias = biasOf(draws, estimate);
  const acceleration = accelerationOf(values, statistic);
  const endAt = (tail: number): number => {
    const z = bias + normalQuantile(tail);
    return quantileOfSorted(draws, normalBelow(bias + z / (1 - acceleration * z))) ?? estimate;
  };
  return { estimate, low: endAt((1 - confidence) / 2), high: endAt((1 + confidence) / 2) };
}

function drawAnew(values: readonly number[], dice: Dice): readonly number[] {
  return Array.from({ length: values.length }, () => values[dice.below(values.length)] ?? 0);
}

/** How far the middle of the draws is from the estimate, in deviations. Draws that equal it count half. */
function biasOf(draws: readonly number[], estimate: number): number {
  let below = 0;
  for (const draw of draws) below += draw < estimate ? 1 : draw === estimate ? 0.5 : 0;
  // Not quite 0 or 1: an infinite correction would leave no interval at all.
  const share = Math.min(Math.max(below / draws.length, 0.5 / draws.length), 1 - 0.5 / draws.length);
  return normalQuantile(share);
}

/** How the spread changes with the value: the skewness of what leaving out one value does, over 6. */
function accelerationOf(values: readonly number[], statistic: (values: readonly number[]) => number): number {
  const without = values.map((_, left) => statistic(values.filter((__, index) => index !== left)));
  const mean = meanOf(without) ?? 0;
  const squares = without.reduce((sum, one) => sum + (mean - one) ** 2, 0);
  const cubes = without.reduce((sum, one) => sum + (mean - one) ** 3, 0);
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}
