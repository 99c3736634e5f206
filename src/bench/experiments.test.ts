import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { baselineOf, builtinScenarios, parseScenario, type Scenario } from '../scenario.ts';
import { arrange, inOrder } from './experiments.ts';

function scenarioNamed(name: string): Scenario {
  const text = builtinScenarios.find((one) => one.name === name)?.text ?? '';
  const parsed = parseScenario(text, name);
  assert.ok('scenario' in parsed);
  return parsed.scenario;
}

const convoy = baselineOf(scenarioNamed('convoy'));
const pickFirst = baselineOf(scenarioNamed('pick-first'));

test('an experiment changes one thing and leaves the rest of the baseline as it was', () => {
  const stopped = arrange(convoy, { kind: 'stop-replica', did: '', target: 'api-3' }, 'stop-replica');
  assert.equal(stopped.stopped?.replica, 'api-3');
  assert.deepEqual(stopped.demand, convoy.demand);
  assert.equal(stopped.policy, convoy.policy);
  const swapped = arrange(convoy, { kind: 'swap-policy', did: '', policy: 'least-request' }, 'swap-policy');
  assert.equal(swapped.policy, 'least-request');
  assert.equal(swapped.stopped, undefined);
  assert.deepEqual(swapped.demand, convoy.demand);
});

test('the same requests come due at a rate of their own when the loop is opened', () => {
  const open = arrange(convoy, { kind: 'open-loop', did: '', rate_per_s: 620 }, 'open-loop');
  const demand = open.demand[0];
  assert.ok(demand?.kind === 'open');
  assert.equal(demand.ratePerSecond, 620);
  assert.deepEqual(demand.flow, convoy.demand[0]?.flow);
});

test("the scenario's lasting faults stay in every phase, those that ended do not come back", () => {
  const baseline = {
    ...convoy,
    faults: [...convoy.faults, { kind: 'stop' as const, replica: 'api-1', at: seconds(1), for: seconds(1) }],
  };
  const phase = arrange(baseline, { kind: 'swap-policy', did: '' }, 'swap-policy');
  assert.deepEqual(phase.faults, convoy.faults);
});

test('registry clients can be given another choice or a forwarder, clients of a gateway cannot', () => {
  assert.equal(arrange(pickFirst, { kind: 'random-choice', did: '' }, 'r').clients[0]?.choice, 'random');
  assert.equal(arrange(pickFirst, { kind: 'through-forwarder', did: '' }, 'f').clients[0]?.via, 'forwarder');
  assert.deepEqual(arrange(convoy, { kind: 'random-choice', did: '' }, 'r').clients, convoy.clients);
});

test('scaling out doubles the replicas and comes last, because it cannot be taken back', () => {
  assert.deepEqual(arrange(pickFirst, { kind: 'scale-out', did: '' }, 's').replicas, { api: 8 });
  const kinds = inOrder([{ kind: 'scale-out' }, { kind: 'random-choice' }, { kind: 'stop-replica' }] as const);
  assert.deepEqual(
    kinds.map((one) => one.kind),
    ['stop-replica', 'random-choice', 'scale-out'],
  );
});
