import assert from 'node:assert/strict';
import { test } from 'node:test';

import { result, type Row, said, samples, settings, table } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

const refused: Row = { seconds: 0, status: 503, flag: 'UO' };
const served: Row = { seconds: 0.2, status: 200, upstream: 0.19, replica: '10.0.0.1:80' };
const mixed = (bad: Row, every = 10, count = 100): Row[] =>
  Array.from({ length: count }, (_, index) => ({ at: index / 10, ...(index % every === 0 ? bad : served) }));

test('the flag in the log names it, and the smallest bound is the culprit', () => {
  const found = judged({
    settings: settings(`
      envoy | cluster api | breaker.max-connections = 4096
      envoy | cluster api | breaker.max-pending = (1024)
      envoy | cluster api | breaker.max-requests = 200
    `),
    requests: [table('envoy', mixed(refused))],
  });
  assert.equal(found.verdict.pattern, 'circuit-breaker-overflow');
  assert.match(found.verdict.culprit ?? '', /cluster api: max_requests 200/);
});

test('the counters alone name it, and the gauge that stands at a bound is the culprit', () => {
  const found = judged({
    settings: settings(`
      envoy | cluster api | breaker.max-connections = 100
      envoy | cluster api | breaker.max-pending = 16
      envoy | cluster api | breaker.max-requests = (1024)
    `),
    samples: samples(`
      envoy_cluster_upstream_rq_pending_overflow{envoy_cluster_name=api} 5 905
      envoy_cluster_upstream_rq_pending_active{envoy_cluster_name=api} 0 16
      envoy_cluster_upstream_cx_active{envoy_cluster_name=api} 100 100
      envoy_cluster_membership_healthy{envoy_cluster_name=api} 6 6
      envoy_cluster_membership_total{envoy_cluster_name=api} 6 6
    `),
  });
  assert.equal(found.verdict.pattern, 'circuit-breaker-overflow');
  assert.match(found.verdict.culprit ?? '', /max_pending_requests 16/);
});

test('nobody healthy is another fault with the same status', () => {
  const found = judged({
    settings: settings('envoy | cluster api | breaker.max-requests = (1024)'),
    requests: [table('envoy', mixed({ seconds: 0, status: 503, flag: 'UH' }, 2))],
    samples: samples('envoy_cluster_upstream_rq_pending_overflow{envoy_cluster_name=api} 0 0'),
  });
  assert.equal(standing(found, 'circuit-breaker-overflow'), 'silent');
});

test('503s of the backend itself are not refusals of the proxy', () => {
  const found = judged({
    samples: samples(`
      envoy_cluster_upstream_rq{envoy_cluster_name=api,envoy_response_code=503} 10 4010
      envoy_cluster_upstream_rq_pending_overflow{envoy_cluster_name=api} 0 3
    `),
  });
  assert.notEqual(found.verdict.pattern, 'circuit-breaker-overflow');
});

test('HAProxy’s queue in front of a bounded server gives up with sQ', () => {
  const found = judged({
    settings: settings(`
      haproxy | server app/a | upstream.endpoint-max-requests = 20
      haproxy | backend app  | queue.timeout = 2
    `),
    samples: samples('haproxy_scur{proxy=app,server=a,type=server} 20'),
    requests: [table('haproxy', mixed({ seconds: 2.001, status: 503, flag: 'sQ--', queue: 2 }, 4))],
    results: [result('hey', { statuses: { '200': 75, '503': 25 }, requests: 100, connections: 60 })],
  });
  assert.equal(found.verdict.pattern, 'circuit-breaker-overflow');
  assert.match(found.verdict.culprit ?? '', /server maxconn 20/);
});

test('three refusals in a hundred thousand are no incident', () => {
  const found = judged({
    samples: samples(`
      envoy_cluster_upstream_rq_pending_overflow{envoy_cluster_name=api} 0 3
      envoy_cluster_upstream_rq_total{envoy_cluster_name=api} 0 100000
    `),
  });
  assert.notEqual(found.verdict.pattern, 'circuit-breaker-overflow');
});

test('a full bulkhead is a bound of one’s own as well', () => {
  const found = judged({
    messages: said(
      'app',
      'log-error',
      "BulkheadFullException: Bulkhead 'pricing' is full and does not permit further calls",
      12,
    ),
  });
  assert.equal(found.verdict.pattern, 'circuit-breaker-overflow');
});

test('a breaker that opened because calls failed is not an overflow', () => {
  const found = judged({
    messages: said('app', 'log-error', "CircuitBreaker 'pricing' is OPEN and does not permit further calls", 12),
  });
  assert.equal(standing(found, 'circuit-breaker-overflow'), 'silent');
});
