import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantAt, ms } from '../../base.ts';
import { Tally } from './tally.ts';

const idlePool = { workers: 4, busy: 0, waiting: 0, heldNs: 0, waitedNs: 0 };
const at = (milliseconds: number): ReturnType<typeof instantAt> => instantAt(milliseconds * 1e6);

/** The value of one sample of the text. */
function sample(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

test('the area under the requests in flight grows by their time in the replica', () => {
  const tally = new Tally(at(0));
  tally.arrived(at(10));
  tally.arrived(at(20));
  tally.left(200, ms(20), at(30));
  const text = tally.text(idlePool, at(50));
  assert.equal(sample(text, 'plimsoll_replica_in_flight'), 1);
  // One from 10 to 20 ms, two until 30 ms, one until 50 ms.
  assert.equal(sample(text, 'plimsoll_replica_in_flight_seconds_total'), 0.05);
  assert.equal(sample(text, 'plimsoll_replica_started_total'), 2);
  assert.equal(sample(text, 'plimsoll_replica_served_total{code="200"}'), 1);
});

test('asking twice changes nothing', () => {
  const tally = new Tally(at(0));
  tally.arrived(at(10));
  assert.equal(tally.text(idlePool, at(50)), tally.text(idlePool, at(50)));
});

test('a request whose client has left is counted as abandoned and has no latency', () => {
  const tally = new Tally(at(0));
  tally.arrived(at(0));
  tally.left(499, ms(20), at(20));
  const text = tally.text(idlePool, at(20));
  assert.equal(sample(text, 'plimsoll_replica_abandoned_total'), 1);
  assert.equal(sample(text, 'plimsoll_replica_served_total{code="499"}'), 1);
  assert.equal(sample(text, 'plimsoll_replica_latency_seconds_count'), 0);
});

test('a value on a bound belongs to the bucket below it, one beyond it to the next', () => {
  const tally = new Tally(at(0));
  tally.worked(ms(20));
  tally.worked(ms(20.000001));
  tally.worked(ms(90_000));
  const text = tally.text(idlePool, at(0));
  const bucket = (bound: string): number => sample(text, `plimsoll_replica_service_seconds_bucket{le="${bound}"}`);
  assert.deepEqual([bucket('0.015'), bucket('0.02'), bucket('0.03'), bucket('60'), bucket('+Inf')], [0, 1, 2, 2, 3]);
  assert.equal(sample(text, 'plimsoll_replica_service_seconds_sum'), 90.040000001);
  assert.equal(sample(text, 'plimsoll_replica_service_seconds_count'), 3);
});
