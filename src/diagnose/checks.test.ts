import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../record.ts';
import { complaints } from './checks.ts';
import { diagnose } from './diagnose.ts';
import { convoyFleet } from './testing/fleets.ts';
import { linesOf } from './testing/run.ts';

const lines = linesOf({ ...convoyFleet('api-2', 1.15), seed: 1 });

test('good data obey Little’s law and the utilisation law', () => {
  const { checks } = diagnose(recordOf(lines));
  assert.deepEqual(
    checks.map((check) => `${check.law} ${check.of} ${check.holds}`),
    ['little all clients true', ...[1, 2, 3, 4].map((number) => `utilisation api-${number} true`)],
  );
  assert.deepEqual(complaints(checks), []);
});

test('busy workers that do not fit the work they did are complained about', () => {
  const wrong = lines.map((line) =>
    line.kind === 'tick'
      ? { ...line, replicas: line.replicas.map((one) => (one.id === 'api-3' ? { ...one, busy_workers_mean: 1 } : one)) }
      : line,
  );
  const [complaint, ...rest] = complaints(diagnose(recordOf(wrong)).checks);
  assert.match(complaint ?? '', /^The utilisation law is off by 7\d\.\d % at api-3: busy workers 1\.00; /);
  assert.deepEqual(rest, []);
});
