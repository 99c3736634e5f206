// An incident as one text: a line of `===` begins a file, so that a test reads as what somebody would find.

import assert from 'node:assert/strict';
import { type Diagnosis, diagnoseDossier } from '../../diagnose.ts';
import { readDossier } from '../../observe.ts';

/** Files of an incident; each line may be indented as the test is. */
function filesOf(text: string): { name: string; text: string }[] {
  return text
    .split(/^\s*=== /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n');
      return { name: name.trim(), text: `${dedented(lines).join('\n')}\n` };
    });
}

/** Each line less far in by as much as the first is: lines that a test has put together may stand at the margin already. */
function dedented(lines: readonly string[]): string[] {
  const indent = Math.max(0, (lines.find((line) => line.trim() !== '') ?? '').search(/\S/));
  return lines.map((line) => line.slice(Math.min(indent, Math.max(0, line.search(/\S/)))).trimEnd());
}

function diagnosisOf(text: string): Diagnosis {
  const { dossier, problems } = readDossier(filesOf(text));
  assert.deepEqual(problems, []);
  return diagnoseDossier(dossier);
}

export function expectPattern(pattern: string, text: string, culprit: readonly string[] = []): void {
  const { verdict, audit } = diagnosisOf(text);
  const rows = audit
    .filter((row) => row.theory === pattern || row.theory === verdict.pattern)
    .map((row) => `${row.theory} ${row.bearing} ${row.result}: ${row.claim} ${row.observed?.text ?? row.missing}`);
  assert.equal(verdict.pattern, pattern, `${verdict.sentence}\n${rows.join('\n')}`);
  for (const word of culprit) assert.ok(verdict.culprit?.includes(word), `"${word}" in "${verdict.culprit}"`);
}

export function expectOther(patterns: readonly string[], text: string): void {
  const { verdict } = diagnosisOf(text);
  const accused = [verdict.pattern, ...(verdict.simultaneous ?? []).map((one) => one.pattern)];
  for (const pattern of patterns) assert.ok(!accused.some((one) => one === pattern), `${pattern}: ${verdict.sentence}`);
}

/** A query_range answer, a value every 15 s. */
export function matrix(values: Readonly<Record<string, readonly number[]>>): string {
  const result = Object.entries(values).map(([selector, own]) => {
    const found = /^(\w+)\{(.*)\}$/.exec(selector);
    const labels = Object.fromEntries(
      (found?.[2] ?? '').split(',').map((pair) => {
        const [key = '', value = ''] = pair.split('=');
        return [key, value.replaceAll('"', '')];
      }),
    );
    return {
      metric: { __name__: found?.[1] ?? '', ...labels },
      values: own.map((value, index) => [1_770_000_000 + 15 * index, String(value)]),
    };
  });
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
}
