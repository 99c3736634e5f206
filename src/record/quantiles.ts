// A histogram as the few numbers that a tick of the record carries.

import type { Histogram } from '../stats.ts';
import type { Quantiles } from './lines.ts';

/** Nanoseconds. Undefined when nothing was recorded. `count` and `mean_ns` are of what has ended; the rest counts the
 * unfinished as lower bounds. */
export function quantilesOf(histogram: Histogram): Quantiles | undefined {
  if (histogram.count === 0 && histogram.unfinishedCount === 0) return undefined;
  const at = (q: number): number => histogram.quantile(q)?.value ?? 0;
  return {
    count: histogram.count,
    mean_ns: histogram.mean ?? 0,
    p50_ns: at(0.5),
    p90_ns: at(0.9),
    p99_ns: at(0.99),
    max_ns: at(1),
  };
}
