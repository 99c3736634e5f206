// Several processes at one address: their counts are one page, a configuration is in force in all of them, and one that crashes is
// started again. And the page that is put together of many.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { z } from 'zod';
import { gatewayChild, type Ready } from './stand/child.ts';
import { crowd, numbered } from './stand/ledger.ts';
import { type EndpointAddress, get, httpEndpoint, sample } from './stand/stand.ts';
import { summedMetrics } from './summed-metrics.ts';

const listen = { host: '127.0.0.1', port: 0 };

function configuration(endpoints: readonly EndpointAddress[], workers = 2, settings: object = {}): object {
  const list = endpoints.map(({ id, host, port }) => ({ id, host, port }));
  return { listen, admin: listen, workers, endpoints: list, ...settings };
}

test('workers share one address and one page of counts, take one configuration, and hand over together', async () => {
  await using one = await httpEndpoint('api-1', numbered);
  await using two = await httpEndpoint('api-2', numbered);
  await using child = await gatewayChild(configuration([one]));
  const place = await child.ready();
  using users = crowd(() => place.port);
  await users.more(300);
  const inEach = await perWorker(place);
  assert.equal(inEach.length, 2);
  assert.ok(
    inEach.every((count) => count > 0),
    `the kernel deals to both: ${inEach.join(', ')}`,
  );
  // A configuration for all of them.
  await child.configure(configuration([two]));
  child.process.kill('SIGHUP');
  await child.says(/is in force in all workers/);
  // What was on its way to the old endpoint when the configuration changed arrives there still.
  await users.more(50);
  const served = one.served();
  await users.more(100);
  assert.equal(one.served(), served);
  await child.configure(configuration([one, one]));
  const refused = await get(place.admin_port, '/reload', { method: 'POST', agent: false });
  assert.equal(refused.status, 400);
  assert.match(refused.body, /endpoints\.1\.id/);
  // A new supervisor with new workers, at the same sockets.
  await child.configure(configuration([one, two]));
  child.process.kill('SIGUSR2');
  const next = await child.ready();
  assert.deepEqual([next.port, next.admin_port], [place.port, place.admin_port]);
  await users.more(200);
  const ledger = await users.stop();
  assert.deepEqual(ledger.failed, []);
  assert.equal(ledger.answered, ledger.planned);
  assert.equal(await child.exit(), 0);
  const page = (await get(next.admin_port, '/metrics', { agent: false })).body;
  assert.equal(sample(page, 'plimsoll_gateway_workers'), 2);
});

test('the sum of what the workers count is what was asked', async () => {
  await using api = await httpEndpoint('api-1', numbered);
  await using child = await gatewayChild(configuration([api]));
  const place = await child.ready();
  using users = crowd(() => place.port, 4);
  await users.more(100);
  const { answered } = await users.stop();
  const page = (await get(place.admin_port, '/metrics', { agent: false })).body;
  assert.equal(sample(page, 'plimsoll_gateway_requests_total{code="200"}'), answered);
  assert.equal(sample(page, 'plimsoll_gateway_endpoint_requests_total{endpoint="api-1"}'), answered);
  assert.equal(sample(page, 'plimsoll_gateway_endpoint_healthy{endpoint="api-1"}'), 1);
});

test('a worker that crashes is told of and started again, and what waits at its socket is served', async () => {
  await using api = await httpEndpoint('api-1', numbered);
  await using child = await gatewayChild(configuration([api]));
  const place = await child.ready();
  const [worker = 0] = childrenOf(place.pid);
  process.kill(worker, 'SIGKILL');
  // Sent while there is one worker less: half of them wait at a socket that nobody reads.
  const asked = Array.from({ length: 20 }, (_, index) => get(place.port, `/${index}`, { agent: false }));
  const answers = await Promise.all(asked);
  assert.deepEqual(
    answers.map((answer) => answer.body),
    answers.map((_, index) => `/${index}`),
  );
  await child.says(/worker \d ended \(SIGKILL\); it is started again/);
  const page = (await get(place.admin_port, '/metrics', { agent: false })).body;
  assert.equal(sample(page, 'plimsoll_gateway_worker_restarts_total'), 1);
  assert.equal((await get(place.admin_port, '/readyz', { agent: false })).status, 200);
});

test('a worker that cannot start keeps the whole from starting, with its reason', async () => {
  await using api = await httpEndpoint('api-1');
  const files = { certificates: [{ cert_file: '/nowhere.pem', key_file: '/nowhere.key' }] };
  await using child = await gatewayChild(configuration([api], 2, { listen: { ...listen, tls: files } }));
  assert.equal(await child.exit(), 2);
  await child.says(/listen\.tls\.certificates\.0\.cert_file: ENOENT/);
});

test('an operation is done in every worker, and a question is answered by each', async () => {
  await using api = await httpEndpoint('api-1');
  await using child = await gatewayChild(configuration([api]));
  const place = await child.ready();
  const body = JSON.stringify({ policy: 'maglev' });
  const headers = { 'content-type': 'application/json' };
  const done = await get(place.admin_port, '/policy', { method: 'POST', headers, body, agent: false });
  assert.equal(done.status, 200);
  const { workers } = workersShape.parse(JSON.parse((await get(place.admin_port, '/policy', { agent: false })).body));
  assert.deepEqual(
    workers.map(({ worker, body: told }) => [worker, told]),
    [
      [1, { policy: 'maglev' }],
      [2, { policy: 'maglev' }],
    ],
  );
  assert.equal((await get(place.admin_port, '/policy?worker=2', { agent: false })).body, '{"policy":"maglev"}');
  const wrong = JSON.stringify({ policy: 'best' });
  assert.equal(
    (await get(place.admin_port, '/policy', { method: 'POST', headers, body: wrong, agent: false })).status,
    400,
  );
});

test('pages are added up sample by sample, but for what is yes or no', () => {
  const page = (requests: number, healthy: number, ejected: number): string =>
    `# HELP a_total Requests.\n# TYPE a_total counter\na_total{code="200"} ${requests}\na_total{code="503"} 1\n` +
    `# HELP b_healthy Healthy.\n# TYPE b_healthy gauge\nb_healthy{endpoint="x"} ${healthy}\n` +
    `# TYPE c_ejected gauge\nc_ejected ${ejected}\n`;
  assert.equal(summedMetrics([page(3, 1, 0), page(4, 0, 1)]), page(7, 0, 1).replace('"503"} 1', '"503"} 2'));
  assert.equal(summedMetrics([page(3, 1, 0), '']), page(3, 1, 0));
  assert.equal(summedMetrics([]), '');
});

const workersShape = z.object({
  workers: z.array(z.object({ worker: z.number(), status: z.number(), body: z.unknown() })),
});

async function perWorker(place: Ready): Promise<readonly number[]> {
  const answer = (await get(place.admin_port, '/endpoints', { agent: false })).body;
  const counted = z.object({ endpoints: z.array(z.object({ requests: z.number() })) });
  return workersShape
    .parse(JSON.parse(answer))
    .workers.map(({ body }) => counted.parse(body).endpoints.reduce((sum, { requests }) => sum + requests, 0));
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}
