import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TickLine } from '../record.ts';
import { recordOfRequests } from './record-of-requests.ts';
import type { SeenRequest } from './seen.ts';

const facts = {
  id: 'test',
  sources: ['a.log'],
  gateway: { program: 'haproxy', policy: 'round-robin' },
  service: 'api',
  servers: ['api-1', 'api-2', 'api-3'],
  plimsoll: '0',
};

function request(startMs: number, endMs: number, replica: string | undefined, error?: string): SeenRequest {
  return {
    startMs,
    endMs,
    handedMs: startMs,
    replica,
    attempts: 1,
    client: 'c',
    service: 'api',
    status: error === undefined ? 200 : 504,
    error,
    stepMs: 1,
  };
}

/** Back-to-back requests of `length` ms on one replica for `seconds`, beginning at `from` ms. */
function train(replica: string, length: number, seconds: number, from = 0): SeenRequest[] {
  const count = Math.floor((seconds * 1000) / length);
  return Array.from({ length: count }, (_, index) =>
    request(from + index * length, from + (index + 1) * length, replica),
  );
}

function ticksOf(requests: readonly SeenRequest[]): TickLine[] {
  return recordOfRequests(requests, facts).filter((line) => line.kind === 'tick');
}

test('in flight is the integral of what the log says, not a sample of it', () => {
  const ticks = ticksOf([...train('api-1', 50, 10), ...train('api-2', 1000, 10, 500)]);
  const tick = ticks[3];
  assert.equal(tick?.replicas[0]?.in_flight_mean, 1);
  assert.equal(tick?.replicas[0]?.finished, 20);
  assert.equal(tick?.replicas[1]?.in_flight_mean, 1);
  assert.equal(tick?.replicas[1]?.finished, 1);
  assert.equal(tick?.clients[0]?.in_flight_mean, 2);
});

test('an end and the beginning that follows it are one change of hands: a closed loop shows a constant level', () => {
  const ticks = ticksOf(train('api-1', 100, 10));
  assert.equal(ticks[4]?.clients[0]?.in_flight_min, 1);
  assert.equal(ticks[4]?.clients[0]?.in_flight_max, 1);
});

test('a server of the configuration without a single request is in the record, with zero', () => {
  const ticks = ticksOf(train('api-1', 100, 10));
  assert.deepEqual(
    ticks[2]?.replicas.map((replica) => [replica.id, replica.finished, replica.in_flight_mean]),
    [
      ['api-1', 10, 1],
      ['api-2', 0, 0],
      ['api-3', 0, 0],
    ],
  );
});

test('the end of the log, where the unfinished are missing, is cut away', () => {
  const long = Array.from({ length: 20 }, (_, index) => request(index * 500, index * 500 + 2000, 'api-1'));
  const ticks = ticksOf(long);
  const last = ticks.at(-1);
  assert.ok(last !== undefined);
  // 4 are in flight whenever the log is complete; near its end the level would seem to fall.
  assert.equal(last.replicas[0]?.in_flight_mean, 4);
});

test('errors are counted by kind at the replica and at the clients', () => {
  const ticks = ticksOf([
    ...train('api-1', 100, 6),
    request(2100, 2900, 'api-2', 'timeout'),
    request(2100, 2200, undefined, 'no-server'),
  ]);
  const tick = ticks[2];
  assert.deepEqual(tick?.replicas[1]?.errors, { timeout: 1 });
  assert.deepEqual(tick?.clients[0]?.errors, { timeout: 1, 'no-server': 1 });
});
