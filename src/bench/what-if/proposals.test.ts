// What each story leaves open. Nothing is proposed that its settings already have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinScenarios, parseScenario } from '../../scenario.ts';
import { changed, changeText } from './changes.ts';
import { proposedChanges } from './proposals.ts';

function proposedFor(name: string, settings: readonly string[] = []): readonly string[] {
  const found = builtinScenarios.find((each) => each.name === name) ?? assert.fail(`no scenario ${name}`);
  const parsed = parseScenario(found.text, name, settings);
  const scenario = 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
  const changes = proposedChanges(scenario);
  for (const change of changes) assert.notEqual(typeof changed(scenario, change), 'string', changeText(change));
  return changes.map(changeText);
}

const usual = ['processors 2 times as fast', '5 replicas'];

test('no-healthy-upstream leaves everything open', () => {
  assert.deepEqual(proposedFor('no-healthy-upstream'), [
    'calls give up after 200 ms',
    'retry budget 10 %',
    'back-off 1.00 s',
    'at most 12 waiting in each',
    'health checks with workers of their own',
    'policy least-request',
    ...usual,
    '12 workers each',
  ]);
});

test('with a short timeout, a budget, bounded queues and checks of their own there is less to propose', () => {
  const settings = [
    'services.api.calls.0={ to: store, timeout: 100ms }',
    'services.api.queue={ limit: 10 }',
    'services.api.health_shares_pool=false',
    'clients.callers.retry.budget=10%',
  ];
  assert.deepEqual(proposedFor('no-healthy-upstream', settings), [
    'back-off 1.00 s',
    'policy least-request',
    ...usual,
    '12 workers each',
  ]);
});

test('who takes the first of a list is told to choose otherwise', () => {
  const proposed = proposedFor('pick-first');
  assert.deepEqual(
    proposed.filter((text) => text.startsWith('policy')),
    ['policy random', 'policy round-robin'],
  );
});

test('every built-in scenario has changes that can be made', () => {
  for (const { name } of builtinScenarios) assert.ok(proposedFor(name).length >= 3, name);
});
