import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { balancerNames } from '../policy.ts';
import { describeProblem, parseGatewayConfig } from './config.ts';

/** Every problem as a person would read it; or `fine`. */
function check(text: string): readonly string[] | 'fine' {
  const parsed = parseGatewayConfig(text, 'gateway.json');
  return parsed.ok ? 'fine' : parsed.problems.map(describeProblem);
}

const least = '{ "listen": { "host": "::", "port": 80 }, "endpoints": [] }';

test('a whole configuration is read', () => {
  const parsed = parseGatewayConfig(
    JSON.stringify({
      listen: { host: '127.0.0.1', port: 8080 },
      admin: { host: '127.0.0.1', port: 0 },
      policy: 'least-request',
      seed: 7,
      timeout_ns: 2e9,
      connect_timeout_ns: 250e6,
      retries: 2,
      health: { path: '/healthz', interval_ns: 1e9, timeout_ns: 5e8, fall: 3, rise: 2 },
      endpoints: [{ id: 'api-1', host: '127.0.0.1', port: 9001 }],
      access_log: null,
      limits: { requests_max: 5 },
    }),
    'gateway.json',
  );
  assert.ok(parsed.ok);
  const { config } = parsed;
  assert.equal(config.timeout, seconds(2));
  assert.equal(config.connectTimeout, ms(250));
  assert.deepEqual(config.health, { path: '/healthz', interval: seconds(1), timeout: ms(500), fall: 3, rise: 2 });
  assert.deepEqual(config.endpoints, [{ id: 'api-1', host: '127.0.0.1', port: 9001, weight: 1, zone: undefined }]);
  assert.equal(config.accessLog, undefined);
  assert.equal(config.limits.requestsMax, 5);
  assert.equal(config.limits.idleTimeout, seconds(60));
});

test('what is left out has a default', () => {
  const parsed = parseGatewayConfig(least, 'gateway.json');
  assert.ok(parsed.ok);
  assert.partialDeepStrictEqual(parsed.config, {
    admin: undefined,
    policy: 'round-robin',
    timeout: seconds(15),
    connectTimeout: seconds(1),
    retries: 1,
    health: undefined,
  });
});

test('YAML is read as well', () => {
  assert.equal(check('listen: { host: localhost, port: 80 }\nendpoints:\n  - { id: a, host: b, port: 1 }\n'), 'fine');
});

test('every mistake is named, with its place, what was found and what would be right', () => {
  const text = `{
  "listen": { "host": "", "port": 65536 },
  "policy": "fastest",
  "retrys": 3,
  "timeout_ns": "15s",
  "health": { "path": "healthz", "interval_ns": 1000000000, "timeout_ns": 0, "fall": 1, "rise": 1, "rize": 1 },
  "endpoints": [
    { "id": "api-1", "host": "127.0.0.1", "port": 9001 },
    { "id": "api 2", "host": "127.0.0.1" }
  ]
}`;
  assert.deepEqual(check(text), [
    'gateway.json:2:15: listen.host: found "", expected a host name or address',
    'gateway.json:2:27: listen.port: found 65536, expected a whole number, 0 to 65535',
    `gateway.json:3:3: policy: found "fastest", expected one of ${balancerNames.join(', ')}`,
    'gateway.json:4:3: retrys: unknown key; the keys here are listen, admin, engine, policy, seed, timeout_ns, ' +
      'connect_timeout_ns, retries, health, outlier, panic_below, deadline, hash_on, slow_start, subset, zone, breaker, ' +
      'ceilings, concurrency, queue, hedge, retry_budget, endpoints, access_log, limits',
    'gateway.json:5:3: timeout_ns: found "15s", expected a whole number of nanoseconds, 1000000 or more',
    'gateway.json:6:15: health.path: found "healthz", expected a path that begins with /',
    'gateway.json:6:61: health.timeout_ns: found 0, expected a whole number of nanoseconds, 1000000 or more',
    'gateway.json:6:100: health.rize: unknown key; the keys here are path, interval_ns, timeout_ns, fall, rise, ' +
      'jitter, initially, interval_down_ns, interval_edge_ns',
    'gateway.json:9:5: endpoints.1.port: found nothing, expected a whole number, 1 to 65535',
    'gateway.json:9:7: endpoints.1.id: found "api 2", expected 1 to 128 letters, digits, dots, dashes, colons',
  ]);
});

test('each key is accepted up to its bound and refused beyond', () => {
  const withKey = (key: string, value: unknown): string => JSON.stringify({ ...JSON.parse(least), [key]: value });
  for (const [key, last, first] of [
    ['retries', 10, 11],
    ['retries', 0, -1],
    ['timeout_ns', 1_000_000, 999_999],
    ['seed', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1],
    ['seed', 0, 0.5],
    ['access_log', null, ''],
    ['health', null, 1],
  ] as const) {
    assert.equal(check(withKey(key, last)), 'fine', `${key} ${last}`);
    assert.notEqual(check(withKey(key, first)), 'fine', `${key} ${first}`);
  }
});

test('what is not JSON, not YAML or not an object is one problem with a place', () => {
  assert.deepEqual(check('{ "listen": '), ['gateway.json:1:13: not JSON or YAML: Flow map must end with a }']);
  assert.deepEqual(check('[]'), [
    'gateway.json:1:1: found [], expected an object with at least `listen` and `endpoints`',
  ]);
  assert.deepEqual(check(''), [
    'gateway.json:1:1: found null, expected an object with at least `listen` and `endpoints`',
  ]);
});
