// What the configuration of an application server says, program by program the same: a directive is a setting, and where the
// file is silent the program's documented default binds, as implied.

import type { SettingKey } from '../../../record.ts';
import { parseNumber, parseSeconds, parseTruth } from '../quantities.ts';
import type { Sink } from '../sink.ts';

/** A directive as it stands: its text, and the line. */
export interface Directive {
  readonly text: string;
  readonly line: number;
}

export interface ServerRule {
  /** Names of the directive; of several the last written counts. */
  readonly names: readonly string[];
  readonly key: SettingKey;
  readonly kind: 'count' | 'seconds' | 'milliseconds' | 'truth';
  /** What the program documents for silence; undefined: nothing binds then. */
  readonly otherwise?: number | boolean;
}

/** Writes every rule, and returns the values by their keys. Values that are no value of their kind are passed over. */
export function writeRules(
  sink: Sink,
  where: { readonly program: string; readonly scope: string },
  rules: readonly ServerRule[],
  found: ReadonlyMap<string, Directive>,
): ReadonlyMap<SettingKey, number | boolean> {
  const values = new Map<SettingKey, number | boolean>();
  const first = [...found.values()][0]?.line;
  for (const { names, key, kind, otherwise } of rules) {
    const directive = names.map((name) => found.get(name)).findLast((one) => one !== undefined);
    const written = directive === undefined ? undefined : valueOf(kind, directive.text);
    const value = written ?? otherwise;
    if (value === undefined) continue;
    values.set(key, value);
    const implied = written === undefined;
    sink.setting({ ...where, key, value, implied, line: implied ? first : directive?.line });
  }
  return values;
}

function valueOf(kind: ServerRule['kind'], text: string): number | boolean | undefined {
  switch (kind) {
    case 'count':
      return parseNumber(text.replaceAll('_', ''));
    case 'seconds':
      return parseSeconds(text, 1);
    case 'milliseconds': {
      const seconds = parseSeconds(text, 1e-3);
      // Java writes −1 for a time that never ends.
      return seconds !== undefined && seconds < 0 ? Number.POSITIVE_INFINITY : seconds;
    }
    case 'truth':
      return parseTruth(text);
  }
}

/** Where a program is named by its file: the folder is of no interest. */
export function baseName(file: string): string {
  return file.replace(/^.*[/\\]/, '');
}
