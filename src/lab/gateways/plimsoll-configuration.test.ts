import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../../base.ts';
import { plimsollConfiguration } from './plimsoll-configuration.ts';

test('the settings in our own words', () => {
  const configuration = plimsollConfiguration(
    {
      service: 'api',
      policy: 'least-request',
      timeout: seconds(10),
      connectTimeout: seconds(1),
      retries: 2,
      health: { path: '/healthz', interval: ms(500), timeout: ms(200), fall: 3, rise: 2 },
      seed: 7,
      endpoints: [{ id: 'api-1', host: '127.0.0.1', port: 4001 }],
    },
    { host: '127.0.0.1', port: 8080 },
  );
  assert.deepEqual(JSON.parse(JSON.stringify(configuration)), {
    listen: { host: '127.0.0.1', port: 8080 },
    admin: { host: '127.0.0.1', port: 0 },
    policy: 'least-request',
    seed: 7,
    timeout_ns: 10e9,
    connect_timeout_ns: 1e9,
    retries: 2,
    health: { path: '/healthz', interval_ns: 500e6, timeout_ns: 200e6, fall: 3, rise: 2 },
    endpoints: [{ id: 'api-1', host: '127.0.0.1', port: 4001 }],
    access_log: null,
    unsafe: ['inner-timeout', 'retry-storm', 'workers-exhausted', 'eviction-empties-fleet', 'eviction-overloads-rest'],
  });
});
