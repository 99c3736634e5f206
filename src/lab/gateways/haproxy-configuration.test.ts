import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../../base.ts';
import type { GatewaySettings } from './gateway-program.ts';
import { haproxyConfiguration } from './haproxy-configuration.ts';

const settings: GatewaySettings = {
  service: 'api',
  policy: 'round-robin',
  timeout: seconds(10),
  connectTimeout: seconds(1),
  retries: 0,
  health: undefined,
  seed: 1,
  endpoints: [
    { id: 'api-1', host: '127.0.0.1', port: 4001 },
    { id: 'api-2', host: '127.0.0.1', port: 4002 },
  ],
};
const place = { host: '127.0.0.1', port: 8080, statisticsPort: 8081, connectionsMax: 8192 };

test('a plain gateway', () => {
  assert.equal(
    haproxyConfiguration(settings, place),
    `global
    maxconn 8192
    nbthread 1
    noreuseport
    log stdout format raw local0
    stats socket ipv4@127.0.0.1:8081 level admin

defaults
    mode http
    log global
    option httplog
    http-reuse always
    retries 0
    timeout connect 1000ms
    timeout server 10000ms
    timeout queue 10000ms
    timeout client 75s
    timeout http-keep-alive 75s

frontend gateway
    bind 127.0.0.1:8080
    default_backend api

backend api
    balance roundrobin
    server api-1 127.0.0.1:4001
    server api-2 127.0.0.1:4002
`,
  );
});

test('retries, health checks and another policy', () => {
  const text = haproxyConfiguration(
    {
      ...settings,
      policy: 'least-request',
      retries: 2,
      health: { path: '/healthz', interval: ms(500), timeout: ms(200), fall: 3, rise: 2 },
    },
    place,
  );
  for (const line of [
    '    retries 2',
    '    option redispatch 1',
    '    retry-on conn-failure empty-response',
    '    timeout check 200ms',
    '    balance leastconn',
    '    option httpchk GET /healthz',
    '    http-check expect status 200',
    '    server api-1 127.0.0.1:4001 check inter 500ms fall 3 rise 2',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
});

test('random draws one server, not the better of two', () => {
  assert.match(haproxyConfiguration({ ...settings, policy: 'random' }, place), /balance random\(1\)/);
});

test('a timeout is never rounded to nothing, which would be none', () => {
  assert.match(haproxyConfiguration({ ...settings, timeout: ms(0.2) }, place), /timeout server 1ms/);
});
