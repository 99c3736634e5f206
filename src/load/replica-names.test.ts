import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicaNames } from './replica-names.ts';

test('a name keeps its number', () => {
  const names = new ReplicaNames();
  assert.deepEqual(
    ['api-1', 'api-2', 'api-1'].map((name) => names.indexOf(name)),
    [0, 1, 0],
  );
  assert.equal(names.nameOf(1), 'api-2');
});

test('a server that never says the same name twice fills no memory: from some thousands on it is "others"', () => {
  const names = new ReplicaNames();
  for (let count = 0; count < 5000; count++) names.indexOf(`name-${count}`);
  assert.equal(names.nameOf(names.indexOf('name-4095')), 'name-4095');
  assert.equal(names.nameOf(names.indexOf('name-4096')), 'others');
  assert.equal(names.indexOf('never seen'), names.indexOf('nor this'));
});
