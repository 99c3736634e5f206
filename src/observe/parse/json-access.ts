// Access logs as JSON, one object a line: Envoy's and Istio's, Caddy's, Traefik's, and everybody's own. The keys are the
// operator's; what they mean is in `access-fields.ts`. Objects inside are flattened: `request.method` is `request_method`.

import { fieldOf } from './access-fields.ts';
import { AccessRows } from './access-row.ts';
import { firstLines, type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { parseInstant } from './instants.ts';
import { blankRow, clearRow } from './request-table.ts';
import { settingOf } from './setting-words.ts';
import type { Sink } from './sink.ts';
import { parseJson } from './tree.ts';
import { WrittenWhen } from './written-when.ts';

export const jsonAccess: LineFormat = {
  kind: 'lines',
  name: 'JSON access log',
  recognise(head) {
    if (!head.trimStart().startsWith('{')) return 0;
    const rows = new AccessRows(examplesOf(head));
    const row = blankRow();
    const share = shareOfLines(head, (line) => {
      const pairs = pairsOf(line);
      if (pairs === undefined) return false;
      clearRow(row);
      return rows.fill(row, pairs) && row.status >= 0;
    });
    return 0.85 * share;
  },
  open: jsonAccessReader,
};

function jsonAccessReader(sink: Sink, head: string): LineReader {
  const rows = new AccessRows(examplesOf(head));
  const table = sink.requests(rows.program);
  const when = new WrittenWhen();
  const asked = new Set<string>();
  const row = blankRow();
  let step = Number.POSITIVE_INFINITY;
  return {
    line(text, number) {
      const pairs = pairsOf(text);
      if (pairs === undefined) return false;
      clearRow(row);
      if (!rows.fill(row, pairs)) return false;
      if (rows.timesAreStarts === undefined) when.observe(row.startMs, row.seconds);
      for (const [key, value] of pairs) {
        if (fieldOf(key)?.field === 'time') step = Math.min(step, parseInstant(value)?.stepMs ?? step);
        if (asked.size < 200 && !asked.has(key)) readSetting(key, value, number);
      }
      if (table.wants()) table.add(row);
      return true;
    },
    end() {
      if (Number.isFinite(step)) table.stepMs = Math.max(step, 0.001);
      if (rows.timesAreStarts === undefined && !when.isStart) table.timesWereEnds();
    },
  };

  /** Some lines say what bound the request: `caller_timeout_s`. The first such value is the setting. */
  function readSetting(key: string, value: JsonPair[1], line: number): void {
    asked.add(key);
    if (fieldOf(key) !== undefined) return;
    const found = settingOf(key, value, 'program');
    if (found !== undefined) sink.setting({ program: rows.program, scope: 'requests', ...found, line });
  }
}

function examplesOf(head: string): JsonPair[][] {
  return firstLines(head, 50).flatMap((line) => {
    const pairs = pairsOf(line);
    return pairs === undefined ? [] : [pairs];
  });
}

/** What a line of JSON has under one key, objects flattened. */
export type JsonPair = readonly [string, string | number | boolean];

/** The pairs of one line, flattened, lists of scalars as one text, without nulls; undefined when it is no JSON object. */
export function pairsOf(line: string): JsonPair[] | undefined {
  const at = line.indexOf('{');
  const value = at === -1 ? undefined : parseJson(at === 0 ? line : line.slice(at));
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const pairs: JsonPair[] = [];
  flatten(value, '', pairs, 0);
  return pairs;
}

function flatten(value: object, prefix: string, pairs: JsonPair[], depth: number): void {
  for (const [key, inner] of Object.entries(value)) {
    const found: unknown = inner;
    const whole = prefix === '' ? key : `${prefix}_${key}`;
    if (typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean') {
      const known = prefix === '' || fieldOf(whole) !== undefined || fieldOf(key) === undefined;
      pairs.push([known ? whole : key, found]);
    } else if (Array.isArray(found)) {
      if (found.every((item) => typeof item === 'string' || typeof item === 'number'))
        pairs.push([whole, found.join()]);
    } else if (found !== null && typeof found === 'object' && depth < 4) flatten(found, whole, pairs, depth + 1);
  }
}
