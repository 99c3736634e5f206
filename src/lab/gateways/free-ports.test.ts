import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabError } from '../lab-error.ts';
import { withFreePorts } from './free-ports.ts';

const host = '127.0.0.1';

test('the ports are different ones', async () => {
  const ports = await withFreePorts({ host, count: 3 }, async (free) => free);
  assert.equal(new Set(ports).size, 3);
  assert.ok(ports.every((port) => port > 0));
});

test('a start that meets somebody else on its port is tried again, five times in all', async () => {
  let tries = 0;
  const started = await withFreePorts({ host, count: 1 }, async () => {
    tries += 1;
    if (tries < 5) throw new LabError('cannot bind socket (Address already in use)');
    return 'up';
  });
  assert.deepEqual([started, tries], ['up', 5]);

  tries = 0;
  const always = withFreePorts({ host, count: 1 }, async () => {
    tries += 1;
    throw new LabError('bind() failed (98: Address already in use)');
  });
  await assert.rejects(always, /already in use/);
  assert.equal(tries, 5);
});

test('any other failure is not tried again', async () => {
  let tries = 0;
  const failing = withFreePorts({ host, count: 1 }, async () => {
    tries += 1;
    throw new LabError('unknown keyword in the configuration');
  });
  await assert.rejects(failing, /unknown keyword/);
  assert.equal(tries, 1);
});
