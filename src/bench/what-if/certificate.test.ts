// A certificate is small where the second half is like the first, and is not given where it cannot be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf, type RunRecord } from '../../record.ts';
import { baselineOf, builtinScenarios, parseScenario } from '../../scenario.ts';
import { simulate } from '../../sim.ts';
import { certify } from './certificate.ts';

function recordFor(name: string, settings: readonly string[]): RunRecord {
  const found = builtinScenarios.find((each) => each.name === name) ?? assert.fail(`no scenario ${name}`);
  const parsed = parseScenario(found.text, name, settings);
  const scenario = 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
  return recordOf([...simulate(scenario, { seed: 1, phases: [{ arrangement: baselineOf(scenario) }] })]);
}

test('half a convoy predicts the other half: throughput within 3 %, nothing more than chance', () => {
  const certificate = certify(recordFor('convoy', ['duration=40s']), 1);
  assert.ok(typeof certificate !== 'string', JSON.stringify(certificate));
  assert.deepEqual(
    certificate.rows.map(({ figure, within }) => [figure, within]),
    [
      ['throughput', true],
      ['failed', true],
      ['mean latency', true],
    ],
  );
  assert.ok(Math.abs(certificate.rows[0]?.error ?? 1) < 0.03, JSON.stringify(certificate.rows[0]));
});

test('the aftermath of an incident in the first half is predicted: nothing is served ever after', () => {
  const certificate = certify(recordFor('retry-storm', []), 1);
  assert.ok(typeof certificate !== 'string', JSON.stringify(certificate));
  const failed = certificate.rows.find(({ figure }) => figure === 'failed');
  assert.ok(failed !== undefined && failed.observed > 0.95 && Math.abs(failed.error) < 0.02, JSON.stringify(failed));
});

const reasonOf = (result: unknown): string => (typeof result === 'string' ? result : assert.fail('a reason'));

test('no certificate over what begins or ends in the second half, nor over a few seconds', () => {
  const late = certify(
    recordFor('healthy', ['faults.0={ at: 20s, slow: { replica: api-1, factor: 3 } }', 'duration=30s']),
    1,
  );
  assert.match(reasonOf(late), /could not foresee/);
  assert.match(reasonOf(certify(recordFor('healthy', ['duration=5s']), 1)), /have no halves/);
});
