// Who is chosen, on real sockets: keys that stick, newcomers that warm up, a part of the fleet, zones, fuses, checks at their pace.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieOf } from './request-key.ts';
import { get, type HttpEndpoint, httpEndpoint, rawEndpoint, sample, stand, type Stand, Talk } from './stand/stand.ts';

/** So many endpoints `api-1` …; disposed together. */
async function fleet(
  count: number,
  handler?: Parameters<typeof httpEndpoint>[1],
): Promise<readonly HttpEndpoint[] & AsyncDisposable> {
  const all = await Promise.all(Array.from({ length: count }, (_, index) => httpEndpoint(`api-${index + 1}`, handler)));
  return Object.assign(all, {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
    },
  });
}

const replicaOf = async (gateway: Stand, path = '/', headers: Record<string, string> = {}): Promise<string> =>
  String((await get(gateway.port, path, { headers })).headers['x-plimsoll-replica']);

/** Puts a list with zones, levels and weights in force. */
const order = (gateway: Stand, endpoints: readonly object[]) =>
  get(gateway.adminPort, '/endpoints', { method: 'POST', body: JSON.stringify({ endpoints }) });

test('one key finds one endpoint, by header, cookie, path or address, with every hashing policy', async () => {
  await using apis = await fleet(5);
  for (const policy of ['ring-hash', 'maglev', 'rendezvous', 'bounded-load']) {
    for (const [source, ask] of [
      ['header:x-user', (key: string) => ['/', { 'x-user': key }] as const],
      ['cookie:session', (key: string) => ['/', { cookie: `theme=dark; session=${key}` }] as const],
      ['path', (key: string) => [`/${key}?q=${Math.random()}`, {}] as const],
    ] as const) {
      await using gateway = await stand(apis, { policy, hash_on: [source] });
      const found = new Set<string>();
      for (let user = 0; user < 12; user++) {
        const [path, headers] = ask(`user-${user}`);
        const first = await replicaOf(gateway, path, headers);
        const [pathAgain, headersAgain] = ask(`user-${user}`);
        assert.equal(await replicaOf(gateway, pathAgain, headersAgain), first, `${policy} ${source} ${user}`);
        found.add(first);
      }
      assert.ok(found.size > 1, `${policy} ${source}: keys spread`);
    }
    await using gateway = await stand(apis, { policy, hash_on: ['source'] });
    const found = new Set<string>();
    for (let count = 0; count < 8; count++) found.add(await replicaOf(gateway, `/${count}`));
    assert.equal(found.size, 1, `${policy}: one address, one endpoint`);
  }
});

test('a request sticks to the first source that it has', async () => {
  await using apis = await fleet(5);
  await using gateway = await stand(apis, { policy: 'rendezvous', hash_on: ['cookie:session', 'path'] });
  await using byPath = await stand(apis, { policy: 'rendezvous', hash_on: ['path'] });
  for (let count = 0; count < 10; count++) {
    assert.equal(await replicaOf(gateway, `/${count}`), await replicaOf(byPath, `/${count}`));
  }
  const withCookie = new Set<string>();
  for (let count = 0; count < 10; count++) {
    withCookie.add(await replicaOf(gateway, `/${count}`, { cookie: 'session=7' }));
  }
  assert.equal(withCookie.size, 1);
});

test('a cookie is found by its whole name', () => {
  assert.equal(cookieOf('a=1; session=x; b=2', 'session'), 'x');
  assert.equal(cookieOf('mysession=x', 'session'), undefined);
  assert.equal(cookieOf('session=; session=y', 'session'), '');
  assert.equal(cookieOf('session', 'session'), undefined);
});

test('keys stick across levels of priority, too', async () => {
  await using apis = await fleet(4);
  await using gateway = await stand([], { policy: 'maglev', hash_on: ['path'], panic_below: 0.01 });
  const list = apis.map(({ id, host, port }, index) => ({ id, host, port, priority: index % 2 }));
  await order(gateway, list);
  // Half of the first level is out, so both levels carry load.
  await get(gateway.adminPort, '/endpoints/api-1/order', { method: 'POST', body: '{"order":"down"}' });
  const found = new Set<string>();
  for (let key = 0; key < 24; key++) {
    const first = await replicaOf(gateway, `/${key}`);
    assert.equal(await replicaOf(gateway, `/${key}`), first, `key ${key}`);
    found.add(first);
  }
  assert.ok(found.has('api-3') && (found.has('api-2') || found.has('api-4')));
});

test('a newcomer begins with a small share, and has its whole share after the window', async () => {
  await using apis = await fleet(2);
  const [first, second] = apis;
  assert.ok(first !== undefined && second !== undefined);
  await using gateway = await stand([first], {
    policy: 'smooth-round-robin',
    slow_start: { window_ns: 1.5e9, floor: 0.05 },
  });
  const shares = async (requests: number): Promise<number> => {
    const before = second.served();
    for (let count = 0; count < requests; count++) await get(gateway.port);
    return (second.served() - before) / requests;
  };
  assert.equal(await shares(5), 0);
  const joined = performance.now();
  await order(
    gateway,
    apis.map(({ id, host, port }) => ({ id, host, port })),
  );
  const early = await shares(20);
  // A machine that stood still meanwhile has seen nothing early.
  if (performance.now() - joined < 300) assert.ok(early <= 0.25, `a small share at first, not ${early}`);
  while (performance.now() - joined < 1600) await get(gateway.port);
  assert.equal(await shares(40), 0.5);
});

test('a gateway keeps to its part of the fleet, and those with another name to another', async () => {
  await using apis = await fleet(8);
  const parts: string[] = [];
  for (const name of ['gateway-a', 'gateway-b', 'gateway-c']) {
    await using gateway = await stand(apis, { subset: { name, size: 3 } });
    const found = new Set<string>();
    for (let count = 0; count < 12; count++) found.add(await replicaOf(gateway));
    assert.equal(found.size, 3);
    parts.push([...found].toSorted().join(' '));
  }
  assert.ok(new Set(parts).size > 1, 'names decide');
});

test('apertures of all peers cover the fleet once', async () => {
  await using apis = await fleet(8);
  const times = new Map<string, number>();
  for (let peer = 0; peer < 4; peer++) {
    await using gateway = await stand(apis, { subset: { peer, peers: 4, width_min: 1 } });
    const found = new Set<string>();
    for (let count = 0; count < 8; count++) found.add(await replicaOf(gateway));
    for (const id of found) times.set(id, (times.get(id) ?? 0) + 1);
  }
  assert.deepEqual([...times.values()], [1, 1, 1, 1, 1, 1, 1, 1]);
});

test('requests stay in the zone while it can carry them, and leave gradually when it cannot', async () => {
  await using apis = await fleet(6);
  await using gateway = await stand([], { zone: { here: 'a', slew_per_second: 0.2 } });
  const zones = ['a', 'a', 'a', 'b', 'b', 'b'];
  const list = apis.map(({ id, host, port }, index) => ({ id, host, port, zone: zones[index] }));
  await order(gateway, list);
  const left = async (requests: number): Promise<number> => {
    let away = 0;
    for (let count = 0; count < requests; count++) if ((await replicaOf(gateway)) > 'api-3') away += 1;
    return away / requests;
  };
  assert.equal(await left(30), 0);
  // Two of three are gone: a quarter of the weight is here, half of the demand, so half should leave — but not at once.
  const from = performance.now();
  for (const id of ['api-1', 'api-2']) {
    await get(gateway.adminPort, `/endpoints/${id}/order`, { method: 'POST', body: '{"order":"down"}' });
  }
  const soon = await left(20);
  if (performance.now() - from < 500) assert.ok(soon <= 0.3, `a gradual beginning, not ${soon}`);
  while (performance.now() - from < 2700) await get(gateway.port);
  const later = await left(200);
  assert.ok(later > 0.35 && later < 0.65, `half in the end (±4 σ), not ${later}`);
});

test('a fuse takes an endpoint out, one live request tries it, and its answer decides', async () => {
  let failing = true;
  let tried = 0;
  const held: (() => void)[] = [];
  await using one = await httpEndpoint('api-1', (_request, response) => {
    tried += 1;
    if (tried <= 3) return void response.writeHead(500).end();
    // The trial is out until the test lets it go.
    held.push(() => response.writeHead(failing ? 500 : 200).end());
  });
  await using two = await httpEndpoint('api-2');
  const breaker = { failures_in_a_row: 3, pause_min_ns: 30e6, pause_max_ns: 60e6, jitter: 0 };
  await using gateway = await stand([one, two], { breaker, policy: 'round-robin' });
  const page = (name: string) =>
    sample(gateway.gateway.metrics(), `plimsoll_gateway_endpoint_${name}{endpoint="api-1"}`);
  for (let count = 0; count < 12; count++) await get(gateway.port);
  assert.equal(tried, 3);
  assert.equal(page('breaker_open'), 1);
  assert.equal(page('trips_total'), 1);

  for (const [outcome, trips] of [
    [500, 2],
    [200, 2],
  ] as const) {
    failing = outcome === 500;
    const asked: Promise<unknown>[] = [];
    while (held.length === 0) {
      asked.push(get(gateway.port));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    // However many come while the trial is out, it stays the only one.
    for (let count = 0; count < 10; count++) await get(gateway.port);
    assert.equal(held.length, 1);
    held.pop()?.();
    await Promise.all(asked);
    assert.equal(page('trips_total'), trips);
  }
  assert.equal(page('breaker_open'), 0);
  assert.equal(page('healthy'), 1);
});

test('a trial whose client leaves decides nothing', async () => {
  const seen = { requests: 0 };
  await using one = await rawEndpoint('api-1', (socket) => {
    socket.on('data', () => {
      seen.requests += 1;
      if (seen.requests <= 2) socket.end('HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n');
      if (seen.requests >= 4) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await using two = await httpEndpoint('api-2');
  const breaker = { failures_in_a_row: 2, pause_min_ns: 10e6, pause_max_ns: 10e6, jitter: 0, trial_timeout_ns: 60e9 };
  await using gateway = await stand([one, two], { breaker });
  while (seen.requests < 2) await get(gateway.port);
  while (seen.requests < 3) {
    using talk = await Talk.with(gateway.port);
    talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.race([talk.until(/200 OK/), new Promise((resolve) => setTimeout(resolve, 15))]);
  }
  while (seen.requests < 4) await get(gateway.port);
  for (let count = 0; count < 4; count++) assert.equal((await get(gateway.port)).status, 200);
  const name = 'plimsoll_gateway_endpoint_breaker_open{endpoint="api-1"}';
  assert.equal(sample(gateway.gateway.metrics(), name), 0);
});

test('checks hurry while a doubt is settled, and keep another pace while it is down', async () => {
  let well = true;
  const asked: number[] = [];
  await using api = await httpEndpoint('api-1', (request, response) => {
    if (request.url === '/healthz') asked.push(performance.now());
    response.writeHead(well ? 200 : 503).end();
  });
  const health = {
    path: '/healthz',
    interval_ns: 5e6,
    interval_edge_ns: 1e6,
    interval_down_ns: 400e6,
    timeout_ns: 1e9,
    jitter: 0,
    fall: 3,
    rise: 1,
  };
  await using gateway = await stand([api], { health, panic_below: 0.01 });
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  well = false;
  while ((await get(gateway.adminPort, '/readyz')).status !== 503);
  const fallen = asked.length;
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(asked.length - fallen <= 1, 'while it is down it is asked every 400 ms');
});

test('an endpoint that counts as down until it has been asked gets nothing before', async () => {
  await using api = await httpEndpoint('api-1');
  const health = { path: '/', interval_ns: 20e6, timeout_ns: 1e9, fall: 1, rise: 1, initially: 'down' };
  await using gateway = await stand([api], { health, unsafe: ['eviction-empties-fleet'] });
  assert.equal((await get(gateway.port)).status, 503);
  while ((await get(gateway.adminPort, '/readyz')).status !== 200);
  assert.equal((await get(gateway.port)).status, 200);
});
