import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../record.ts';
import { type PlannedExperiment, planExperiments } from './plan.ts';
import {
  convoyFleet,
  evenFleet,
  openFleet,
  overloadFleet,
  pickFirstFleet,
  slowReplicaFleet,
  thoughtfulFleet,
  weakGenerator,
} from './testing/fleets.ts';
import { allExperiments, linesOf, type RunSpec } from './testing/run.ts';

function planFor(fleet: Omit<RunSpec, 'seed'>, available = allExperiments, seed = 1): PlannedExperiment[] {
  return planExperiments(recordOf(linesOf({ ...fleet, seed })), available);
}

const kinds = (plan: readonly PlannedExperiment[]): string[] => plan.map((one) => one.kind);

test('a convoy is tried by taking away each of its parts, and by moving the curse', () => {
  const plan = planFor(convoyFleet('api-2', 1.15));
  assert.deepEqual(kinds(plan), ['stop-replica', 'open-loop', 'swap-policy', 'slow-another']);
  const [stop, open, swap, slow] = plan;
  assert.equal(stop?.target, 'api-3', 'not the suspect');
  assert.ok(stop?.tellsFrom.includes('slow-replica') && stop.tellsFrom.includes('skewed-balancer'));
  assert.ok(
    (open?.rate_per_s ?? 0) > 560 && (open?.rate_per_s ?? 0) < 620,
    'below what the slowest can do, four times',
  );
  assert.ok(open?.tellsFrom.includes('slow-replica'));
  assert.equal(swap?.policy, 'least-request');
  assert.equal(slow?.target, 'api-4');
  assert.ok((slow?.factor ?? 0) >= 1.5, 'clearly slower than the suspect');
  assert.ok(slow?.tellsFrom.includes('slow-replica'));
});

test('the replica made slower is clearly slower than the suspect, however slow that is', () => {
  const slow = planFor(convoyFleet('api-4', 1.5)).find((one) => one.kind === 'slow-another');
  assert.ok((slow?.factor ?? 0) > 1.5 * 1.15, `${slow?.factor}`);
  assert.notEqual(slow?.target, 'api-4');
});

test('when it is close, two more experiments in which the suspect works at full speed', () => {
  // Not in every run: by luck the first 16 s may already tell.
  const plans = [1, 2, 3, 4, 5, 6].map((seed) => kinds(planFor(convoyFleet('api-2', 1.05), allExperiments, seed)));
  const close = plans.filter((plan) => plan.length === 6);
  assert.ok(close.length >= 3);
  for (const plan of close) {
    assert.ok(plan.includes('less-load') && plan.includes('scale-out') && plan.includes('stop-replica'));
  }
  assert.ok(kinds(planFor(evenFleet)).includes('stop-replica'), 'equal replicas are close as well');
});

test('pick-first, a defective replica and overload have experiments of their own', () => {
  assert.deepEqual(kinds(planFor(pickFirstFleet(240))), [
    'random-choice',
    'scale-out',
    'scale-up',
    'through-forwarder',
  ]);
  assert.deepEqual(kinds(planFor(slowReplicaFleet('api-3', 3, 280))), ['visit-alone', 'stop-replica', 'kill-suspect']);
  assert.deepEqual(kinds(planFor(overloadFleet(1000))), ['scale-out', 'less-load']);
});

test('a healthy fleet is left alone, and a weak generator is not worth an experiment', () => {
  for (let seed = 1; seed <= 5; seed++) {
    assert.deepEqual(planFor(thoughtfulFleet('api-2', 1.3), allExperiments, seed), []);
    assert.deepEqual(planFor(openFleet(400), allExperiments, seed), []);
  }
  assert.deepEqual(planFor(weakGenerator), []);
});

test('only what can be done is proposed, and nothing for an empty record', () => {
  assert.deepEqual(kinds(planFor(convoyFleet('api-2', 1.15), ['swap-policy', 'kill-suspect'])), ['swap-policy']);
  assert.deepEqual(planExperiments({ phases: [] }, allExperiments), []);
});

test('what was done is said in the past tense, as a record’s phase line wants it', () => {
  for (const one of planFor(convoyFleet('api-2', 1.15))) assert.match(one.did, /^(stopped|offered|balanced|made) /);
});
