import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldOf, unitOf } from './access-fields.ts';

test('spellings of one thing are one field, and a unit in the name counts', () => {
  for (const [key, field, unit] of [
    ['rt', 'seconds', 1],
    ['request_time', 'seconds', 1],
    ['duration', 'seconds', undefined],
    ['duration_ms', 'seconds', 1e-3],
    ['latencyMs', 'seconds', 1e-3],
    ['elapsed_seconds', 'seconds', 1],
    ['time_ms', 'seconds', 1e-3],
    ['time', 'time', undefined],
    ['@timestamp', 'time', undefined],
    ['START_TIME', 'start', undefined],
    ['x-envoy-upstream-service-time', 'upstreamSeconds', 1e-3],
    ['OriginDuration', 'upstreamSeconds', 1e-9],
    ['UPSTREAM_HOST', 'replica', undefined],
    ['uaddr', 'replica', undefined],
    ['ust', 'upstreamStatus', undefined],
    ['http.response.status_code', 'status', undefined],
    ['remote_addr', 'client', undefined],
    ['worker_pid', 'worker', undefined],
    ['RESPONSE_FLAGS', 'flag', undefined],
  ] as const) {
    assert.deepEqual([fieldOf(key)?.field, fieldOf(key)?.unit], [field, unit], key);
  }
  assert.equal(fieldOf('user_agent'), undefined);
  assert.equal(fieldOf('bytes_sent'), undefined);
});

test('a unit that nobody names is found from the numbers', () => {
  assert.equal(unitOf([13, 15, 12]), 1e-3);
  assert.equal(unitOf([0.236, 14.157]), 1);
  assert.equal(unitOf([13.271, 44.01]), 1e-3);
  assert.equal(unitOf([12_345_678, 9_000_000_000]), 1e-9);
  assert.equal(unitOf([400_000, 500_000]), 1e-6);
  assert.equal(unitOf([]), 1e-3);
});
