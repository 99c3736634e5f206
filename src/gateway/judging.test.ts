// Policies at work on live traffic: outliers, panic, priorities, deadlines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadEndpoint, echo, get, httpEndpoint, rawEndpoint, sample, seenOf, stand, Talk } from './stand/stand.ts';

test('an endpoint that fails again and again is taken out, and comes back when its time is over', async () => {
  let failing = true;
  await using one = await httpEndpoint('api-1', (_request, response) => {
    response.statusCode = failing ? 500 : 200;
    response.end();
  });
  await using two = await httpEndpoint('api-2');
  const outlier = { consecutive: 3, ejection_base_ns: 600e6 };
  await using gateway = await stand([one, two], { outlier });
  for (let count = 0; count < 20; count++) await get(gateway.port);
  assert.equal(one.served(), 3);
  const page = (): string => gateway.gateway.metrics();
  assert.equal(sample(page(), 'plimsoll_gateway_endpoint_ejected{endpoint="api-1"}'), 1);
  assert.equal(sample(page(), 'plimsoll_gateway_endpoint_healthy{endpoint="api-1"}'), 0);
  failing = false;
  while (sample(page(), 'plimsoll_gateway_endpoint_ejected{endpoint="api-1"}') === 1) await get(gateway.port);
  for (let count = 0; count < 4; count++) assert.equal((await get(gateway.port)).status, 200);
  assert.ok(one.served() > 3);
});

test('the last endpoint is spared, however badly it answers', async () => {
  await using one = await httpEndpoint('api-1', (_request, response) => void response.writeHead(500).end());
  await using gateway = await stand([one], { outlier: { consecutive: 2 } });
  for (let count = 0; count < 10; count++) assert.equal((await get(gateway.port)).status, 500);
  assert.ok((sample(gateway.gateway.metrics(), 'plimsoll_gateway_endpoint_spared_total{endpoint="api-1"}') ?? 0) > 0);
});

test('clients that leave are no evidence against an endpoint', async () => {
  let arrived = 0;
  await using one = await rawEndpoint('api-1', (socket) => void socket.on('data', () => (arrived += 1)));
  await using two = await rawEndpoint('api-2', (socket) => void socket.on('data', () => (arrived += 1)));
  await using gateway = await stand([one, two], { outlier: { consecutive: 1 } });
  for (let count = 1; count <= 6; count++) {
    using talk = await Talk.with(gateway.port);
    talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const goal = count;
    while (seen() < goal) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.doesNotMatch(gateway.gateway.metrics(), /ejected\{.*\} 1/);

  function seen(): number {
    return arrived;
  }
});

test('in panic the unhealthy are asked as well; without, there is nobody', async () => {
  await using one = await httpEndpoint('api-1', (request, response) => {
    response.statusCode = request.url === '/healthz' ? 503 : 200;
    response.end();
  });
  const health = { path: '/healthz', interval_ns: 5e6, timeout_ns: 50e6, fall: 1, rise: 1 };
  for (const [panicBelow, status] of [
    [0.5, 200],
    [0, 503],
  ]) {
    const unsafe = ['eviction-empties-fleet'];
    await using gateway = await stand([one], { health, panic_below: panicBelow, unsafe });
    while ((await get(gateway.adminPort, '/readyz')).status !== 503);
    assert.equal((await get(gateway.port)).status, status);
  }
});

test('endpoints of the second level wait until the first cannot carry the load', async () => {
  await using first = await httpEndpoint('api-1');
  await using spare = await httpEndpoint('api-2');
  await using gateway = await stand([]);
  const order = (endpoints: readonly object[]) =>
    get(gateway.adminPort, '/endpoints', { method: 'POST', body: JSON.stringify({ endpoints }) });
  const { host } = first;
  await order([
    { id: 'api-1', host, port: first.port },
    { id: 'api-2', host, port: spare.port, priority: 1 },
  ]);
  for (let count = 0; count < 8; count++)
    assert.equal((await get(gateway.port)).headers['x-plimsoll-replica'], 'api-1');
  const dead = await deadEndpoint('api-1');
  await order([
    { id: 'api-1', host, port: dead.port },
    { id: 'api-2', host, port: spare.port, priority: 1 },
  ]);
  // Nothing says that it is dead but the failed connection: the retry leaves the level.
  assert.equal((await get(gateway.port)).headers['x-plimsoll-replica'], 'api-2');
});

test('the time that a caller has left shortens our timeout, and never lengthens it', async () => {
  await using silent = await rawEndpoint('api-1', (socket) => void socket.resume());
  await using gateway = await stand([silent], { timeout_ns: 200e6 });
  for (const [headers, least, most] of [
    [{ 'x-plimsoll-remaining-ms': '50' }, 50, 150],
    [{ 'x-envoy-expected-rq-timeout-ms': '50' }, 50, 150],
    [{ 'grpc-timeout': '50m' }, 50, 150],
    [{ 'x-plimsoll-remaining-ms': '60000' }, 200, 400],
    [{ 'x-plimsoll-remaining-ms': 'soon' }, 200, 400],
  ] as const) {
    const before = performance.now();
    assert.equal((await get(gateway.port, '/', { headers })).status, 504);
    const took = performance.now() - before;
    assert.ok(took >= least && took < most, `${JSON.stringify(headers)}: ${took} ms`);
  }
});

test('a request whose time is over is not begun', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api]);
  assert.equal((await get(gateway.port, '/', { headers: { 'x-plimsoll-remaining-ms': '0' } })).status, 504);
  assert.equal(api.served(), 0);
  await using deaf = await stand([api], { deadline: 'ignore' });
  assert.equal((await get(deaf.port, '/', { headers: { 'x-plimsoll-remaining-ms': '0' } })).status, 200);
});

test('the endpoint is told what is left, in the caller’s words too, and less on the second attempt', async () => {
  await using bad = await rawEndpoint('api-1', (socket) => {
    socket.once('data', () => setTimeout(() => socket.end(), 100));
  });
  await using good = await httpEndpoint('api-2', echo);
  await using gateway = await stand([bad, good], {
    deadline: 'forward',
    timeout_ns: 5e9,
    retries: 1,
    policy: 'pick-first',
  });
  const headers = { 'x-plimsoll-remaining-ms': '2000', 'grpc-timeout': '3S' };
  const seen = seenOf((await get(gateway.port, '/', { headers })).body);
  const left = Number(seen.headers['x-plimsoll-remaining-ms']);
  assert.ok(left > 1000 && left < 1900, `${left} ms of 2000, after 100 at the first endpoint`);
  assert.equal(seen.headers['grpc-timeout'], `${String(left).padStart(8, '0')}m`);
  assert.equal(seen.headers['x-envoy-expected-rq-timeout-ms'], undefined);
});

test('a client that does not take its answer in time is broken off, and the endpoint is not blamed', async () => {
  await using api = await httpEndpoint(
    'api-1',
    (_request, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)),
  );
  await using gateway = await stand([api], { timeout_ns: 2e9 });
  using talk = await Talk.with(gateway.port);
  talk.socket.pause();
  talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const way = 'plimsoll_gateway_ways_out_total{way="slow-client"}';
  while (sample(gateway.gateway.metrics(), way) !== 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.doesNotMatch(gateway.gateway.metrics(), /errors_total\{endpoint="api-1"/);
});
