// Numbers as a person would say them, with their unit.

import { formatDuration, seconds } from '../base.ts';

export type Unit = 'requests/s' | 'requests' | 'users' | 'share' | 'times' | 's' | 'yes';

/** `174/s`, `46.1`, `64 users`, `25.0 %`, `1.15 ×`, `23.0 ms`. */
export function say(value: number, unit: Unit): string {
  switch (unit) {
    case 'requests/s':
      return `${digits(value)}/s`;
    case 'requests':
      return digits(value);
    case 'users':
      return value === 1 ? 'one user' : `${digits(value)} users`;
    case 'share':
      return percent(value);
    case 'times':
      return `${value.toFixed(2)} ×`;
    case 's':
      return value === 0 ? '0 s' : formatDuration(seconds(value));
    case 'yes':
      return value >= 0.5 ? 'yes' : 'no';
  }
}

/** `25.0 %`; from 100 on and below 0.05 % without decimals. */
export function percent(value: number): string {
  const hundredths = value * 100;
  return Math.abs(hundredths) >= 99.95 || Math.abs(hundredths) < 0.005
    ? `${minus(hundredths.toFixed(0))} %`
    : `${minus(hundredths.toFixed(1))} %`;
}

/** With its sign: `+12.0 %`, `−0.8 %`. */
export function signedPercent(value: number): string {
  return value > 0 ? `+${percent(value)}` : percent(value);
}

/** `1.15 × (0.95 × to 1.35 ×)`: what is counted in times has nothing below 0, however wide its interval. */
export function sayInterval(value: number, low: number, high: number, unit: Unit): string {
  const least = unit === 'times' && value >= 0 ? Math.max(0, low) : low;
  return `${say(value, unit)} (${say(least, unit)} to ${say(high, unit)})`;
}

function minus(text: string): string {
  return text === '-0' ? '0' : text.replace('-', '−');
}

/** `15 %`, for a sentence. */
export function wholePercent(value: number): string {
  return `${(value * 100).toFixed(0)} %`;
}

/** Three significant digits; whole numbers from 100 on. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95 || Number.isInteger(value)) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

/** `at least …`, `at most …`, `… to …`. */
export function sayRange(from: number | undefined, to: number | undefined, unit: Unit): string {
  if (unit === 'yes') return (from ?? 0) >= 0.5 ? 'yes' : 'no';
  if (from === undefined) return to === undefined ? 'anything' : `at most ${say(to, unit)}`;
  if (to === undefined) return `at least ${say(from, unit)}`;
  return `${say(from, unit)} to ${say(to, unit)}`;
}

const numerals = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];

export function numeral(count: number): string {
  return numerals[count] ?? String(count);
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[], joint = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1) ?? ''}`;
}
