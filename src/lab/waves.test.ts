import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '../scenario.ts';
import { wavesOf } from './waves.ts';

const call = (to: string): Call => ({ to, timeout: undefined, retries: 0, choice: 'round-robin' });

test('whoever is called is started before those who call', () => {
  const services = [
    { name: 'front', calls: [call('api'), call('store')] },
    { name: 'api', calls: [call('store')] },
    { name: 'alone', calls: [] },
  ];
  assert.deepEqual(wavesOf(services, [{ name: 'store' }]), [['store', 'alone'], ['api'], ['front']]);
});

test('a circle of calls is named', () => {
  const services = [
    { name: 'front', calls: [call('api')] },
    { name: 'api', calls: [call('front')] },
  ];
  assert.throws(() => wavesOf(services, []), /circle.*front → api; api → front/);
});
