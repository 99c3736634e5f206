import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../../base.ts';
import { envoyConfiguration, envoyEndpoints } from './envoy-configuration.ts';
import type { GatewaySettings } from './gateway-program.ts';

const settings: GatewaySettings = {
  service: 'api',
  policy: 'round-robin',
  timeout: seconds(10),
  connectTimeout: seconds(1),
  retries: 0,
  health: undefined,
  seed: 1,
  endpoints: [],
};
const place = {
  host: '127.0.0.1',
  port: 8080,
  adminPort: 8081,
  accessLog: '/run/lab/access.log',
  endpointsFile: '/run/lab/endpoints.json',
};

function textOf(changes: Partial<GatewaySettings>): string {
  return JSON.stringify(envoyConfiguration({ ...settings, ...changes }, place));
}

test('a plain gateway has its timeouts, no retries, no panic, and breakers that do not break', () => {
  const text = textOf({});
  for (const piece of [
    '"admin":{"address":{"socket_address":{"address":"127.0.0.1","port_value":8081}}}',
    '"route":{"cluster":"api","timeout":"10s"}',
    '"connect_timeout":"1s"',
    '"healthy_panic_threshold":{"value":0}',
    '"max_requests":1000000',
    'load_balancing_policies.round_robin.v3.RoundRobin',
    '"path":"/run/lab/access.log"',
    '"path":"/run/lab/endpoints.json"',
  ]) {
    assert.ok(text.includes(piece), piece);
  }
  assert.doesNotMatch(text, /health_checks|retry_policy/);
});

test('retries go to another endpoint, checks count to the thresholds, least request looks at all', () => {
  const health = { path: '/healthz', interval: ms(500), timeout: ms(200), fall: 3, rise: 2 };
  const text = textOf({ policy: 'least-request', retries: 2, health });
  for (const piece of [
    '"num_retries":2',
    'PreviousHostsPredicate',
    '"timeout":"0.2s","interval":"0.5s","no_traffic_interval":"0.5s","unhealthy_threshold":3,"healthy_threshold":2',
    '"selection_method":"FULL_SCAN"',
  ]) {
    assert.ok(text.includes(piece), piece);
  }
});

test('a timeout is never rounded to nothing, which would be none', () => {
  assert.match(textOf({ timeout: ms(0.2) }), /"timeout":"0.001s"/);
});

test('an endpoint carries the name that the access log will say', () => {
  const text = JSON.stringify(envoyEndpoints('api', [{ id: 'api-1', host: '127.0.0.1', port: 4001 }]));
  assert.match(text, /"hostname":"api-1","address":\{"socket_address":\{"address":"127.0.0.1","port_value":4001\}\}/);
});
