import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { type GatewaySafety, unsafeGateway } from './unsafe-gateway.ts';

const safe: GatewaySafety = {
  timeout: seconds(15),
  connectTimeout: seconds(1),
  retries: 1,
  retryRatio: 0.2,
  queueInterval: undefined,
  checks: undefined,
  panicBelow: 0,
  ejectedShareMax: undefined,
  endpoints: 4,
  before: undefined,
  calls: [],
  workers: undefined,
  ratePerSecond: undefined,
  spare: undefined,
};

/** `name @ where`, one for each finding. */
const found = (own: Partial<GatewaySafety>): readonly string[] =>
  unsafeGateway({ ...safe, ...own }).map(({ name, where }) => `${name} @ ${where}`);

const because = (own: Partial<GatewaySafety>): string => unsafeGateway({ ...safe, ...own })[0]?.because ?? '';

test('the defaults are safe', () => {
  assert.deepEqual(found({}), []);
});

test('attempts at nobody must leave time: the last number that does, and the first that does not', () => {
  assert.deepEqual(found({ connectTimeout: seconds(5), retries: 1, timeout: seconds(11) }), []);
  assert.deepEqual(found({ connectTimeout: seconds(5), retries: 1, timeout: seconds(10) }), [
    'inner-timeout @ connect_timeout_ns',
  ]);
  assert.match(because({ connectTimeout: seconds(5), timeout: seconds(10) }), /2 × 5\.00 s = 10\.0 s .* 10\.0 s/);
});

test('nobody waits in the queue for as long as a request is given', () => {
  assert.deepEqual(found({ queueInterval: seconds(14) }), []);
  assert.deepEqual(found({ queueInterval: seconds(15) }), ['inner-timeout @ queue.interval_ns']);
});

test('the gateway gives up before its client does, and the calls of the service before the gateway', () => {
  assert.deepEqual(found({ before: { timeout: seconds(16), retries: 0 } }), []);
  assert.deepEqual(found({ before: { timeout: seconds(15), retries: 0 } }), ['inner-timeout @ timeout_ns']);
  const call = { name: 'store', timeout: seconds(10), retries: 0, backOffMax: ms(0) };
  assert.deepEqual(found({ calls: [call] }), []);
  assert.deepEqual(found({ retries: 0, calls: [call, { ...call, retries: 1 }] }), ['inner-timeout @ chain.calls.1']);
  assert.deepEqual(found({ calls: [{ ...call, timeout: undefined }] }), ['inner-timeout @ chain.calls.0']);
});

test('retries multiply over the levels that are told of, a budget counts as what it allows', () => {
  assert.deepEqual(found({ retries: 5, retryRatio: undefined }), [], 'alone and nothing known: meant');
  assert.deepEqual(found({ retries: 1, retryRatio: undefined, spare: 1.5 }), ['retry-storm @ retries']);
  assert.deepEqual(found({ retries: 1, spare: 1.2 }), []);
  const before = { timeout: seconds(60), retries: 2 };
  assert.match(
    because({ before, retries: 2, retryRatio: undefined }),
    /client \(1 \+ 2\) × gateway \(1 \+ 2\) = 9 times the load/,
  );
  assert.match(because({ before }), /client \(1 \+ 2\) × gateway \(1 \+ 0\.2 of budget\) = 3\.6 times/);
});

test('workers are counted by Little’s law', () => {
  const call = { name: 'store', timeout: seconds(5), retries: 0, backOffMax: ms(0) };
  assert.deepEqual(found({ calls: [call], workers: 1000, ratePerSecond: 200 }), []);
  assert.deepEqual(found({ calls: [call], workers: 999, ratePerSecond: 200 }), ['workers-exhausted @ chain.calls.0']);
});

test('checks that can take out everybody need a panic threshold, or a name', () => {
  const checks = { fall: 3, interval: seconds(2), timeout: seconds(1) };
  assert.deepEqual(found({ checks }), ['eviction-empties-fleet @ panic_below']);
  assert.match(because({ checks }), /3 checks missed within 5\.00 s take out all 4 endpoints/);
  assert.deepEqual(found({ checks, panicBelow: 0.01 }), []);
  assert.deepEqual(unsafeGateway({ ...safe, checks }, ['eviction-empties-fleet']), []);
});

test('who is left after eviction can carry the load', () => {
  assert.deepEqual(found({ ejectedShareMax: 0.3, endpoints: 4, spare: 1.34 }), []);
  assert.deepEqual(found({ ejectedShareMax: 0.5, endpoints: 4, spare: 1.34 }), [
    'eviction-overloads-rest @ outlier.ejected_share_max',
  ]);
  assert.match(because({ ejectedShareMax: 0.5, spare: 1.34 }), /2 of 4 out leaves 4 ÷ 2 = 2 times/);
  assert.deepEqual(found({ ejectedShareMax: 0.5, endpoints: 4 }), [], 'not known what they can carry');
});
