import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabScrape } from '../lab.ts';
import { gatewayReading } from './gateway-reading.ts';

const read = (program: string, lines: readonly string[]): ReturnType<typeof gatewayReading> =>
  gatewayReading({
    replicas: new Map(),
    silent: [],
    cpu: new Map(),
    gateway: { program, text: lines.join('\n') },
  } satisfies LabScrape);

test('our gateway tells who is in rotation, and what it has held at whom', () => {
  const found = read('plimsoll', [
    'plimsoll_gateway_requests_total{code="200"} 7',
    'plimsoll_gateway_requests_total{code="503"} 2',
    'plimsoll_gateway_endpoint_healthy{endpoint="api-1"} 1',
    'plimsoll_gateway_endpoint_healthy{endpoint="api-2"} 0',
    'plimsoll_gateway_endpoint_in_flight_seconds_total{endpoint="api-2"} 12.5',
  ]);
  assert.deepEqual(
    [...(found?.inRotation ?? [])],
    [
      ['api-1', true],
      ['api-2', false],
    ],
  );
  assert.equal(found?.requests, 9);
  assert.equal(found?.heldSeconds.get('api-2'), 12.5);
  assert.equal(found !== undefined && 'retries' in found, false, 'it did not say');
});

test('of HAProxy’s servers those are in rotation that are up, though on their way down, or that nobody checks', () => {
  const found = read('haproxy', [
    '# pxname,svname,wretr,wredis,status,type,req_tot,',
    'gateway,FRONTEND,,,OPEN,0,20399,',
    'api,api-1,1,2,UP,2,,',
    'api,api-2,0,4,UP 1/2,2,,',
    'api,api-3,0,0,DOWN 1/2,2,,',
    'api,api-4,0,0,no check,2,,',
    'api,api-5,0,0,MAINT,2,,',
    'api,BACKEND,1,6,UP,1,,',
  ]);
  assert.deepEqual(
    [...(found?.inRotation ?? [])].filter(([, isIn]) => isIn).map(([id]) => id),
    ['api-1', 'api-2', 'api-4'],
  );
  assert.equal(found?.inRotation.size, 5);
  assert.equal(found?.requests, 20_399);
  assert.equal(found?.retries, 7, 'the backend’s own row is their sum, and is not counted again');
});

test('of Envoy’s hosts those are in rotation that carry no flag', () => {
  const found = read('envoy', [
    'api::observability_name::api',
    'api::default_priority::max_connections::1024',
    'api::127.0.0.1:32811::rq_active::3',
    'api::127.0.0.1:32811::hostname::api-1',
    'api::127.0.0.1:32811::health_flags::healthy',
    'api::127.0.0.1:32812::hostname::api-2',
    'api::127.0.0.1:32812::health_flags::/failed_active_hc',
  ]);
  assert.deepEqual(
    [...(found?.inRotation ?? [])],
    [
      ['api-1', true],
      ['api-2', false],
    ],
  );
});

test('nginx says nothing of its replicas', () => {
  assert.equal(read('nginx', ['Active connections: 3']), undefined);
});
