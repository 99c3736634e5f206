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
      panic_below: 0.5,
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
  assert.equal(config.observe.accessLog, undefined);
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
    'gateway.json:4:3: retrys: unknown key; the keys here are listen, upstream, admin, engine, workers, policy, seed, timeout_ns, ' +
      'connect_timeout_ns, retries, health, outlier, panic_below, deadline, hash_on, slow_start, subset, zone, breaker, ' +
      'ceilings, concurrency, queue, hedge, refuse_hopeless, retry_budget, chain, unsafe, endpoints, services, routes, request_id, explain, tracing, otlp, access_log, limits',
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
    ['timeout_ns', 4_000_000, 999_999],
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
    'gateway.json:1:1: found [], expected an object with at least `listen`, and `endpoints` or `services`',
  ]);
  assert.deepEqual(check(''), [
    'gateway.json:1:1: found null, expected an object with at least `listen`, and `endpoints` or `services`',
  ]);
});

test('settings that are a trap together are refused with their place and arithmetic, unless allowed by name', () => {
  const trap = `listen: { host: localhost, port: 80 }
timeout_ns: 2000000000
health:
  { path: /healthz, interval_ns: 2000000000, timeout_ns: 1000000000, fall: 3, rise: 2 }
panic_below: 0
queue:
  interval_ns: 2000000000
chain:
  calls:
    - { name: store, timeout_ns: 1000000000 }
    - { name: mail, timeout_ns: 1500000000, retries: 1 }
retries: 0
endpoints:
  - { id: a, host: b, port: 1 }
  - { id: c, host: b, port: 2 }
`;
  assert.deepEqual(check(trap), [
    'gateway.json:5:1: panic_below: unsafe: 3 checks missed within 5.00 s take out all 2 endpoints when all are slow ' +
      'together, and 0 of them are asked then; right would be panic_below: 0.01 (when nobody is healthy, all are asked), ' +
      'or 0.5 as Envoy has it; or allow it by name: unsafe: [eviction-empties-fleet]',
    'gateway.json:7:3: queue.interval_ns: unsafe: a request may wait for 2.00 s in the queue, and is given 2.00 s in ' +
      'all; right would be an interval far below 2.00 s: 100 ms when nothing is known; or allow it by name: unsafe: [inner-timeout]',
    'gateway.json:11:7: chain.calls.1: unsafe: 2 × 1.50 s + 1 × 0 ns = 3.00 s, and the gateway gives up after 2.00 s; ' +
      'right would be let mail end before 2.00 s: a shorter timeout, fewer retries, or pass the deadline on; ' +
      'or allow it by name: unsafe: [inner-timeout]',
  ]);
  assert.equal(check(`${trap}unsafe: [inner-timeout, eviction-empties-fleet]\n`), 'fine');
  assert.equal(check(`${trap}unsafe: [inner-timeout]\n`).length, 1);
  assert.match(check(`${trap}unsafe: [everything]\n`)[0] ?? '', /gateway\.json:16:10: unsafe\.0: found "everything"/);
});
