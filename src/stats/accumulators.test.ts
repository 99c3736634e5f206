import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, instantAt, ms, ns, seconds, start } from '../base.ts';
import { Ewma } from './ewma.ts';
import { Level } from './level.ts';
import { meanOf, Moments, varianceOf } from './moments.ts';
import { medianOf, quantileInterval, quantileOf } from './quantile.ts';
import { WindowCount } from './window.ts';

const at = (milliseconds: number) => after(start, ms(milliseconds));
const close = (actual: number | undefined, expected: number, tolerance = 1e-9): void =>
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `${actual}, expected ${expected}`,
  );

test('mean and variance keep their digits far from zero', () => {
  const values = [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16];
  assert.equal(meanOf(values), 1e9 + 10);
  assert.equal(varianceOf(values), 30);
  const moments = new Moments();
  for (const value of values) moments.add(value);
  close(moments.variance, 30);
});

test('of nothing there is no mean, of one value no variance', () => {
  assert.equal(meanOf([]), undefined);
  assert.equal(varianceOf([5]), undefined);
  const moments = new Moments();
  assert.deepEqual([moments.mean, moments.variance, moments.min, moments.max], Array(4).fill(undefined));
});

test('moments merged from parts are those of the whole', () => {
  const part = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }));
  fc.assert(
    fc.property(part, part, (first, second) => {
      const whole = [...first, ...second];
      const merged = new Moments();
      const other = new Moments();
      for (const value of first) merged.add(value);
      for (const value of second) other.add(value);
      merged.merge(other);
      assert.equal(merged.count, whole.length);
      if (whole.length > 0) close(merged.mean, meanOf(whole) ?? 0);
      if (whole.length > 1) close(merged.variance, varianceOf(whole) ?? 0);
      if (whole.length > 0) assert.deepEqual([merged.min, merged.max], [Math.min(...whole), Math.max(...whole)]);
    }),
  );
});

test('a quantile lies on the line between its two neighbours', () => {
  assert.equal(quantileOf([4, 1, 3, 2], 0.5), 2.5);
  assert.equal(quantileOf([10, 20], 0.25), 12.5);
  assert.equal(quantileOf([7], 0.99), 7);
  assert.equal(quantileOf([3, 1, 2], 0), 1);
  assert.equal(quantileOf([3, 1, 2], 1), 3);
  assert.equal(medianOf([9, 1, 5]), 5);
  assert.equal(quantileOf([], 0.5), undefined);
});

test('the interval of a quantile is made of the order statistics that the binomial distribution names', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  // Tables give the 40th and the 61st of 100 for the median at 95 %.
  assert.deepEqual(quantileInterval(hundred, 0.5, 0.95), { low: 40, high: 61 });
  const thousand = Array.from({ length: 1000 }, (_, index) => index + 1);
  const p99 = quantileInterval(thousand, 0.99, 0.95);
  assert.ok(p99 !== undefined && p99.low >= 983 && p99.low <= 985 && p99.high >= 996 && p99.high <= 997);
  assert.equal(quantileInterval([1, 2, 3], 0.99, 0.95), undefined);
});

test('a forgetting mean weighs a value by its age', () => {
  const ewma = new Ewma(seconds(1));
  assert.equal(ewma.mean, undefined);
  ewma.add(10, at(0));
  assert.equal(ewma.mean, 10);
  ewma.add(20, at(1000));
  close(ewma.mean, (10 / Math.E + 20) / (1 / Math.E + 1));
});

test('reading a forgetting mean twice gives the same, and only its weight fades', () => {
  const ewma = new Ewma(seconds(1));
  ewma.add(10, at(0));
  close(ewma.weightAt(at(1000)), 1 / Math.E);
  close(ewma.weightAt(at(1000)), 1 / Math.E);
  assert.equal(ewma.mean, 10);
  assert.throws(() => ewma.add(1, at(-1)), /time does not go back/);
});

test('the weight of regular values tells their rate', () => {
  const ewma = new Ewma(seconds(2));
  // 100 a second for ten time constants: 1 / (1 − e^(−0.005)) / 2 s just after a value.
  for (let index = 0; index <= 2000; index++) ewma.add(1, at(index * 10));
  close(ewma.ratePerSecondAt(at(20_000)), 100, 0.01);
});

test('the mean of a level is its area divided by its span', () => {
  const level = new Level(1, at(0));
  level.set(2, at(10));
  level.change(1, at(30));
  level.change(-1, at(60));
  level.set(1, at(80));
  assert.deepEqual(level.spanUntil(at(100)), { span: ms(100), mean: (10 + 40 + 90 + 40 + 20) / 100, min: 1, max: 3 });
  assert.deepEqual(level.spanUntil(at(100)), level.spanUntil(at(100)));
  close(level.integralSecondsAt(at(100)), 0.2);
});

test('a new span begins with the value that the old one ended with', () => {
  const level = new Level(5, at(0));
  level.set(2, at(10));
  level.restart(at(20));
  assert.deepEqual(level.spanUntil(at(20)), { span: ns(0), mean: 2, min: 2, max: 2 });
  level.set(4, at(30));
  assert.deepEqual(level.spanUntil(at(40)), { span: ms(20), mean: 3, min: 2, max: 4 });
  assert.equal(level.value, 4);
  close(level.integralSecondsAt(at(40)), 0.05 + 0.02 + 0.02 + 0.04);
});

test('the integral does not care where spans begin: spans add up to it', () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 10 ** 9 }),
    value: fc.integer({ min: 0, max: 5000 }),
    restart: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const level = new Level(0, start);
      let now = start;
      let added = 0;
      for (const { wait, value, restart } of steps) {
        now = after(now, ns(wait));
        level.set(value, now);
        if (!restart) continue;
        const { span, mean } = level.spanUntil(now);
        added += (span * mean) / 1e9;
        level.restart(now);
      }
      const { span, mean } = level.spanUntil(now);
      close(level.integralSecondsAt(now), added + (span * mean) / 1e9);
    }),
  );
});

test('a window forgets slot by slot, and reading it changes nothing', () => {
  const window = new WindowCount(seconds(1), 3);
  window.add(4, at(0));
  window.add(1, at(999));
  window.add(7, at(2000));
  assert.equal(window.totalAt(at(2999)), 12);
  assert.equal(window.totalAt(at(3000)), 7);
  assert.equal(window.totalAt(at(2999)), 12);
  window.add(2, at(3000));
  assert.equal(window.totalAt(at(3000)), 9);
  assert.equal(window.totalAt(at(4999)), 9);
  assert.equal(window.totalAt(at(5000)), 2);
  assert.equal(window.totalAt(at(60_000)), 0);
});

test('a window holds what a list of all events would count', () => {
  const event = fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(fc.array(event), (gaps) => {
      const window = new WindowCount(ms(500), 4);
      const events: (readonly [time: number, count: number])[] = [];
      let time = 0;
      for (const [gap, count] of gaps) {
        time += gap;
        events.push([time, count]);
        window.add(count, instantAt(ms(time)));
        const oldest = (Math.floor(time / 500) - 3) * 500;
        const expected = events.filter(([then]) => then >= oldest).reduce((sum, [, one]) => sum + one, 0);
        assert.equal(window.totalAt(instantAt(ms(time))), expected);
      }
    }),
  );
});
