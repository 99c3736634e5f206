// What the gateway tells of a request: its id, its story, its span, its line in the log, its count.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { assertPrometheusText } from './stand/prometheus-text.ts';
import {
  deadEndpoint,
  echo,
  get,
  httpEndpoint,
  rawEndpoint,
  sample,
  seenOf,
  stand,
  type Stand,
} from './stand/stand.ts';

const storyShape = z.object({
  id: z.string(),
  because: z.string(),
  way: z.string(),
  flags: z.string(),
  picks: z.array(
    z.object({
      chosen: z.string().nullable(),
      drawn: z.array(z.string()),
      afterwards: z.boolean(),
      candidates: z.array(
        z.object({ endpoint: z.string(), excluded: z.string().nullable(), score: z.number().nullable() }),
      ),
      left_out: z.number(),
    }),
  ),
  attempts: z.array(z.object({ endpoint: z.string(), kind: z.string(), connection: z.string(), end: z.string() })),
  retries_left: z.number().nullable(),
});

async function storyOf(gateway: Stand, id: string) {
  const answer = await get(gateway.adminPort, `/why/${id}`);
  assert.equal(answer.status, 200, answer.body);
  return storyShape.parse(JSON.parse(answer.body));
}

const explained = (id: string) => ({ headers: { 'x-request-id': id, 'x-plimsoll-explain': '1' } });

test('an id is kept when it is one, made when not, told to the endpoint and to the client', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api], { request_id: true });
  const kept = await get(gateway.port, '/', { headers: { 'x-request-id': 'order-17' } });
  assert.equal(kept.headers['x-request-id'], 'order-17');
  assert.equal(seenOf(kept.body).headers['x-request-id'], 'order-17');
  const made = new Set<string>();
  for (const given of [undefined, '', 'two words', '"', 'x'.repeat(129)]) {
    const answer = await get(gateway.port, '/', given === undefined ? {} : { headers: { 'x-request-id': given } });
    const id = String(answer.headers['x-request-id']);
    assert.match(id, /^[0-9a-f]{12}-[0-9a-z]+$/);
    assert.equal(seenOf(answer.body).headers['x-request-id'], id);
    made.add(id);
  }
  assert.equal(made.size, 5);
  // Answers of our own carry it, too.
  await using empty = await stand([], { request_id: true });
  assert.equal((await get(empty.port, '/', { headers: { 'x-request-id': 'a-1' } })).headers['x-request-id'], 'a-1');
});

test('without it ids and traces pass as they came', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api]);
  const headers = { 'x-request-id': 'any thing', traceparent: 'nonsense', tracestate: 'a=1' };
  const seen = seenOf((await get(gateway.port, '/', { headers })).body).headers;
  assert.partialDeepStrictEqual(seen, headers);
  assert.equal((await get(gateway.port)).headers['x-request-id'], undefined);
});

test('a trace goes on with a span of our own, the sampled bit and the state', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using gateway = await stand([api], { tracing: { sample: 0 } });
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  for (const flags of ['00', '01']) {
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-${flags}`, tracestate: 'vendor=1' };
    const seen = seenOf((await get(gateway.port, '/', { headers })).body).headers;
    assert.match(seen['traceparent'] ?? '', new RegExp(`^00-${trace}-[0-9a-f]{16}-${flags}$`));
    assert.notEqual(seen['traceparent'], headers.traceparent);
    assert.equal(seen['tracestate'], 'vendor=1');
  }
  const fresh = seenOf(
    (await get(gateway.port, '/', { headers: { traceparent: 'x', tracestate: 'a=1' } })).body,
  ).headers;
  assert.match(fresh['traceparent'] ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  assert.equal(fresh['tracestate'], undefined, 'without its parent a state means nothing');
});

test('why: who could have had it, what was held against each, who was left out and why', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  await using three = await httpEndpoint('api-3');
  await using gateway = await stand([one, two, three], { explain: { sample: 0 }, policy: 'least-request' });
  await get(gateway.adminPort, '/endpoints/api-2/order', { method: 'POST', body: '{"order":"drain"}' });
  await get(gateway.adminPort, '/endpoints/api-3/weight', { method: 'POST', body: '{"weight":0}' });
  await get(gateway.port, '/orders?x=1', explained('story-1'));
  const story = await storyOf(gateway, 'story-1');
  assert.equal(story.because, 'asked');
  assert.deepEqual(
    story.picks.map(({ chosen, drawn, left_out: left }) => ({ chosen, drawn, left })),
    [{ chosen: 'api-1', drawn: [], left: 0 }],
  );
  assert.deepEqual(
    story.picks[0]?.candidates.map(({ endpoint, excluded }) => [endpoint, excluded]),
    [
      ['api-1', null],
      ['api-2', 'drained'],
      ['api-3', 'no-weight'],
    ],
  );
  assert.equal(story.picks[0]?.candidates[0]?.score, 0);
  assert.deepEqual(
    story.attempts.map(({ endpoint, kind, connection, end }) => [endpoint, kind, connection, end]),
    [['api-1', 'first', 'new', 'answered']],
  );
  const words = await get(gateway.adminPort, '/why/story-1', { headers: { accept: 'text/plain' } });
  assert.match(words.body, /^request story-1: GET \/orders\?x=1 for 127\.0\.0\.1:\d+ from 127\.0\.0\.1, /);
  assert.match(words.body, /\n {2}api-1 {3}0 in flight {3}score 0 {3}chosen\n/);
  assert.match(words.body, /\n {2}api-2 {3}0 in flight.* out: an operator drains it\n/);
  assert.match(words.body, /\nfirst attempt at .* to api-1, new connection: answered after /);
  assert.match(words.body, /\n200, answered after .* and 10\d retries left in the budget of all\n$/);
});

test('why: a retry says what failed before, and that it was not asked again', async () => {
  const dead = await deadEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  await using gateway = await stand([dead, two], { explain: { sample: 1 }, policy: 'pick-first' });
  await get(gateway.port, '/', { headers: { 'x-request-id': 'r' } });
  const story = await storyOf(gateway, 'r');
  assert.equal(story.because, 'sampled');
  assert.deepEqual(
    story.attempts.map(({ endpoint, kind, end }) => `${kind} ${endpoint} ${end}`),
    ['first api-1 refused', 'retry api-2 answered'],
  );
  assert.equal(story.picks[1]?.candidates[0]?.excluded, 'tried');
});

test('why: what was not served is told of even when nobody had asked, with the fleet as it stood then', async () => {
  await using one = await httpEndpoint('api-1');
  await using gateway = await stand([one], { explain: { sample: 0 } });
  await get(gateway.adminPort, '/endpoints/api-1/order', { method: 'POST', body: '{"order":"down"}' });
  const failed = await get(gateway.port);
  assert.equal(failed.status, 503);
  const story = await storyOf(gateway, String(failed.headers['x-request-id']));
  assert.partialDeepStrictEqual(story, { because: 'failed', way: 'no-healthy-endpoint', flags: 'UH' });
  assert.deepEqual(
    story.picks.map(({ afterwards, chosen, candidates }) => [afterwards, chosen, candidates[0]?.excluded]),
    [[true, null, 'set-down']],
  );
  assert.equal(sample(gateway.gateway.metrics(), 'plimsoll_gateway_excluded{reason="set-down"}'), 1);
});

test('stories are bounded: in number the oldest goes, of a large fleet the most telling are kept', async () => {
  await using api = await httpEndpoint('api-1');
  const { host, port } = api;
  const many = Array.from({ length: 120 }, (_, index) => ({ id: `api-${index + 1}`, host, port }));
  await using gateway = await stand(many, { explain: { sample: 1, keep: 3 }, policy: 'two-choices' });
  for (let nth = 1; nth <= 5; nth++) await get(gateway.port, '/', { headers: { 'x-request-id': `n${nth}` } });
  assert.equal((await get(gateway.adminPort, '/why/n2')).status, 404);
  const { picks } = await storyOf(gateway, 'n5');
  assert.equal(picks[0]?.candidates.length, 20);
  assert.equal(picks[0]?.left_out, 100);
  assert.ok(picks[0]?.drawn.every((id) => picks[0]?.candidates.some(({ endpoint }) => endpoint === id)));
  const list = await get(gateway.adminPort, '/why');
  assert.match(list.body, /^\{"kept":3,"latest":\[\{"id":"n5"/);
});

test('a gateway that keeps no stories says so', async () => {
  await using gateway = await stand([]);
  for (const path of ['/why', '/why/x']) {
    const answer = await get(gateway.adminPort, path);
    assert.equal(answer.status, 404);
    assert.match(answer.body, /keeps no stories: `explain: \{\}`/);
  }
});

/** A collector: what was posted to it, by path. */
async function collector(status = 200) {
  const posts: { path: string; body: unknown; key: string | undefined }[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const key = request.headers['x-api-key'];
      posts.push({ path: request.url ?? '', body: JSON.parse(body), key: typeof key === 'string' ? key : undefined });
      response.writeHead(status).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    posts,
    endpoint: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const spanShape = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.object({ key: z.string(), value: z.unknown() })) }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string().regex(/^[0-9a-f]{32}$/),
              spanId: z.string().regex(/^[0-9a-f]{16}$/),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.literal(2),
              startTimeUnixNano: z.string().regex(/^\d{19}$/),
              endTimeUnixNano: z.string().regex(/^\d{19}$/),
              attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
            }),
          ),
        }),
      ),
    }),
  ),
});

test('spans and metrics are pushed to a collector in the JSON form of OTLP', async () => {
  await using api = await httpEndpoint('api-1', echo);
  await using sink = await collector();
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  let spanId = '';
  {
    const otlp = { endpoint: sink.endpoint, service: 'edge', headers: { 'x-api-key': 'secret' }, interval_ns: 3600e9 };
    await using gateway = await stand([api], { tracing: { sample: 0 }, otlp });
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01`, 'x-request-id': 'r-1' };
    const seen = seenOf((await get(gateway.port, '/orders?id=7', { headers })).body);
    spanId = seen.headers['traceparent']?.split('-')[2] ?? '';
    await get(gateway.port);
    const dump = await get(gateway.adminPort, '/config');
    assert.doesNotMatch(dump.body, /secret/);
    assert.match(dump.body, /"x-api-key":"\(hidden\)"/);
  }
  const traces = sink.posts.filter((post) => post.path === '/v1/traces');
  assert.equal(traces.length, 1);
  assert.equal(traces[0]?.key, 'secret');
  const spans = spanShape.parse(traces[0]?.body).resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  assert.equal(spans.length, 1, 'the other was not sampled');
  const [span] = spans;
  assert.partialDeepStrictEqual(span, { traceId: trace, spanId, parentSpanId: '00f067aa0ba902b7', name: 'GET' });
  assert.ok(BigInt(span?.endTimeUnixNano ?? 0) >= BigInt(span?.startTimeUnixNano ?? 1));
  const attributes = new Map(span?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  assert.equal(attributes.get('url.path'), '/orders');
  assert.equal(attributes.get('http.response.status_code'), '200');
  assert.equal(attributes.get('plimsoll.endpoint'), 'api-1');
  assert.equal(attributes.get('plimsoll.request_id'), 'r-1');
  const metrics = JSON.stringify(sink.posts.find((post) => post.path === '/v1/metrics')?.body);
  assert.match(metrics, /"name":"plimsoll_gateway_requests_total"/);
  assert.match(
    metrics,
    /"isMonotonic":true,"dataPoints":\[\{"attributes":\[\{"key":"code","value":\{"stringValue":"200"\}\}\]/,
  );
});

test('a collector that refuses, or that is not there, costs spans and no request', async () => {
  await using api = await httpEndpoint('api-1');
  await using sink = await collector(503);
  const { host, port } = await deadEndpoint('none');
  for (const endpoint of [sink.endpoint, `http://${host}:${port}`]) {
    const otlp = { endpoint, spans_max: 4, interval_ns: 3600e9, metrics: false };
    await using gateway = await stand([api], { tracing: { sample: 1 }, otlp });
    for (let count = 0; count < 10; count++) assert.equal((await get(gateway.port)).status, 200);
    const page = gateway.gateway.metrics();
    assert.equal(sample(page, 'plimsoll_gateway_spans_dropped_total'), 6, 'beyond the queue');
  }
  assert.equal(sink.posts.length, 1);
});

test('Envoy’s default form: one line a request, and no way to end a field early', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-telling-'));
  try {
    const path = join(folder, 'access.log');
    await using api = await httpEndpoint('api-1');
    await using broken = await rawEndpoint('api-2', (socket) => void socket.destroy());
    {
      await using gateway = await stand([api], { access_log: { path, format: 'envoy' } });
      const headers = { 'x-request-id': 'r-1', 'user-agent': 'a "quoted" agent', 'x-forwarded-for': '10.1.1.1' };
      await get(gateway.port, '/orders?x=1', { headers });
      await get(gateway.adminPort, '/endpoints', {
        method: 'POST',
        body: JSON.stringify([{ id: 'api-2', host: broken.host, port: broken.port }]),
      });
      await get(gateway.port, '/', { method: 'POST', body: 'abc' });
    }
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    assert.match(
      lines[0] ?? '',
      /^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] "GET \/orders\?x=1 HTTP\/1\.1" 200 - 0 6 \d+ \d+ "10\.1\.1\.1, 127\.0\.0\.1" "a \\x22quoted\\x22 agent" "r-1" "127\.0\.0\.1:\d+" "127\.0\.0\.1:\d+"$/,
    );
    assert.match(
      lines[1] ?? '',
      /^\[\S+\] "POST \/ HTTP\/1\.1" 502 UC 3 0 \d+ - "127\.0\.0\.1" "-" "[0-9a-f]{12}-\w+" /,
    );
    assert.equal(lines.length, 2);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the metrics page is valid, whatever stands in a name', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api, await deadEndpoint('a.b:c-d')], {
    ceilings: {},
    concurrency: {},
    queue: {},
    hedge: {},
    breaker: {},
    explain: {},
    tracing: {},
    otlp: { endpoint: 'http://127.0.0.1:1', interval_ns: 3600e9, metrics: false },
  });
  for (let count = 0; count < 4; count++) await get(gateway.port);
  const page = await get(gateway.adminPort, '/metrics');
  assert.match(String(page.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  assertPrometheusText(page.body);
  const promtool = spawnSync('promtool', ['check', 'metrics'], { input: page.body, encoding: 'utf8' });
  if (promtool.error === undefined) assert.equal(promtool.status, 0, promtool.stdout + promtool.stderr);
});

test('the strict reading of a metrics page finds what is wrong', () => {
  const good = '# HELP a_total x\n# TYPE a_total counter\na_total{b="c"} 1\n';
  assertPrometheusText(good);
  for (const bad of [
    good.trimEnd(),
    `${good}a_total{b="c"} 2\n`,
    `${good}b 1\n`,
    '# HELP a x\n# TYPE a counter\na 1\n',
    '# TYPE a_total counter\n# HELP a_total x\na_total 1\n',
    `${good}${good}`,
    '# HELP a x\n# TYPE a gauge\na Infinity\n',
    '# HELP a x\n# TYPE a gauge\na{b="x"y"} 1\n',
    '# HELP a_total x\n# TYPE a_total counter\na_total -1\n',
    '# HELP a x\n# TYPE a gauge\na{0b="x"} 1\n',
  ]) {
    assert.throws(() => assertPrometheusText(bad), assert.AssertionError, bad);
  }
});

test('an operator weighs, drains and asks for one endpoint, and drains the whole', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  await using gateway = await stand([one, two], { policy: 'smooth-round-robin' });
  const post = (path: string, body: object) =>
    get(gateway.adminPort, path, { method: 'POST', body: JSON.stringify(body) });
  const shareOfOne = async (): Promise<number> => {
    const before = one.served();
    for (let count = 0; count < 8; count++) await get(gateway.port);
    return (one.served() - before) / 8;
  };
  assert.equal(await shareOfOne(), 0.5);
  assert.equal((await post('/endpoints/api-1/weight', { weight: 3 })).status, 200);
  assert.equal(await shareOfOne(), 0.75);
  assert.equal((await post('/endpoints/api-1/order', { order: 'drain' })).status, 200);
  assert.equal(await shareOfOne(), 0);
  assert.match((await get(gateway.adminPort, '/endpoints/api-1')).body, /"order":"drain","excluded_by":"drained"/);
  await post('/endpoints/api-1/order', { order: null });
  assert.equal(await shareOfOne(), 0.75);
  for (const [path, body, status] of [
    ['/endpoints/api-1/weight', { weight: -1 }, 400],
    ['/endpoints/api-1/order', { order: 'sideways' }, 400],
    ['/endpoints/api-9/order', { order: 'up' }, 404],
    ['/drain', { draining: 1 }, 400],
  ] as const) {
    const answer = await post(path, body);
    assert.equal(answer.status, status, path);
    assert.match(answer.body, /"problems":\[/);
  }
  await post('/drain', { draining: true });
  assert.equal((await get(gateway.adminPort, '/readyz')).body, 'draining\n');
  assert.equal((await get(gateway.port)).headers.connection, 'close');
  await post('/drain', { draining: false });
  assert.equal((await get(gateway.adminPort, '/readyz')).status, 200);
});
