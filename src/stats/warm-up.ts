// Where the beginning ends. A run starts empty (or with a backlog) and takes a while to become what it will be; what was
// measured meanwhile biases every mean. MSER-5 cuts where the standard error of the rest is least: cutting more would throw
// away evidence, cutting less keeps the bias (White, Simulation 69, 1997; with batches of five, White, Cobb and Spratt, 2000).
//
//   ▏█▇▆▄▃▂▂▁▂▁▂▂▁▂▁▂▁▁▂▁▂▂▁     of the means of fives Y₁ … Yₘ choose d ≤ m/2 that makes
//    └── d ──┘                    Σ (Yⱼ − mean)² / (m − d)²,  j > d,  smallest
//
// When the best cut is at the middle, the run may never have settled, and no cut helps.

import { Moments } from './moments.ts';

const batchLength = 5;

export interface WarmUp {
  /** How many values to leave out. */
  readonly cut: number;
  /** Mean of the rest. */
  readonly mean: number;
  /** False when the best cut was as late as is allowed: the series was still changing. */
  readonly settled: boolean;
}

/** The cut of a series in its order. Undefined of fewer than ten values. */
export function warmUpCut(series: readonly number[]): WarmUp | undefined {
  const batches = Math.floor(series.length / batchLength);
  if (batches < 2) return undefined;
  const latest = Math.floor(batches / 2);
  const rest = new Moments();
  let best: { readonly batches: number; readonly error: number } | undefined;
  // From the end, so that one pass knows the mean and variance of every rest.
  for (let cut = batches - 1; cut >= 0; cut--) {
    rest.add(batchMean(series, cut));
    const error = ((rest.variance ?? 0) * (rest.count - 1)) / rest.count ** 2;
    if (cut <= latest && (best === undefined || error <= best.error)) best = { batches: cut, error };
  }
  if (best === undefined) return undefined;
  const cut = best.batches * batchLength;
  const kept = new Moments();
  for (const value of series.slice(cut)) kept.add(value);
  return { cut, mean: kept.mean ?? 0, settled: best.batches < latest };
}

function batchMean(series: readonly number[], batch: number): number {
  let sum = 0;
  for (let index = 0; index < batchLength; index++) sum += series[batch * batchLength + index] ?? 0;
  return sum / batchLength;
}
