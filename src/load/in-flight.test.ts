import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantAt, ms } from '../base.ts';
import { InFlight } from './in-flight.ts';

const at = (milliseconds: number) => instantAt(ms(milliseconds));

test('the mean is the area under the level', () => {
  const inFlight = new InFlight(at(0));
  inFlight.enter(at(0), at(0));
  inFlight.enter(at(20), at(20));
  inFlight.leave(at(60));
  // 1 for 20 ms, 2 for 40 ms, 1 for 40 ms
  assert.deepEqual(inFlight.cut(at(100)), { mean: 1.4, min: 0, max: 2 });
});

test('a request counts from its due time, though it was noticed later', () => {
  const inFlight = new InFlight(at(0));
  inFlight.enter(at(10), at(50));
  assert.deepEqual(inFlight.cut(at(100)), { mean: 0.9, min: 0, max: 1 });
});

test('what came due before the span counts from the beginning of the span', () => {
  const inFlight = new InFlight(at(0));
  inFlight.cut(at(100));
  inFlight.enter(at(80), at(150));
  assert.deepEqual(inFlight.cut(at(200)), { mean: 1, min: 0, max: 1 });
});

test('the next span begins with what is still there', () => {
  const inFlight = new InFlight(at(0));
  inFlight.enter(at(0), at(0));
  inFlight.cut(at(100));
  assert.deepEqual(inFlight.cut(at(200)), { mean: 1, min: 1, max: 1 });
});

test('what came and went while we stood still is in the mean, and the greatest is not less than that', () => {
  const inFlight = new InFlight(at(0));
  for (let count = 0; count < 10; count++) {
    inFlight.enter(at(50), at(100));
    inFlight.leave(at(100));
  }
  assert.deepEqual(inFlight.cut(at(100)), { mean: 5, min: 0, max: 5 });
});

test('nobody leaves who was not there', () => {
  assert.throws(() => new InFlight(at(0)).leave(at(1)), /whoever leaves was there/);
});
