// Stopping in order: what is under way is finished, whoever comes later is told to go elsewhere.

import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { gate, get, httpEndpoint, stand, Talk } from './stand/stand.ts';

test('a drain finishes what is under way, says close with it, and takes no new connection', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (_request, response) => {
    arrived.open();
    await finish.opened;
    response.end('finished');
  });
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.opened;
  const drained = gateway.gateway.drain();
  assert.equal((await get(gateway.adminPort, '/readyz')).body, 'draining\n');
  await assert.rejects(get(gateway.port), /ECONNREFUSED/);
  finish.open();
  assert.match(await talk.toTheEnd(), /^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n[^]*finished$/);
  talk.socket.end();
  assert.equal(await drained, 0);
});

test('a kept connection is served once more while the gateway drains', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api]);
  using talk = await Talk.with(gateway.port);
  talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await talk.until(/api-1\n$/);
  const drained = gateway.gateway.drain();
  await new Promise((resolve) => setImmediate(resolve));
  talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(await talk.toTheEnd(), /connection: close\r\n[^]*api-1\n$/);
  talk.socket.end();
  assert.equal(await drained, 0);
});

test('a drain that takes too long ends what is left and says how much that was', async () => {
  const arrived = gate();
  await using api = await httpEndpoint('api-1', () => arrived.open());
  await using gateway = await stand([api], { limits: { drain_timeout_ns: 50e6 } });
  const lost = assert.rejects(get(gateway.port));
  await arrived.opened;
  assert.equal(await gateway.gateway.drain(), 1);
  await lost;
});

test('no request is lost by a client that goes elsewhere when it is told to', async () => {
  await using api = await httpEndpoint('api-1', (_request, response) => setImmediate(() => response.end()));
  await using first = await stand([api]);
  await using second = await stand([api]);
  const agent = new http.Agent({ keepAlive: true });
  const state = { draining: false, stopped: false, served: 0 };
  const user = async (): Promise<void> => {
    while (!state.stopped) {
      const port = state.draining ? second.port : first.port;
      const { status } = await get(port, '/', { agent });
      assert.equal(status, 200);
      state.served += 1;
    }
  };
  const users = Promise.all(Array.from({ length: 16 }, user));
  while (state.served < 200) await new Promise((resolve) => setImmediate(resolve));
  // As a rolling update does it: the address is taken away first, then the gateway is told to stop.
  state.draining = true;
  assert.equal(await first.gateway.drain(), 0);
  const goal = state.served + 200;
  while (state.served < goal) await new Promise((resolve) => setImmediate(resolve));
  state.stopped = true;
  await users;
  agent.destroy();
});
