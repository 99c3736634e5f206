import assert from 'node:assert/strict';
import { test } from 'node:test';

import { result, type Row, said, samples, settings, table } from '../testing/facts.ts';
import { judged, reasonOf, standing } from '../testing/judged.ts';

// ── dependency-pool-exhaustion ──

test('a pool of ten against a demand of thirty-two connections', () => {
  const found = judged({
    settings: settings(`
      app | pool main | pool.size = 10           | app.yaml
      app | pool main | pool.acquire-timeout = 5 | app.yaml
      app | pool main | pool.hold-time = 0.4     | app.yaml
    `),
    samples: samples(
      'hikaricp_connections_active{pool=main} 10 10 10\nhikaricp_connections_pending{pool=main} 140 180 190',
    ),
    results: [
      result('k6', {
        requests: 4800,
        ratePerSecond: 80,
        errors: 3300,
        latency: { '0.5': 4.8, '0.95': 5.05, '1': 5.4 },
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'dependency-pool-exhaustion');
  assert.match(found.verdict.arithmetic.join('\n'), /80\/s × 400 ms = 32\.0 connections needed, 10 there/);
});

test('what the pool itself says every time, at the whole acquire timeout, is enough', () => {
  const found = judged({
    messages: said(
      'app',
      'pool-timeout',
      'HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=25)',
      8,
    ),
  });
  assert.equal(found.verdict.pattern, 'dependency-pool-exhaustion');
  assert.match(found.verdict.sentence, /10 connections/);
});

test('SQLAlchemy’s words count as well, and the access log shows the plateau', () => {
  const slow = Array.from({ length: 20 }, (_, index): Row => ({
    at: index,
    seconds: 30.01 + index / 1000,
    status: 500,
  }));
  const found = judged({
    messages: said(
      'app',
      'pool-timeout',
      'QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00',
      20,
    ),
    requests: [table('access-log', slow)],
  });
  assert.equal(found.verdict.pattern, 'dependency-pool-exhaustion');
});

test('a pool with free connections is not why requests fail', () => {
  const found = judged({
    settings: settings('app | pool main | pool.size = 20 | app.yaml'),
    samples: samples('hikaricp_connections_active{pool=main} 3 4 3\nhikaricp_connections_pending{pool=main} 0 0 0'),
    results: [result('k6', { requests: 4800, ratePerSecond: 80, errors: 900, latency: { '0.95': 2 } })],
  });
  assert.equal(standing(found, 'dependency-pool-exhaustion'), 'refuted');
});

test('a demand that fits refutes it by arithmetic', () => {
  const found = judged({
    settings: settings(`
      app | pool main | pool.size = 40       | app.yaml
      app | pool main | pool.hold-time = 0.1 | app.yaml
    `),
    samples: samples('hikaricp_connections_active{pool=main} 40'),
    results: [result('k6', { requests: 6000, ratePerSecond: 100 })],
  });
  assert.equal(standing(found, 'dependency-pool-exhaustion'), 'refuted');
  assert.match(reasonOf(found, 'dependency-pool-exhaustion'), /100\/s × 100 ms = 10\.0 connections needed/);
});

// ── acquire-timeout-too-short ──

const burst = 'Timeout failure stats (total=30, active=30, idle=0, waiting=120)';
const calm = 'Pool stats (total=30, active=9, idle=21, waiting=0)';

test('bursts that a short acquire timeout cuts off, in a pool that is half idle in between', () => {
  const found = judged({
    settings: settings(`
      app | pool main | pool.size = 30              | app.properties
      app | pool main | pool.acquire-timeout = 0.3  | app.properties
      app | pool main | pool.hold-time = 0.1        | app.properties
    `),
    messages: [...said('app', 'pool-timeout', burst, 6), ...said('app', 'pool', calm, 6)],
  });
  assert.equal(found.verdict.pattern, 'acquire-timeout-too-short');
  assert.match(found.verdict.arithmetic.join(), /120 waiting × 100 ms hold ÷ 30 connections = 400 ms > 300 ms/);
  assert.equal(standing(found, 'dependency-pool-exhaustion'), 'refuted');
});

test('a queue that is served within the timeout refutes it', () => {
  const found = judged({
    settings: settings(`
      app | pool main | pool.size = 30              | app.properties
      app | pool main | pool.acquire-timeout = 2    | app.properties
      app | pool main | pool.hold-time = 0.1        | app.properties
    `),
    messages: [...said('app', 'pool-timeout', burst, 6), ...said('app', 'pool', calm, 6)],
  });
  assert.equal(standing(found, 'acquire-timeout-too-short'), 'refuted');
});

test('without a hold time it is left open, and the hold time is asked for', () => {
  const found = judged({
    settings: settings(`
      app | pool main | pool.size = 30              | app.properties
      app | pool main | pool.acquire-timeout = 0.3  | app.properties
    `),
    messages: [...said('app', 'pool-timeout', burst, 6), ...said('app', 'pool', calm, 6)],
  });
  assert.equal(found.verdict.pattern, 'undecided');
  assert.match(found.verdict.missing ?? '', /hold time/);
});

test('a pool that says it is exhausted while its gauges stand at the top needs no acquire timeout', () => {
  const found = judged({
    messages: said(
      'app',
      'pool-timeout',
      'ConnectionPoolTimeoutException: Timeout waiting for connection from pool',
      12,
    ),
    samples: samples(
      'httpclient_pool_max_connections{pool=search} 20\nhttpclient_pool_leased_connections{pool=search} 20\nhttpclient_pool_pending_requests{pool=search} 85',
    ),
  });
  assert.equal(found.verdict.pattern, 'dependency-pool-exhaustion');
});

test('a pool of memory is no pool of connections', () => {
  const found = judged({
    samples: samples('jvm_memory_pool_bytes_used{pool=Eden} 100\njvm_memory_pool_bytes_max{pool=Eden} 100'),
  });
  assert.equal(standing(found, 'dependency-pool-exhaustion'), 'silent');
});
