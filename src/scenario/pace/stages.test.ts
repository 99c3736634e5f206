import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inSeconds, ms, ns, seconds } from '../../base.ts';
import { evenly, pacerOf } from './pacer.ts';
import { stagedRate } from './stages.ts';

test('a climb, a plateau and a descent have the area of their shapes', () => {
  const curve = stagedRate(0, [
    { over: seconds(10), toPerSecond: 100 },
    { over: seconds(5), toPerSecond: 100 },
    { over: seconds(10), toPerSecond: 0 },
  ]);
  assert.equal(curve.area(seconds(10)), 500);
  assert.equal(curve.area(seconds(15)), 1000);
  assert.equal(curve.area(seconds(25)), 1500);
  assert.equal(curve.area(seconds(90)), 1500);
  assert.equal(curve.inverse(500), seconds(10));
  assert.equal(curve.inverse(750), seconds(12.5));
  assert.equal(curve.inverse(1500), seconds(25));
  assert.equal(curve.inverse(1501), undefined);
});

test('a stage of no length is a jump, and the last rate lasts', () => {
  const curve = stagedRate(10, [
    { over: seconds(1), toPerSecond: 10 },
    { over: seconds(0), toPerSecond: 50 },
  ]);
  assert.equal(curve.area(seconds(1)), 10);
  assert.equal(curve.area(seconds(3)), 110);
  assert.equal(curve.inverse(110), seconds(3));
});

test('during a pause nothing is due', () => {
  const pacer = evenly(
    stagedRate(10, [
      { over: seconds(1), toPerSecond: 10 },
      { over: ns(0), toPerSecond: 0 },
      { over: seconds(2), toPerSecond: 0 },
      { over: ns(0), toPerSecond: 10 },
    ]),
  );
  assert.equal(pacer.due(10), seconds(1));
  assert.equal(pacer.due(11), seconds(3.1));
});

test('the inverse of the area is its inverse, whatever the stages', () => {
  const stage = fc.record({
    over: fc.integer({ min: 0, max: 5000 }).map(ms),
    toPerSecond: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 500 }),
      fc.array(stage, { maxLength: 6 }),
      fc.nat(3000),
      (from, stages, count) => {
        const curve = stagedRate(from, stages);
        const at = curve.inverse(count);
        fc.pre(at !== undefined);
        assert.ok(Math.abs(curve.area(at) - count) <= 1e-3, `${curve.area(at)} of ${count} at ${inSeconds(at)}`);
      },
    ),
  );
});

test('an open demand may climb or come in bursts', () => {
  const demand = { clients: 'shop', ratePerSecond: 0, arrivals: 'constant' } as const;
  const climb = pacerOf({ ...demand, stages: [{ over: seconds(2), toPerSecond: 100 }] }, 1);
  assert.equal(climb.due(100), seconds(2));
  const bursts = pacerOf({ ...demand, bursts: { size: 3, every: seconds(1) } }, 1);
  assert.deepEqual(
    [0, 2, 3].map((index) => bursts.due(index)),
    [ns(0), ns(0), seconds(1)],
  );
});
