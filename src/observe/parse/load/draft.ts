// What readers of load results share: a result that fills up as lines are met, and the few ways in which tools write numbers.

import type { LoadResultFact } from '../../../record.ts';
import { parseNumber } from '../quantities.ts';
import type { Sink } from '../sink.ts';

/** A result in the making. */
export type LoadDraft = { -readonly [Key in keyof Omit<LoadResultFact, 'origin'>]: LoadResultFact[Key] };

/** Writes a field, when there is something to write. */
export function put<Key extends keyof LoadDraft>(draft: LoadDraft, key: Key, value: LoadDraft[Key] | undefined): void {
  if (value !== undefined) draft[key] = value;
}

/** The file without folders and ending: what tells runs apart. */
export function runOf(sink: Sink): string {
  return sink.file.replace(/^.*[/\\]/, '').replace(/\.(?:json|txt|csv|jtl|log|out)$/i, '');
}

/** The key of a quantile: `99.9` (percent) → `0.999`. */
export function quantileKey(percent: number): string {
  return String(Number((percent / 100).toPrecision(12)));
}

/** Milliseconds, microseconds, … to seconds, without the dust of floating point; undefined stays undefined. */
export function scaled(value: number | undefined, unit: number): number | undefined {
  return value === undefined ? undefined : Number((value * unit).toPrecision(12));
}

/** Times by the names that tools give them, as seconds by quantile: `p99`, `p(99)`, `99th`, `med`, `avg`, `p97_5`. */
export function latenciesOf(times: Readonly<Record<string, number>>, unit: number): Record<string, number> | undefined {
  const found: Record<string, number> = {};
  for (const [name, value] of Object.entries(times)) {
    const key = latencyKey(name);
    if (key !== undefined) found[key] = scaled(value, unit) ?? value;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function latencyKey(name: string): string | undefined {
  if (/^(?:avg|mean|average)$/i.test(name)) return 'mean';
  if (/^(?:med|median)$/i.test(name)) return '0.5';
  if (/^min(?:imum)?$|^fastest$/i.test(name)) return '0';
  if (/^max(?:imum)?$|^slowest$/i.test(name)) return '1';
  const percent = /^p?\(?(\d+(?:[._]\d+)?)\)?(?:th|%)?$/i.exec(name)?.[1];
  const number = percent === undefined ? undefined : parseNumber(percent.replace('_', '.'));
  return number === undefined || number > 100 ? undefined : quantileKey(number);
}

/** `56.20k` → 56 200. */
export function countOf(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?)([kKMG]?)$/.exec((text ?? '').replaceAll(',', ''));
  if (found === null) return undefined;
  return Number((Number(found[1]) * ({ k: 1e3, K: 1e3, M: 1e6, G: 1e9 }[found[2] ?? ''] ?? 1)).toPrecision(12));
}
