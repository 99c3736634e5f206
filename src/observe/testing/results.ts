// Results of load generators as text, for tests: one line a result, only with what the tool said.

import type { Dossier } from '../../record.ts';

type Bars = readonly { readonly seconds: number; readonly count: number }[];
type Value = number | Readonly<Record<string, number>> | Bars;

export function resultLines(dossier: Dossier): string[] {
  return dossier.results.map((result) => {
    const { tool, run: _, origin: __, ...numbers } = result;
    return [tool, ...Object.entries(numbers).map(([name, value]) => `${name}=${written(value)}`)].join(' ');
  });
}

function written(value: Value): string {
  if (typeof value === 'number') return short(value);
  if (isBars(value)) return `[${value.map(({ seconds, count }) => `${short(seconds)}:${short(count)}`).join()}]`;
  const numbers: readonly (readonly [string, number])[] = Object.entries(value);
  return `{${numbers.map(([key, inner]) => `${key}:${short(inner)}`).join()}}`;
}

function isBars(value: Exclude<Value, number>): value is Bars {
  return Array.isArray(value);
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
