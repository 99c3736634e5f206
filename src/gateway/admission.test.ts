// What is let in, on real sockets: ceilings, the queue, the limit that follows latency, hedges, and budgets of retries.

import assert from 'node:assert/strict';
import type http from 'node:http';
import { test } from 'node:test';
import {
  deadEndpoint,
  gate,
  get,
  type HttpEndpoint,
  httpEndpoint,
  rawEndpoint,
  sample,
  stand,
  type Stand,
  Talk,
} from './stand/stand.ts';

/** An endpoint that answers when it is told to, oldest first. */
async function holding(id: string): Promise<HttpEndpoint & { readonly held: http.ServerResponse[]; let(): void }> {
  const held: http.ServerResponse[] = [];
  const api = await httpEndpoint(id, (_request, response) => void held.push(response));
  return Object.assign(api, { held, let: () => void held.shift()?.end('let') });
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await tick();
}

const metric = (gateway: Stand, name: string): number =>
  sample(gateway.gateway.metrics(), `plimsoll_gateway_${name}`) ?? Number.NaN;

test('the last request below the ceiling is let in, the next is refused at once and counted', async () => {
  await using api = await holding('api-1');
  await using gateway = await stand([api], { ceilings: { requests: 2 } });
  const inside = [get(gateway.port), get(gateway.port)];
  await until(() => api.held.length === 2);
  const refused = await get(gateway.port);
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['x-plimsoll-flags'], 'UO');
  assert.equal(metric(gateway, 'refused_total{reason="requests"}'), 1);
  assert.equal(metric(gateway, 'remaining{ceiling="requests"}'), 0);
  api.let();
  api.let();
  assert.deepEqual(
    (await Promise.all(inside)).map((answer) => answer.status),
    [200, 200],
  );
  const next = get(gateway.port);
  await until(() => api.held.length === 1);
  api.let();
  assert.equal((await next).status, 200);
  assert.equal(metric(gateway, 'remaining{ceiling="requests"}'), 2);
});

test('each service has its own places', async () => {
  await using one = await holding('api-1');
  await using two = await holding('api-2');
  const entry = ({ id, host, port }: HttpEndpoint) => ({ id, host, port });
  await using gateway = await stand([], {
    ceilings: { requests: 1, connections: 1 },
    services: [
      { name: 'shop', endpoints: [entry(one)] },
      { name: 'mail', endpoints: [entry(two)] },
    ],
    routes: [
      { path: '/shop', service: 'shop' },
      { path: '/mail', service: 'mail' },
    ],
  });
  const inside = [get(gateway.port, '/shop'), get(gateway.port, '/mail')];
  await until(() => one.held.length === 1 && two.held.length === 1);
  assert.equal((await get(gateway.port, '/shop')).status, 503);
  assert.equal(metric(gateway, 'refused_total{service="shop",reason="requests"}'), 1);
  assert.equal(metric(gateway, 'refused_total{service="mail",reason="requests"}'), 0);
  one.let();
  two.let();
  assert.deepEqual(
    (await Promise.all(inside)).map((answer) => answer.status),
    [200, 200],
  );
});

test('at the ceiling of connections an idle one gives way, and without one nothing more is opened', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await holding('api-2');
  await using gateway = await stand([one, two], { ceilings: { connections: 1 }, policy: 'round-robin' });
  const answers: Promise<{ readonly status: number }>[] = [];
  const held = (): boolean => two.held.length === 1;
  while (!held()) {
    answers.push(get(gateway.port));
    await Promise.race([answers.at(-1), until(held)]);
  }
  assert.equal(metric(gateway, 'endpoint_connections{endpoint="api-1"}'), 0, 'the idle one was closed');
  assert.equal((await get(gateway.port)).status, 503);
  two.let();
  assert.ok((await Promise.all(answers)).every((answer) => answer.status === 200));
});

test('what finds no place waits its turn, first come first served, and is let in when one leaves', async () => {
  await using api = await holding('api-1');
  await using gateway = await stand([api], {
    ceilings: { requests: 1 },
    queue: { places: 2, target_ns: 5e9, interval_ns: 10e9 },
  });
  const order: string[] = [];
  const ask = async (name: string): Promise<number> => {
    const { status } = await get(gateway.port, `/${name}`, { method: 'POST', body: 'x'.repeat(100_000) });
    order.push(name);
    return status;
  };
  const first = ask('first');
  await until(() => api.held.length === 1);
  const second = ask('second');
  await until(() => metric(gateway, 'queue') === 1);
  const third = ask('third');
  await until(() => metric(gateway, 'queue') === 2);
  assert.equal((await get(gateway.port)).status, 503, 'the queue is full');
  assert.equal(metric(gateway, 'refused_total{reason="queue-full"}'), 1);
  for (const one of [first, second, third]) {
    await until(() => api.held.length === 1);
    api.let();
    assert.equal(await one, 200);
  }
  assert.deepEqual(order, ['first', 'second', 'third']);
  assert.equal(metric(gateway, 'queued_total'), 2);
});

test('nobody waits for longer than waiting does good, and when crowded the newest is served first', async () => {
  await using api = await holding('api-1');
  await using gateway = await stand([api], {
    ceilings: { requests: 1 },
    queue: { target_ns: 60e6, interval_ns: 120e6 },
  });
  const inside = get(gateway.port);
  await until(() => api.held.length === 1);
  const from = performance.now();
  const late = await get(gateway.port);
  assert.equal(late.status, 503);
  assert.match(late.body, /for too long/);
  assert.ok(performance.now() - from >= 60);
  assert.equal(metric(gateway, 'refused_total{reason="queue-late"}'), 1);
  api.let();
  assert.equal((await inside).status, 200);
});

test('a client that leaves the queue takes no place, and a deadline ends the waiting', async () => {
  await using api = await holding('api-1');
  await using gateway = await stand([api], {
    ceilings: { requests: 1 },
    queue: { target_ns: 5e9, interval_ns: 10e9 },
    timeout_ns: 500e6,
    // A queue that never gives up by itself: here only the deadline ends the waiting.
    unsafe: ['inner-timeout'],
  });
  const inside = get(gateway.port);
  await until(() => api.held.length === 1);
  {
    using talk = await Talk.with(gateway.port);
    talk.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => metric(gateway, 'queue') === 1);
  }
  await until(() => metric(gateway, 'queue') === 0);
  const waiting = await get(gateway.port, '/', { headers: { 'x-plimsoll-remaining-ms': '50' } });
  assert.equal(waiting.status, 503);
  assert.equal((await inside).status, 504);
  assert.equal(metric(gateway, 'in_flight'), 0);
});

test('the limit follows latency: it is held down while it measures, grows when all is well, shrinks when all are slow', async () => {
  let delay = 1;
  await using api = await httpEndpoint('api-1', (_request, response) => void setTimeout(() => response.end(), delay));
  await using gateway = await stand([api], {
    concurrency: {
      limit_initial: 4,
      limit_min: 2,
      measure_requests: 10,
      measure_limit: 2,
      samples_min: 5,
      window_ns: 5e6,
    },
    queue: { places: 1000, target_ns: 5e9, interval_ns: 10e9 },
  });
  const limit = (): number => metric(gateway, 'concurrency_limit');
  assert.equal(limit(), 2, 'measuring');
  const goes = { on: true };
  const user = async (): Promise<void> => {
    while (goes.on) await get(gateway.port);
  };
  const users = Array.from({ length: 6 }, user);
  await until(() => limit() >= 8);
  const grown = limit();
  delay = 40;
  await until(() => limit() <= grown / 2);
  goes.on = false;
  await Promise.all(users);
});

test('a hedge asks another endpoint when the first takes too long; the first answer counts, the other is broken off', async () => {
  let slow = false;
  const broken = gate();
  await using one = await rawEndpoint('api-1', (socket) => {
    socket.on('data', () => {
      if (!slow) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\napi-1');
    });
    socket.on('close', () => (slow ? broken.open() : undefined));
  });
  await using two = await httpEndpoint('api-2', (_request, response) => response.end('api-2'));
  await using gateway = await stand([one, two], {
    policy: 'round-robin',
    hedge: { quantile: 0.9, samples_min: 10, ratio: 1, delay_min_ns: 5e6 },
  });
  for (let count = 0; count < 20; count++) await get(gateway.port);
  slow = true;
  for (let count = 0; count < 4; count++) assert.equal((await get(gateway.port)).body, 'api-2');
  await broken.opened;
  assert.ok(metric(gateway, 'hedges_won_total') >= 1);
  assert.equal(metric(gateway, 'endpoint_in_flight{endpoint="api-1"}'), 0);
  assert.equal(metric(gateway, 'endpoint_in_flight{endpoint="api-2"}'), 0);
});

/** So many answers that the gateway knows how long one takes; POST, so that none of these is hedged itself. */
async function learn(gateway: Stand): Promise<void> {
  for (let count = 0; count < 10; count++) await get(gateway.port, '/', { method: 'POST', body: 'x' });
}

test('when the first of two fails the second goes on, and when the second fails the first does', async () => {
  for (const failing of ['first', 'second'] as const) {
    const asked: string[] = [];
    let learnt = false;
    const endpoint = (id: string): ReturnType<typeof rawEndpoint> =>
      rawEndpoint(id, (socket) => {
        socket.on('data', () => {
          if (!learnt) return void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          asked.push(id);
          const role = asked.length === 1 ? 'first' : 'second';
          const answer = (): unknown =>
            role === failing ? socket.destroy() : socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${id}`);
          // The one that fails does so once both are out; the other answers after that.
          const both = setInterval(() => {
            if (asked.length < 2) return;
            clearInterval(both);
            setTimeout(answer, role === failing ? 0 : 30);
          }, 1);
        });
      });
    await using one = await endpoint('api-1');
    await using two = await endpoint('api-2');
    await using gateway = await stand([one, two], {
      hedge: { samples_min: 5, ratio: 1, delay_min_ns: 5e6 },
      retries: 0,
    });
    await learn(gateway);
    learnt = true;
    const answer = await get(gateway.port);
    assert.equal(answer.status, 200, failing);
    assert.equal(answer.body, asked[failing === 'first' ? 1 : 0]);
  }
});

test('what must not be carried out twice is not hedged', async () => {
  let learnt = false;
  await using one = await httpEndpoint(
    'api-1',
    (_request, response) => void setTimeout(() => response.end(), learnt ? 60 : 0),
  );
  await using two = await httpEndpoint(
    'api-2',
    (_request, response) => void setTimeout(() => response.end(), learnt ? 60 : 0),
  );
  await using gateway = await stand([one, two], {
    hedge: { quantile: 0.5, samples_min: 5, ratio: 1, delay_min_ns: 1e6 },
  });
  await learn(gateway);
  learnt = true;
  for (let count = 0; count < 3; count++) await get(gateway.port, '/', { method: 'POST', body: 'x' });
  assert.equal(metric(gateway, 'hedges_total'), 0);
  await get(gateway.port);
  assert.equal(metric(gateway, 'hedges_total'), 1);
});

test('retries end with their budget, or with their ceiling, and the answer says so', async () => {
  for (const settings of [{ retry_budget: { ratio: 0, min_per_second: 0.2 } }, { ceilings: { retries: 0 } }]) {
    const dead = [await deadEndpoint('api-1'), await deadEndpoint('api-2')];
    await using gateway = await stand(dead, { ...settings, retries: 1 });
    const flags: string[] = [];
    for (let count = 0; count < 4; count++) {
      const answer = await get(gateway.port);
      assert.equal(answer.status, 503);
      flags.push(String(answer.headers['x-plimsoll-flags']));
    }
    assert.deepEqual(new Set(flags), new Set(['UF,URX']));
    const spent = 'retry_budget' in settings ? 2 : 0;
    assert.equal(metric(gateway, 'retries_total'), spent);
    assert.equal(metric(gateway, 'retries_refused_total{by="budget"}'), 4 - spent);
  }
});

test('without a budget every request may use its retries', async () => {
  const dead = [await deadEndpoint('api-1'), await deadEndpoint('api-2')];
  await using gateway = await stand(dead, { retry_budget: null, retries: 1 });
  for (let count = 0; count < 150; count++) await get(gateway.port);
  assert.equal(metric(gateway, 'retries_total'), 150);
  assert.doesNotMatch(gateway.gateway.metrics(), /plimsoll_gateway_retry_budget /);
});

test('what cannot be finished in the time that its caller has left is not begun', async () => {
  await using api = await httpEndpoint('api-1', (_request, response) => void setTimeout(() => response.end(), 30));
  await using gateway = await stand([api], { refuse_hopeless: { samples_min: 5, memory_ns: 300e6 } });
  const withLeft = (left: number) => get(gateway.port, '/', { headers: { 'x-plimsoll-remaining-ms': String(left) } });
  for (let count = 0; count < 5; count++) await get(gateway.port);
  const served = api.served();
  assert.equal((await withLeft(10)).status, 504);
  assert.equal(api.served(), served, 'nobody was asked');
  assert.equal(metric(gateway, 'refused_total{reason="hopeless"}'), 1);
  assert.equal((await withLeft(10_000)).status, 200);
  // Without news for a while it is tried again.
  await new Promise((resolve) => setTimeout(resolve, 400));
  await withLeft(10);
  assert.equal(metric(gateway, 'refused_total{reason="hopeless"}'), 1);
});
