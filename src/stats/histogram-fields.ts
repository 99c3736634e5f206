// A histogram as the plain fields that a record keeps, and back without loss. Counts are written from the first filled
// bucket to the last; n empty buckets in a row are one number, −n, so that two far humps cost two humps:
//
//   buckets   0 0 0 5 1 0 0 0 0 2 0 0      offset = index of the 5      counts = [5, 1, −4, 2]
//
// Reading meets whatever a file holds, so what is wrong comes back as a sentence.

import { ns } from '../base.ts';
import { bucketScale, indexMinusSlot, lowestBound, overflowSlot, slotOfIndex } from './buckets.ts';
import { Histogram, type SlotCount } from './histogram.ts';

export interface HistogramFields {
  readonly scale: number;
  /** Values up to `zero_threshold_ns`. */
  readonly zero_count: number;
  readonly zero_threshold_ns: number;
  /** Index, as OpenTelemetry counts, of the first bucket in `counts`. */
  readonly offset: number;
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum_ns: number;
  /** Absent when nothing was recorded. */
  readonly min_ns?: number;
  readonly max_ns?: number;
  /** Ages of what had not ended, on the same grid. Absent when there was none. */
  readonly unfinished?: UnfinishedFields;
}

export interface UnfinishedFields {
  readonly zero_count: number;
  readonly offset: number;
  readonly counts: readonly number[];
  readonly count: number;
  readonly max_ns: number;
}

export function histogramFields(histogram: Histogram): HistogramFields {
  const { sum, min, max, slots, unfinishedMax, unfinishedSlots } = histogram.contents();
  const unfinished =
    unfinishedMax === undefined
      ? undefined
      : { ...sparseOf(unfinishedSlots), count: histogram.unfinishedCount, max_ns: unfinishedMax };
  return {
    scale: bucketScale,
    zero_threshold_ns: lowestBound,
    ...sparseOf(slots),
    count: histogram.count,
    sum_ns: sum,
    ...(min === undefined ? {} : { min_ns: min }),
    ...(max === undefined ? {} : { max_ns: max }),
    ...(unfinished === undefined ? {} : { unfinished }),
  };
}

/** The histogram that was written, or what is wrong with the fields, in a sentence. */
export function histogramOfFields(fields: HistogramFields): Histogram | { readonly problem: string } {
  if (!Number.isInteger(fields.scale) || fields.scale < bucketScale || fields.scale > 20) {
    return { problem: `scale is ${fields.scale}, expected ${bucketScale} (or finer, up to 20)` };
  }
  const slots = slotsOf(fields, fields.scale);
  if (typeof slots === 'string') return { problem: slots };
  const { min_ns: min, max_ns: max, unfinished } = fields;
  if (totalOf(slots) !== fields.count) {
    return { problem: `count is ${fields.count}, but the buckets add up to ${totalOf(slots)}` };
  }
  if (fields.count > 0 && !(min !== undefined && max !== undefined && min >= 0 && min <= max)) {
    return { problem: `min_ns is ${min} and max_ns is ${max}, expected 0 ≤ min_ns ≤ max_ns` };
  }
  if (!(fields.sum_ns >= 0 && fields.sum_ns < Infinity)) {
    return { problem: `sum_ns is ${fields.sum_ns}, expected 0 or more` };
  }
  const unfinishedSlots = unfinished === undefined ? [] : slotsOf(unfinished, fields.scale);
  if (typeof unfinishedSlots === 'string') return { problem: `unfinished: ${unfinishedSlots}` };
  if (unfinished !== undefined && totalOf(unfinishedSlots) !== unfinished.count) {
    return { problem: `unfinished: count is ${unfinished.count}, the buckets add up to ${totalOf(unfinishedSlots)}` };
  }
  return Histogram.restore({
    sum: fields.sum_ns,
    min: fields.count === 0 || min === undefined ? undefined : ns(min),
    max: fields.count === 0 || max === undefined ? undefined : ns(max),
    slots,
    unfinishedMax: unfinished === undefined ? undefined : ns(unfinished.max_ns),
    unfinishedSlots,
  });
}

interface Sparse {
  readonly zero_count: number;
  readonly offset: number;
  readonly counts: readonly number[];
}

function sparseOf(slots: readonly SlotCount[]): Sparse {
  let zeroCount = 0;
  let offset = 0;
  let previous: number | undefined;
  const counts: number[] = [];
  for (const [slot, count] of slots) {
    if (slot === 0) {
      zeroCount = count;
      continue;
    }
    if (previous === undefined) offset = slot + indexMinusSlot;
    else if (slot > previous + 1) counts.push(previous + 1 - slot);
    counts.push(count);
    previous = slot;
  }
  return { zero_count: zeroCount, offset, counts };
}

function slotsOf(sparse: Sparse, scale: number): readonly SlotCount[] | string {
  const slots: SlotCount[] = [];
  if (!Number.isSafeInteger(sparse.offset)) return `offset is ${sparse.offset}, expected a whole number`;
  if (!isCount(sparse.zero_count)) return `zero_count is ${sparse.zero_count}, expected a whole number, not negative`;
  if (sparse.zero_count > 0) slots.push([0, sparse.zero_count]);
  let index = sparse.offset;
  for (const entry of sparse.counts) {
    if (!Number.isSafeInteger(entry)) return `counts holds ${entry}, expected whole numbers`;
    if (entry <= 0) index += Math.abs(entry) || 1;
    else slots.push([slotOfIndex(index++, scale), entry]);
    if (index > maximalIndex(scale)) return `counts go on beyond the last bucket`;
  }
  return slots;
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const maximalIndex = (scale: number): number => (overflowSlot + indexMinusSlot + 1) * 2 ** (scale - bucketScale);
const totalOf = (slots: readonly SlotCount[]): number => slots.reduce((total, [, count]) => total + count, 0);
