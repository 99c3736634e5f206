// Endpoints come, go, fall ill and recover, and the policy changes, while requests go on: none of them notices.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import {
  type Answer,
  gate,
  get,
  httpEndpoint,
  type HttpEndpoint,
  sample,
  stand,
  type Stand,
  Talk,
} from './stand/stand.ts';

const entry = ({ id, host, port }: HttpEndpoint) => ({ id, host, port });

async function order(gateway: Stand, path: string, body: unknown): Promise<Answer> {
  return get(gateway.adminPort, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** `users` clients ask one after another until `stop`; every answer must be 200. Returns who answered how often. */
function load(port: number, users: number): { stop(): Promise<Map<string, number>> } {
  const running = { stopped: false };
  const answers = new Map<string, number>();
  const user = async (): Promise<void> => {
    while (!running.stopped) {
      const { status, headers } = await get(port, '/', { method: 'POST', body: 'x' });
      assert.equal(status, 200);
      const replica = String(headers['x-plimsoll-replica']);
      answers.set(replica, (answers.get(replica) ?? 0) + 1);
    }
  };
  const all = Promise.all(Array.from({ length: users }, user));
  return {
    stop: async () => {
      running.stopped = true;
      await all;
      return answers;
    },
  };
}

test('no request is lost while the list of endpoints changes under load', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  await using three = await httpEndpoint('api-3');
  await using gateway = await stand([one, two]);
  const running = load(gateway.port, 8);
  const lists = [[one], [two, three], [three], [one, two, three], [two], [three, one]];
  for (let round = 0; round < 30; round++) {
    const answer = await order(gateway, '/endpoints', { endpoints: lists[round % lists.length]?.map(entry) });
    assert.equal(answer.status, 200);
    await get(gateway.port);
  }
  const answers = await running.stop();
  assert.deepEqual([...answers.keys()].toSorted(), ['api-1', 'api-2', 'api-3']);
});

test('an endpoint that leaves finishes what it has, and gets nothing more', async () => {
  const arrived = gate();
  const finish = gate();
  await using one = await httpEndpoint('api-1', async (_request, response) => {
    arrived.open();
    await finish.opened;
    response.end('finished');
  });
  await using two = await httpEndpoint('api-2');
  await using gateway = await stand([one]);
  const slow = get(gateway.port);
  await arrived.opened;
  await order(gateway, '/endpoints', [entry(two)]);
  const page = await get(gateway.adminPort, '/metrics');
  assert.equal(sample(page.body, 'plimsoll_gateway_endpoint_in_flight{endpoint="api-1"}'), 1);
  for (let count = 0; count < 5; count++)
    assert.equal((await get(gateway.port)).headers['x-plimsoll-replica'], 'api-2');
  finish.open();
  assert.equal((await slow).body, 'finished');
  assert.equal(one.served(), 1);
  assert.match((await get(gateway.adminPort, '/endpoints')).body, /"leaving":\[\]/);
});

test('the same name at another address is somebody new', async () => {
  const arrived = gate();
  const finish = gate();
  await using old = await httpEndpoint('api-1', async (_request, response) => {
    arrived.open();
    await finish.opened;
    response.end('old');
  });
  await using fresh = await httpEndpoint('api-1', (_request, response) => response.end('new'));
  await using gateway = await stand([old], { policy: 'least-request' });
  const slow = get(gateway.port);
  await arrived.opened;
  await order(gateway, '/endpoints', [entry(fresh)]);
  assert.equal((await get(gateway.port)).body, 'new');
  finish.open();
  assert.equal((await slow).body, 'old');
  const page = (await get(gateway.adminPort, '/metrics')).body;
  assert.equal(sample(page, 'plimsoll_gateway_endpoint_in_flight{endpoint="api-1"}'), 0);
});

test('the policy changes between two requests, with what is in flight told to the new one', async () => {
  const finish = gate();
  const arrived = { count: 0 };
  await using busy = await httpEndpoint('api-1', async (_request, response) => {
    arrived.count += 1;
    await finish.opened;
    response.end();
  });
  await using free = await httpEndpoint('api-2');
  await using gateway = await stand([busy, free], { policy: 'pick-first' });
  const held = [get(gateway.port), get(gateway.port), get(gateway.port)];
  while (arrived.count < 3) await get(gateway.adminPort, '/livez');
  assert.equal((await order(gateway, '/policy', { policy: 'least-request' })).status, 200);
  for (let count = 0; count < 10; count++)
    assert.equal((await get(gateway.port)).headers['x-plimsoll-replica'], 'api-2');
  finish.open();
  await Promise.all(held);
  assert.equal((await get(gateway.adminPort, '/policy')).body, '{"policy":"least-request"}');
});

test('an order that makes no sense changes nothing and says everything that is wrong with it', async () => {
  await using one = await httpEndpoint('api-1');
  await using gateway = await stand([one]);
  const answer = await order(gateway, '/endpoints', [
    { id: 'a', host: 'h', port: 70_000 },
    { id: 'a', host: '', port: 1 },
  ]);
  assert.equal(answer.status, 400);
  assert.deepEqual(z.object({ problems: z.array(z.string()) }).parse(JSON.parse(answer.body)).problems, [
    'endpoints.0.port: found 70000, expected a whole number, 1 to 65535',
    'endpoints.1.host: found "", expected a host name or address',
    'endpoints.1.id: found "a", expected a name of its own: endpoint 0 is called that too',
  ]);
  const twice = await order(gateway, '/endpoints', [entry(one), entry(one)]);
  assert.match(twice.body, /endpoints.1.id: found .*api-1.*, expected a name of its own/);
  assert.equal((await order(gateway, '/policy', { policy: 'best' })).status, 400);
  assert.equal((await get(gateway.port)).status, 200);
});

test('an endpoint that fails its checks is left out and comes back when it passes them', async () => {
  let well = true;
  await using one = await httpEndpoint('api-1', (request, response) => {
    if (request.url === '/healthz') response.statusCode = well ? 200 : 503;
    response.end();
  });
  await using two = await httpEndpoint('api-2');
  const health = { path: '/healthz', interval_ns: 10e6, timeout_ns: 5e9, fall: 2, rise: 2 };
  await using gateway = await stand([one, two], { health });
  const healthy = async (wanted: 0 | 1): Promise<void> => {
    const name = 'plimsoll_gateway_endpoint_healthy{endpoint="api-1"}';
    while (sample((await get(gateway.adminPort, '/metrics')).body, name) !== wanted);
  };
  const seen = async (): Promise<Set<unknown>> => {
    const ids = new Set<unknown>();
    for (let count = 0; count < 8; count++) ids.add((await get(gateway.port)).headers['x-plimsoll-replica']);
    return ids;
  };
  assert.deepEqual(await seen(), new Set(['api-1', 'api-2']));
  well = false;
  await healthy(0);
  assert.deepEqual(await seen(), new Set(['api-2']));
  well = true;
  await healthy(1);
  assert.deepEqual(await seen(), new Set(['api-1', 'api-2']));
});

test('an endpoint that stands still fails its checks by their timeout, and readiness says when nobody is left', async () => {
  await using one = await httpEndpoint('api-1', () => {});
  const health = { path: '/', interval_ns: 5e6, timeout_ns: 20e6, fall: 1, rise: 1 };
  await using gateway = await stand([one], { health });
  while ((await get(gateway.adminPort, '/readyz')).status !== 503);
  assert.equal((await get(gateway.adminPort, '/readyz')).body, 'no endpoint is healthy\n');
  assert.equal((await get(gateway.adminPort, '/livez')).status, 200);
  assert.equal((await get(gateway.port)).status, 503);
});

test('the time integral of what is in flight is exact', async () => {
  const finish = gate();
  const arrived = { count: 0 };
  await using one = await httpEndpoint('api-1', async (_request, response) => {
    arrived.count += 1;
    await finish.opened;
    response.end();
  });
  await using gateway = await stand([one]);
  const talks = await Promise.all(Array.from({ length: 5 }, () => Talk.with(gateway.port)));
  for (const talk of talks) talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  while (arrived.count < 5) await get(gateway.adminPort, '/livez');
  const name = 'plimsoll_gateway_endpoint_in_flight_seconds_total{endpoint="api-1"}';
  const integral = (): number => sample(gateway.gateway.metrics(), name) ?? Number.NaN;
  // Two readings in turns of their own; between them exactly five are inside.
  await new Promise((resolve) => setImmediate(resolve));
  const [before, from] = [integral(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, 50));
  const [after, to] = [integral(), performance.now()];
  const mean = ((after - before) / (to - from)) * 1000;
  assert.ok(Math.abs(mean - 5) < 0.25, `mean ${mean}, within one turn of the loop at each end`);
  finish.open();
  for (const talk of talks) talk.socket.destroy();
});
