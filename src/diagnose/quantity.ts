// A number that was measured is never alone: it carries how far off it may be. The second of two seconds resembles the
// first, so the error of a mean over ticks counts fewer independent ticks than there are.

import { varianceOf } from '../stats.ts';

/** A value with its standard error, both in the same unit. An error of 0: a setting, not a measurement. */
export interface Estimate {
  readonly value: number;
  readonly error: number;
}

/** How many standard errors an interval reaches to either side: 95 %. */
export const reach = 2;

export const low = (estimate: Estimate): number => estimate.value - reach * estimate.error;
export const high = (estimate: Estimate): number => estimate.value + reach * estimate.error;
export const exactly = (value: number): Estimate => ({ value, error: 0 });

/** Mean of values taken one after another. The error grows with the lag-1 autocorrelation ρ by √((1+ρ)/(1−ρ)), ρ held in
 * 0 … 0.8: a short series cannot show more, and a negative ρ is mostly chance. Undefined for no values. */
export function meanOverTime(values: readonly number[]): Estimate | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = sum(values) / count;
  if (count === 1) return { value: mean, error: Math.abs(mean) };
  const deviations = values.map((value) => value - mean);
  const variance = sum(deviations.map((deviation) => deviation ** 2)) / (count - 1);
  if (variance === 0) return { value: mean, error: 0 };
  const lagged = sum(deviations.slice(1).map((deviation, index) => deviation * (deviations[index] ?? 0)));
  const correlation = Math.min(0.8, Math.max(0, lagged / (variance * (count - 1))));
  return { value: mean, error: Math.sqrt(((variance / count) * (1 + correlation)) / (1 - correlation)) };
}

/** Standard deviation of the values; 0 for fewer than two. */
export function deviationOf(values: readonly number[]): number {
  return Math.sqrt(varianceOf(values) ?? 0);
}

/** one ÷ other, errors taken as independent (first order). Undefined when the other is 0. */
export function quotient(one: Estimate, other: Estimate): Estimate | undefined {
  if (other.value === 0) return undefined;
  const value = one.value / other.value;
  const relative = one.value === 0 ? 0 : one.error / one.value;
  return { value, error: Math.abs(value) * Math.hypot(relative, other.error / other.value) };
}

export function scaled(estimate: Estimate, factor: number): Estimate {
  return { value: estimate.value * factor, error: estimate.error * Math.abs(factor) };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Sum of those that are known; undefined when none is. */
export function sumKnown(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : sum(known);
}
