// A fleet that an autoscaler makes larger and smaller, as the diagnosis sees it: nobody is accused for having been there for a while.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diagnose } from '../diagnose.ts';
import { recordOf } from '../record.ts';
import { formatProblem, parseScenario } from '../scenario.ts';
import { simulate } from '../sim.ts';

function verdictOf(autoscale: string, stages: string, policy = 'least-request') {
  const text = `plimsoll: 1
services: { api: { replicas: 4, workers: 8, service_time: exponential 40ms, autoscale: { min: 2, max: 10, ${autoscale} } } }
gateway: { policy: ${policy}, timeout: 4s, health: {} }
demand: [{ open: { rate: 450/s, stages: [${stages}] } }]
warm_up: 10s
duration: 200s
`;
  const parsed = parseScenario(text, 'autoscaled.yaml');
  if ('problems' in parsed) assert.fail(parsed.problems.map(formatProblem).join('\n'));
  const lines = [...simulate(parsed.scenario, { seed: 1 })];
  const moves = lines.filter((line) => line.kind === 'event' && /^replica-(added|removed)$/.test(line.event)).length;
  return { moves, verdict: diagnose(recordOf(lines)).verdict };
}

test('a fleet that grows and shrinks in time is healthy, by either policy', () => {
  for (const policy of ['least-request', 'round-robin']) {
    const { moves, verdict } = verdictOf(
      'start_lag: 10s, scale_down_after: 30s',
      '{ over: 100s, to: 650/s }, { over: 30s, to: 300/s }, { over: 100s, to: 300/s }',
      policy,
    );
    assert.ok(moves >= 2, `${moves} came or went`);
    assert.equal(verdict.pattern, 'healthy', verdict.sentence);
  }
});

test('a surge for which the replicas come too late has no culprit, and was not dealt unevenly', () => {
  const { moves, verdict } = verdictOf(
    'start_lag: 30s, scale_down_after: 30s',
    '{ over: 20s, to: 450/s }, { over: 0s, to: 1600/s }, { over: 70s, to: 1600/s }, { over: 0s, to: 450/s }, { over: 200s, to: 450/s }',
  );
  assert.ok(moves > 0);
  assert.equal(verdict.culprit, undefined, verdict.sentence);
  assert.doesNotMatch(verdict.sentence, /unevenly/);
});
