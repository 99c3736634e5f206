// The gateway as an operator meets it: a process with a file, a ready line, signals and an exit code.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayChild } from './stand/child.ts';
import { gate, get, httpEndpoint } from './stand/stand.ts';

const listen = { host: '127.0.0.1', port: 0 };

test('a gateway says where it is, serves, and on SIGTERM finishes what is under way and exits with 0', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (_request, response) => {
    arrived.open();
    await finish.opened;
    response.end('finished');
  });
  const { id, host, port } = api;
  await using child = await gatewayChild({ listen, admin: listen, endpoints: [{ id, host, port }] });
  const place = await child.ready();
  assert.equal((await get(place.admin_port, '/readyz')).status, 200);
  const slow = get(place.port, '/', { agent: false });
  await arrived.opened;
  child.process.kill('SIGTERM');
  while ((await get(place.admin_port, '/readyz').catch(() => ({ status: 503 }))).status !== 503);
  finish.open();
  assert.equal((await slow).body, 'finished');
  assert.equal(await child.exit(), 0);
});

test('a gateway ends when whoever started it has gone', async () => {
  await using child = await gatewayChild({ listen, admin: listen, endpoints: [] }, true);
  await child.ready();
  child.process.stdin?.end();
  assert.equal(await child.exit(), 0);
});

test('a wrong configuration is exit code 2 with every problem on stderr', async () => {
  await using child = await gatewayChild({ listen: { host: '127.0.0.1', port: -1 }, endpoints: 3 });
  assert.equal(await child.exit(), 2);
  await child.says(/listen\.port: found -1[^]*endpoints: found 3/);
});

test('an address that is taken is exit code 1 and says so', async () => {
  await using taken = await httpEndpoint('other');
  await using child = await gatewayChild({ listen: { host: '127.0.0.1', port: taken.port }, endpoints: [] });
  assert.equal(await child.exit(), 1);
  await child.says(/cannot start: .*EADDRINUSE/);
});

test('a gateway that is held by its standard input is not succeeded by another, and says why', async () => {
  await using child = await gatewayChild({ listen, admin: listen, endpoints: [] }, true);
  const place = await child.ready();
  const answer = await get(place.admin_port, '/restart', { method: 'POST' });
  assert.equal(answer.status, 400);
  assert.match(answer.body, /standard input is held by the program that started this process/);
});
