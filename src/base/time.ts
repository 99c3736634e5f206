// Time as two kinds of number that the compiler keeps apart: an Instant is a point, a Duration is a distance. Both count
// whole nanoseconds. An Instant counts from the start of whatever is running (a process, a run, a simulation); the wall
// clock appears only in a record's header. 2^53 ns is 104 days, longer than any run.

import { assert } from './assert.ts';

declare const instant: unique symbol;
declare const duration: unique symbol;

/** Nanoseconds since the start of the run. Meaningless between two runs. */
export type Instant = number & { readonly [instant]: true };
/** Nanoseconds between two instants. */
export type Duration = number & { readonly [duration]: true };

/** The nearest whole number of nanoseconds. Infinity is allowed and means "without end"; NaN never is. */
export function ns(count: number): Duration {
  assert(!Number.isNaN(count), 'a duration is a number');
  return Math.round(count) as Duration;
}
export const us = (count: number): Duration => ns(count * 1e3);
export const ms = (count: number): Duration => ns(count * 1e6);
export const seconds = (count: number): Duration => ns(count * 1e9);
export const minutes = (count: number): Duration => ns(count * 60e9);

export function instantAt(nanoseconds: number): Instant {
  assert(!Number.isNaN(nanoseconds), 'an instant is a number');
  return Math.round(nanoseconds) as Instant;
}
export const start: Instant = instantAt(0);
export const after = (from: Instant, distance: Duration): Instant => (from + distance) as Instant;
export const between = (from: Instant, to: Instant): Duration => (to - from) as Duration;

export const inMs = (distance: Duration): number => distance / 1e6;
export const inSeconds = (distance: Duration): number => distance / 1e9;

/** `µ` is two characters that look alike: the micro sign and the Greek letter. People type either. */
const unitNs: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['\u00b5s', 1e3],
  ['\u03bcs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['min', 60e9],
  ['h', 3600e9],
]);

/**
 * Reads `250ms`, `1.5s`, `2m30s`, `1h`, and what `formatDuration` prints. Returns undefined for anything else: a bare
 * number (a unit is required, except for `0`), a sign, a length beyond 2^53 ns.
 */
export function parseDuration(text: string): Duration | undefined {
  let rest = text.trim();
  if (rest === '0') return ns(0);
  if (rest === '') return undefined;
  let total = 0;
  while (rest !== '') {
    const match = /^(\d+(?:\.\d+)?) ?([a-z\u00b5\u03bc]+) ?/.exec(rest);
    const unit = unitNs.get(match?.[2] ?? '');
    if (match === null || unit === undefined) return undefined;
    total += Number(match[1]) * unit;
    rest = rest.slice(match[0].length);
  }
  return total <= Number.MAX_SAFE_INTEGER ? ns(total) : undefined;
}

/**
 * Three significant digits with the unit a person would choose: `850 µs`, `20.3 ms`, `6.00 s`; from two minutes on whole
 * seconds, `2 m 30 s`, and from two hours on whole minutes, `2 h 5 m`.
 */
export function formatDuration(distance: Duration): string {
  const sign = distance < 0 ? '-' : '';
  const size = Math.abs(distance);
  if (size === Number.POSITIVE_INFINITY) return `${sign}∞`;
  // Each limit is where rounding to three digits would print 1000 (or 120) of the smaller unit.
  if (size < 1e3) return `${sign}${size} ns`;
  if (size < 999.5e3) return `${sign}${threeDigits(size / 1e3)} µs`;
  if (size < 999.5e6) return `${sign}${threeDigits(size / 1e6)} ms`;
  if (size < 119.5e9) return `${sign}${threeDigits(size / 1e9)} s`;
  const wholeSeconds = Math.round(size / 1e9);
  if (wholeSeconds < 7200) return sign + twoUnits(wholeSeconds, 'm', 's');
  return sign + twoUnits(Math.round(wholeSeconds / 60), 'h', 'm');
}

function twoUnits(count: number, large: string, small: string): string {
  const rest = count % 60;
  return `${Math.trunc(count / 60)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

function threeDigits(size: number): string {
  if (size >= 99.95) return size.toFixed(0);
  if (size >= 9.995) return size.toFixed(1);
  return size.toFixed(2);
}
