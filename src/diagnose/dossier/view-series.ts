// Numbers over time, before and after something: what a series was like, when it changed for good, and how steeply it climbs.

import type { SeriesFact } from '../../record.ts';
import { medianOf, type View } from './view.ts';

/** The first series whose name, or what its labels say beside it, is of this kind. */
export function seriesLike(view: View, pattern: RegExp, not?: RegExp): SeriesFact | undefined {
  return view.dossier.series.find((series) => {
    const whole = wholeName(series);
    return pattern.test(whole) && not?.test(whole) !== true;
  });
}

/** `requests_per_second{kind="goodput"}` → `goodput_requests_per_second`. */
export function wholeName(series: SeriesFact): string {
  const labels = Object.entries(series.labels).flatMap(([key, value]) =>
    /^(?:kind|type|series|name|what|metric)$/.test(key) ? [value] : [],
  );
  return [...labels, series.name].join('_').toLowerCase();
}

/** Two series added, instant by instant. */
export function added(one: SeriesFact, other: SeriesFact): SeriesFact {
  const at = new Map(other.atMs.map((instant, index) => [instant, other.values[index] ?? 0]));
  return { ...one, values: one.values.map((value, index) => value + (at.get(one.atMs[index] ?? Number.NaN) ?? 0)) };
}

/** Values of a series in a stretch of time. */
export function within(series: SeriesFact, fromMs: number, toMs: number): number[] {
  return series.values.filter((_, index) => {
    const at = series.atMs[index] ?? Number.NaN;
    return at >= fromMs && at < toMs;
  });
}

/** The middle of a series in a stretch; undefined where it has fewer than `least` values. */
export function level(series: SeriesFact | undefined, fromMs: number, toMs: number, least = 2): number | undefined {
  if (series === undefined) return undefined;
  const values = within(series, fromMs, toMs);
  return values.length < least ? undefined : medianOf(values);
}

/** Growth a second between the first and the last value of a stretch; undefined with fewer than three. */
export function slope(series: SeriesFact | undefined, fromMs: number, toMs: number): number | undefined {
  if (series === undefined) return undefined;
  const points = series.atMs.flatMap((at, index) =>
    at >= fromMs && at < toMs ? [{ at, value: series.values[index] ?? 0 }] : [],
  );
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 3) return undefined;
  return (last.value - first.value) / ((last.at - first.at) / 1000);
}

export interface Shift {
  /** The last instant of the old level and the first of the new one. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly before: number;
  readonly after: number;
}

/**
 * Where a series changes level most: the cut that leaves the least spread on both sides (absolute deviations from the medians).
 * Undefined when it is too short or the change is no more than a fifth of the larger level.
 */
export function shiftOf(series: SeriesFact): Shift | undefined {
  const { values, atMs } = series;
  const least = Math.max(2, Math.floor(values.length / 20));
  let best: { cost: number; at: number; before: number; after: number } | undefined;
  for (let at = least; at <= values.length - least; at++) {
    const left = values.slice(0, at);
    const right = values.slice(at);
    const before = medianOf(left) ?? 0;
    const after = medianOf(right) ?? 0;
    const cost =
      left.reduce((sum, one) => sum + Math.abs(one - before), 0) +
      right.reduce((sum, one) => sum + Math.abs(one - after), 0);
    if (best === undefined || cost < best.cost) best = { cost, at, before, after };
  }
  if (best === undefined) return undefined;
  if (Math.abs(best.after - best.before) < 0.2 * Math.max(Math.abs(best.after), Math.abs(best.before)))
    return undefined;
  return { fromMs: atMs[best.at - 1] ?? 0, toMs: atMs[best.at] ?? 0, before: best.before, after: best.after };
}

export interface Spell {
  readonly before: number;
  readonly during: number;
  /** The last instant before it, its first and its last. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly endMs: number;
}

/** A spell that has come and gone: three readings or more at three times the usual, and the usual before and after. */
export function spellOf({ values, atMs }: Pick<SeriesFact, 'values' | 'atMs'>): Spell | undefined {
  const usual = medianOf([...values.slice(0, 3), ...values.slice(-3)]);
  if (usual === undefined || values.length < 9) return undefined;
  const isHigh = (value: number): boolean => value >= 3 * usual && value > 0;
  const high = values.filter(isHigh);
  if (high.length < 3 || [...values.slice(0, 2), ...values.slice(-2)].some(isHigh)) return undefined;
  const first = values.findIndex(isHigh);
  return {
    before: usual,
    during: medianOf(high) ?? usual,
    fromMs: atMs[first - 1] ?? 0,
    toMs: atMs[first] ?? 0,
    endMs: atMs[values.findLastIndex(isHigh)] ?? 0,
  };
}
