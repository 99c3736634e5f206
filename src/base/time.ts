// Time as two kinds of number that the compiler keeps apart: an Instant is a point, a Duration is a distance. Both count
// whole nanoseconds. An Instant counts from the start of whatever is running (a process, a run, a simulation); the wall
// clock appears only in a record's header. 2^53 ns is 104 days, longer than any run.

declare const instant: unique symbol;
declare const duration: unique symbol;

/** Nanoseconds since the start of the run. Meaningless between two runs. */
export type Instant = number & { readonly [instant]: true };
/** Nanoseconds between two instants. */
export type Duration = number & { readonly [duration]: true };

export const ns = (count: number): Duration => Math.round(count) as Duration;
export const us = (count: number): Duration => ns(count * 1e3);
export const ms = (count: number): Duration => ns(count * 1e6);
export const seconds = (count: number): Duration => ns(count * 1e9);
export const minutes = (count: number): Duration => ns(count * 60e9);

export const instantAt = (nanoseconds: number): Instant => Math.round(nanoseconds) as Instant;
export const start: Instant = instantAt(0);
export const after = (from: Instant, distance: Duration): Instant => (from + distance) as Instant;
export const between = (from: Instant, to: Instant): Duration => (to - from) as Duration;

export const inMs = (distance: Duration): number => distance / 1e6;
export const inSeconds = (distance: Duration): number => distance / 1e9;

const unitNs: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
};

/** Reads `250ms`, `1.5s`, `2m30s`, `1h`. Returns undefined for anything else, a bare number included: a unit is required. */
export function parseDuration(text: string): Duration | undefined {
  const trimmed = text.trim();
  if (trimmed === '0') return ns(0);
  let total = 0;
  let rest = trimmed;
  if (rest === '') return undefined;
  while (rest !== '') {
    const match = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|min|s|m|h)/.exec(rest);
    if (match === null) return undefined;
    total += Number(match[1]) * (unitNs[match[2] ?? ''] ?? Number.NaN);
    rest = rest.slice(match[0].length);
  }
  return ns(total);
}

/** Three significant digits with the unit a person would choose: `850 µs`, `20.3 ms`, `6.00 s`, `2 m 30 s`. */
export function formatDuration(distance: Duration): string {
  const size = Math.abs(distance);
  if (size < 1e3) return `${distance} ns`;
  if (size < 999.5e3) return `${threeDigits(distance / 1e3)} µs`;
  if (size < 999.5e6) return `${threeDigits(distance / 1e6)} ms`;
  if (size < 119.95e9) return `${threeDigits(distance / 1e9)} s`;
  const whole = Math.round(distance / 1e9);
  const rest = Math.abs(whole % 60);
  return rest === 0 ? `${Math.trunc(whole / 60)} m` : `${Math.trunc(whole / 60)} m ${rest} s`;
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}
