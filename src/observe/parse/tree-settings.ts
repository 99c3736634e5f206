// From values in a tree to settings: the few moves that every reader of YAML and JSON configurations makes. A setting is
// written with the place where it stands; where nothing stands but something binds, it is implied, at the line of its owner.

import type { SettingKey } from '../../record.ts';
import { parseNumber, parseSeconds } from './quantities.ts';
import type { Sink } from './sink.ts';
import { type Tree, valueAt } from './tree.ts';

/** Writes a setting of one scope; nothing when there is no value. `found`: where it was written. */
export type Write = (key: SettingKey, value: number | string | boolean | undefined, found?: Tree) => void;

export function writer(sink: Sink, program: string, scope: string, owner: Tree): Write {
  return (key, value, found) => {
    if (value === undefined || (typeof value === 'number' && Number.isNaN(value))) return;
    sink.setting({ program, scope, key, value, implied: found === undefined, line: found?.line ?? owner.line });
  };
}

/** The same for what was written only: nothing is implied. */
export function writtenOnly(write: Write): Write {
  return (key, value, found) => {
    if (found !== undefined) write(key, value, found);
  };
}

/** The duration that stands there, else the one that binds without (none when undefined). */
export function writeDuration(
  write: Write,
  key: SettingKey,
  found: Tree | undefined,
  otherwise?: number,
  unit: number = 1,
): void {
  const seconds = secondsOf(found, unit);
  write(key, seconds ?? otherwise, seconds === undefined ? undefined : found);
}

/** The number that stands there times `scale`, else what binds without. */
export function writeNumber(
  write: Write,
  key: SettingKey,
  found: Tree | undefined,
  otherwise?: number,
  scale: number = 1,
): void {
  const number = numberOf(found);
  const value = number ?? otherwise;
  // 70 % should read 0.7.
  const scaled = value === undefined ? undefined : Number((value * scale).toPrecision(12));
  write(key, scaled, number === undefined ? undefined : found);
}

/** The text that stands there. */
export function writeText(write: Write, key: SettingKey, found: Tree | undefined, otherwise?: string): void {
  const written = found?.kind === 'scalar' && found.value !== undefined;
  write(key, written ? String(found.value) : otherwise, written ? found : undefined);
}

/** A duration as text or number, or as a `Duration` message in JSON: `{ seconds, nanos }`. */
export function secondsOf(tree: Tree | undefined, unit: number = 1): number | undefined {
  if (tree?.kind === 'map') {
    const seconds = parseNumber(valueAt(tree, 'seconds'));
    const nanos = parseNumber(valueAt(tree, 'nanos'));
    return seconds === undefined && nanos === undefined ? undefined : (seconds ?? 0) + (nanos ?? 0) / 1e9;
  }
  return parseSeconds(tree?.kind === 'scalar' ? tree.value : undefined, unit);
}

/** A number, in quotes too, also as a wrapped one: `{ value: 3 }`. */
export function numberOf(tree: Tree | undefined): number | undefined {
  if (tree?.kind === 'map') return parseNumber(valueAt(tree, 'value'));
  return parseNumber(tree?.kind === 'scalar' ? tree.value : undefined);
}
