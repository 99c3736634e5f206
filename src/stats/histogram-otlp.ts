// A histogram as OpenTelemetry's ExponentialHistogramDataPoint, and back. Without loss, because the grid is the same; the
// unit stays nanoseconds, for 10^9 is no power of two and a change of unit would move every bound. (Names follow the JSON
// form of the protocol, https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram.)
//
// Unfinished values have no place in that format: they are left out, and `unfinishedCount` beside it says how many.

import { ns } from '../base.ts';
import { bucketScale, indexMinusSlot, lowestBound, slotOfIndex } from './buckets.ts';
import { Histogram, type SlotCount } from './histogram.ts';

export interface ExponentialPoint {
  readonly count: number;
  readonly sum: number;
  readonly min?: number;
  readonly max?: number;
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: { readonly offset: number; readonly bucketCounts: readonly number[] };
}

export function exponentialPoint(histogram: Histogram): ExponentialPoint {
  const { sum, min, max, slots } = histogram.contents();
  const positive = slots.filter(([slot]) => slot > 0);
  const first = positive[0]?.[0] ?? 1;
  const last = positive.at(-1)?.[0] ?? 0;
  const bucketCounts = Array.from({ length: Math.max(0, last - first + 1) }, () => 0);
  for (const [slot, count] of positive) bucketCounts[slot - first] = count;
  return {
    count: histogram.count,
    sum,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    scale: bucketScale,
    zeroCount: slots[0]?.[0] === 0 ? slots[0][1] : 0,
    zeroThreshold: lowestBound,
    positive: { offset: first + indexMinusSlot, bucketCounts },
  };
}

/**
 * Exact from scale 7 up. Coarser points keep their own error: the middle of a bucket stands for it. A point without `min` or
 * `max` (they are optional there) gets the bounds of its outermost buckets.
 */
export function histogramOfPoint(point: ExponentialPoint): Histogram {
  const slots: SlotCount[] = [];
  if (point.zeroCount > 0) slots.push([0, point.zeroCount]);
  point.positive.bucketCounts.forEach((count, place) => {
    if (count > 0) slots.push([slotOfIndex(point.positive.offset + place, point.scale), count]);
  });
  const boundBelow = point.zeroCount > 0 ? 0 : 2 ** (point.positive.offset / 2 ** point.scale);
  const boundAbove = 2 ** ((point.positive.offset + point.positive.bucketCounts.length) / 2 ** point.scale);
  return Histogram.restore({
    sum: point.sum,
    min: slots.length === 0 ? undefined : ns(point.min ?? boundBelow),
    max: slots.length === 0 ? undefined : ns(point.max ?? boundAbove),
    slots,
    unfinishedMax: undefined,
    unfinishedSlots: [],
  });
}
