import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Row, settings, table, said, samples } from '../testing/facts.ts';
import { judged, reasonOf, standing } from '../testing/judged.ts';

const cutAt = (seconds: number, parts: Row = {}, count = 12): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    at: index * 20,
    seconds: seconds + (index % 3) / 1000,
    status: 504,
    ...parts,
  }));
const quick = (count = 40, parts: Row = {}): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    at: index * 6 + 3,
    seconds: 0.05 + (index % 7) / 100,
    status: 200,
    upstream: 0.04,
    ...parts,
  }));

// ── timeout-inversion ──

test('a balancer that gives up at 60 s before an application that may take 120 s is named, with its own word for it', () => {
  const found = judged({
    settings: settings(`
      haproxy | backend app | upstream.read-timeout = 20 | haproxy.cfg
      gunicorn | server     | dependency.timeout = 60    | gunicorn.conf.py
    `),
    requests: [table('haproxy', [...quick(40, { flag: '----' }), ...cutAt(20, { flag: 'sH--' })])],
  });
  assert.equal(found.verdict.pattern, 'timeout-inversion');
  assert.equal(found.verdict.culprit, 'haproxy timeout server 20 s');
});

test('the log of the application alone shows that the work went on after the balancer had given up', () => {
  const found = judged({
    settings: settings('aws | load balancer | upstream.idle-timeout = 30 | lb-attributes.json'),
    requests: [
      table('alb', [...quick(), ...cutAt(30, { flag: 'target-no-answer' })]),
      table(
        'access-log',
        [
          ...quick(30),
          ...Array.from({ length: 10 }, (_, index) => ({ at: index, seconds: 41 + index / 3, status: 200 })),
        ],
        'app.log',
      ),
    ],
  });
  assert.equal(found.verdict.pattern, 'timeout-inversion');
  assert.match(found.verdict.culprit ?? '', /idle timeout 30 s/);
  assert.match(found.verdict.sentence, /app\.log has 10 that took up to 44 s/);
});

test('a caller that leaves at 10 s before a proxy that would wait 30 s shows as 499 at 10 s', () => {
  const found = judged({
    settings: settings(`
      node  | client     | downstream.request-timeout = 10 | client.env
      nginx | location / | upstream.read-timeout = 30      | nginx.conf
    `),
    requests: [table('nginx', [...quick(), ...cutAt(10, { status: 499 })])],
  });
  assert.equal(found.verdict.pattern, 'timeout-inversion');
  assert.match(found.verdict.culprit ?? '', /node request timeout 10 s/);
});

test('failures at the time of connecting are a target that nobody can reach, no slow work', () => {
  const found = judged({
    settings: settings('aws | load balancer | upstream.idle-timeout = 60 | lb-attributes.json'),
    requests: [table('alb', [...quick(), ...cutAt(10, { flag: 'target-not-reached', replica: '10.0.0.1:80' }, 6)])],
  });
  assert.equal(
    found.verdict.pattern === 'timeout-inversion' || found.verdict.pattern === 'default-route-timeout',
    false,
  );
  assert.equal(standing(found, 'default-route-timeout'), 'silent');
});

test('failures that take differently long are slow work and no timeout', () => {
  const spread = Array.from({ length: 30 }, (_, index): Row => ({ at: index, seconds: 3 + index, status: 504 }));
  const found = judged({
    settings: settings(`
      nginx | location / | upstream.read-timeout = 15
      node  | client     | downstream.request-timeout = 30 | client.env
    `),
    requests: [table('nginx', spread)],
  });
  assert.notEqual(found.verdict.pattern, 'timeout-inversion');
});

test('a success that took longer than the cut refutes it', () => {
  const found = judged({
    settings: settings(`
      nginx | location / | upstream.read-timeout = 15
      node  | client     | downstream.request-timeout = 30 | client.env
    `),
    requests: [table('nginx', [...quick(), ...cutAt(15), { at: 1, seconds: 22, status: 200, upstream: 22 }])],
  });
  assert.equal(standing(found, 'timeout-inversion'), 'refuted');
  assert.match(reasonOf(found, 'timeout-inversion'), /the longest took 22 s/);
});

test('a plateau whose setting is not among the evidence is left open, and the setting is asked for', () => {
  const found = judged({
    requests: [table('haproxy', [...quick(40, { flag: '----' }), ...cutAt(20, { flag: 'sH--' })])],
  });
  assert.equal(found.verdict.pattern, 'undecided');
  assert.match(found.verdict.missing ?? '', /the setting that says 20/);
});

test('by settings alone: a caller that gives up before what it calls is a finding, as long as nothing else was seen', () => {
  const found = judged({
    settings: settings(`
      node  | client     | downstream.request-timeout = 10 | client.env
      envoy | route /    | route.timeout = 30              | envoy.yaml
    `),
  });
  assert.equal(found.verdict.pattern, 'timeout-inversion');
  const ordered = judged({
    settings: settings(`
      node  | client     | downstream.request-timeout = 30 | client.env
      envoy | route /    | route.timeout = 10              | envoy.yaml
    `),
  });
  assert.notEqual(ordered.verdict.pattern, 'timeout-inversion');
});

// ── default-route-timeout ──

test('504 at 60.0 s from an nginx that was told no proxy_read_timeout is its default', () => {
  const found = judged({
    settings: settings('nginx | location /export | upstream.read-timeout = (60)'),
    requests: [table('nginx', [...quick(), ...cutAt(60)])],
    messages: said(
      'nginx',
      'upstream-timeout',
      'upstream timed out (110: Connection timed out) while reading response header from upstream',
      12,
    ),
  });
  assert.equal(found.verdict.pattern, 'default-route-timeout');
  assert.match(found.verdict.culprit ?? '', /nginx location \/export: proxy_read_timeout unset \(60 s\)/);
});

test('the same plateau is no default where somebody wrote it', () => {
  const found = judged({
    settings: settings(`
      nginx | location /export | upstream.read-timeout = 60
      node  | client           | downstream.request-timeout = 90 | client.env
    `),
    requests: [table('nginx', [...quick(), ...cutAt(60)])],
  });
  assert.equal(found.verdict.pattern, 'timeout-inversion');
});

test('errors that the log calls successes are found by the flag', () => {
  const found = judged({
    requests: [table('envoy', [...quick(40), ...cutAt(15, { status: 200, flag: 'UT', replica: '10.0.0.1:50051' }, 4)])],
  });
  assert.equal(found.verdict.pattern, 'default-route-timeout');
  assert.match(found.verdict.sentence, /error is in the trailer/);
});

test('a slow backend whose answers spread up to 15 s and beyond is not a default that binds', () => {
  const slow = Array.from({ length: 40 }, (_, index): Row => ({
    at: index,
    seconds: 1 + index / 2,
    status: 200,
    upstream: 1 + index / 2,
  }));
  const found = judged({
    settings: settings('envoy | route / | route.timeout = (15)'),
    requests: [table('envoy', slow)],
  });
  assert.equal(standing(found, 'default-route-timeout'), 'silent');
});

// ── retry-window-too-short ──

test('nginx with a window for retries no longer than one try never asks the second server', () => {
  const found = judged({
    settings: settings(`
      nginx | location / | upstream.read-timeout = 10
      nginx | location / | upstream.connect-timeout = (60)
      nginx | location / | retry.window = 10
      nginx | location / | route.retries = 2
    `),
    requests: [table('nginx', [...quick(40, { attempts: 1 }), ...cutAt(10, { attempts: 1, replica: '10.0.0.1:80' })])],
  });
  assert.equal(found.verdict.pattern, 'retry-window-too-short');
  assert.match(found.verdict.culprit ?? '', /proxy_next_upstream_timeout 10 s below 2 × proxy_read_timeout 10 s/);
});

test('a dead host that costs more to connect to than the window allows is never passed over', () => {
  const found = judged({
    settings: settings(`
      nginx | location / | upstream.read-timeout = 30
      nginx | location / | upstream.connect-timeout = 8
      nginx | location / | retry.window = 5
      nginx | location / | route.retries = (1)
    `),
    requests: [
      table('nginx', [
        ...quick(40, { attempts: 1, connect: 0.001 }),
        ...cutAt(8, { attempts: 1, replica: '10.0.0.9:80' }),
      ]),
    ],
  });
  assert.equal(found.verdict.pattern, 'retry-window-too-short');
});

test('a route whose first try may spend all of it retries nothing', () => {
  const found = judged({
    settings: settings(`
      envoy | route /api | route.timeout = 3
      envoy | route /api | route.retries = 2
    `),
    samples: samples('envoy_cluster_upstream_rq_retry{envoy_cluster_name=api} 0'),
    requests: [table('envoy', [...quick(), ...cutAt(3, { flag: 'UT' })])],
  });
  assert.equal(found.verdict.pattern, 'retry-window-too-short');
  assert.match(found.verdict.culprit ?? '', /without a timeout for one try/);
});

test('a second try that begins with too little time left is the same fault', () => {
  const found = judged({
    settings: settings(`
      envoy | route /api | route.timeout = 5
      envoy | route /api | route.per-try-timeout = 4
      envoy | route /api | route.retries = 3
    `),
    requests: [table('envoy', [...quick(40, { seconds: 1.8 }), ...cutAt(5, { flag: 'UT', attempts: 2 })])],
  });
  assert.equal(found.verdict.pattern, 'retry-window-too-short');
  assert.match(found.verdict.sentence, /for a second 1 s are left/);
});

test('three tries of 150 ms in a second are in order', () => {
  const found = judged({
    settings: settings(`
      contour | route / | route.timeout = 1
      contour | route / | route.per-try-timeout = 0.15
      contour | route / | route.retries = 3
    `),
  });
  assert.equal(standing(found, 'retry-window-too-short'), 'refuted');
  assert.match(reasonOf(found, 'retry-window-too-short'), /room for 6\.67 tries/);
});

test('retries that did happen refute it', () => {
  const found = judged({
    settings: settings(`
      envoy | route / | route.timeout = 3
      envoy | route / | route.retries = 2
    `),
    requests: [table('envoy', [...quick(), ...cutAt(3, { flag: 'UT', attempts: 3 })])],
  });
  assert.equal(standing(found, 'retry-window-too-short'), 'refuted');
});

test('what settings could do one day accuses nobody while requests fail of something else', () => {
  const found = judged({
    settings: settings(`
      node  | client  | downstream.request-timeout = 10 | client.env
      envoy | route / | route.timeout = 30              | envoy.yaml
    `),
    requests: [
      table('envoy', [
        ...quick(),
        ...Array.from({ length: 20 }, (_, index): Row => ({
          at: index,
          seconds: 0.002 + index / 5000,
          status: 503,
          flag: 'UF',
        })),
      ]),
    ],
  });
  assert.notEqual(found.verdict.pattern, 'timeout-inversion');
});

test('a default that binds is no timeout out of order, even where a neighbour allows more', () => {
  const found = judged({
    settings: settings(`
      nginx | location / | upstream.read-timeout = (60)
      node  | client     | downstream.request-timeout = 120 | client.env
    `),
    requests: [table('nginx', [...quick(), ...cutAt(60)])],
  });
  assert.equal(found.verdict.pattern, 'default-route-timeout');
  assert.notEqual(standing(found, 'timeout-inversion'), 'established');
});

test('settings that leave a second try some time prove nothing by themselves', () => {
  const found = judged({
    settings: settings(`
      envoy | route / | route.timeout = 10
      envoy | route / | route.per-try-timeout = 6
      envoy | route / | route.retries = 2
    `),
  });
  assert.equal(found.verdict.pattern, 'undecided');
  assert.equal(standing(found, 'retry-window-too-short'), 'possible');
});
