import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Float64Histogram } from 'hdr-histogram-js';
import { dice, ms, ns, seconds, us } from '../base.ts';
import { Histogram, rankOf } from './histogram.ts';
import { slotOf } from './buckets.ts';

const quantiles = [0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1];

/** Mostly the latencies of a real service, sometimes the far ends of the grid and beyond. */
const duration = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 100_000, max: 2_000_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 5000 }) },
  { weight: 1, arbitrary: fc.maxSafeNat() },
);
const durations = fc.array(duration, { maxLength: 300 });

const histogramOf = (values: readonly number[], unfinished: readonly number[] = []): Histogram => {
  const histogram = new Histogram();
  for (const value of values) histogram.record(ns(value));
  for (const age of unfinished) histogram.recordUnfinished(ns(age));
  return histogram;
};

/** The q-quantile by its definition, of a sorted list. */
const exactQuantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[rankOf(q, values.length) - 1] ?? Number.NaN;

const assertSame = (a: Histogram, b: Histogram): void => assert.deepEqual(a.contents(), b.contents());

test('a quantile lies in the same bucket as the order statistic that it stands for, so within 0.55 %', () => {
  fc.assert(
    fc.property(fc.array(duration, { minLength: 1, maxLength: 300 }), (values) => {
      const histogram = histogramOf(values);
      for (const q of quantiles) {
        const exact = exactQuantile(values, q);
        const { value, atLeast } = histogram.quantile(q) ?? assert.fail('there are values');
        if (exact > 2 ** 42) assert.ok(value <= exact && (atLeast || value === exact));
        else if (exact <= 1024) assert.ok(value <= 1024);
        else assert.ok(Math.abs(value - exact) <= 0.0055 * exact + 1, `q ${q}: ${value} for ${exact}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('quantiles agree with hdr-histogram-js within the precision of both', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 10_000, max: 60_000_000_000 }), { minLength: 1 }), (values) => {
      const histogram = histogramOf(values);
      const oracle = new Float64Histogram(1, 2 ** 40, 3);
      for (const value of values) oracle.recordValue(value);
      for (const q of [0.5, 0.9, 0.99]) {
        const expected = oracle.getValueAtPercentile(q * 100);
        const { value } = histogram.quantile(q) ?? assert.fail('there are values');
        assert.ok(Math.abs(value - expected) <= 0.0065 * expected, `q ${q}: ${value} for ${expected}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('count, sum, least and greatest are exact', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10 ** 12 }), { minLength: 1 }), (values) => {
      const histogram = histogramOf(values);
      assert.equal(histogram.count, values.length);
      assert.equal(
        histogram.sum,
        values.reduce((total, value) => total + value, 0),
      );
      assert.equal(histogram.min, Math.min(...values));
      assert.equal(histogram.max, Math.max(...values));
      assert.equal(histogram.quantile(0)?.value, Math.min(...values));
      assert.equal(histogram.quantile(1)?.value, Math.max(...values));
    }),
  );
});

test('an empty histogram has no quantile, no mean, no least and no greatest', () => {
  const histogram = new Histogram();
  assert.equal(histogram.quantile(0.5), undefined);
  assert.equal(histogram.mean, undefined);
  assert.equal(histogram.min, undefined);
  assert.equal(histogram.max, undefined);
  assert.equal(histogram.sum, 0);
  assert.deepEqual(histogram.buckets(), []);
});

test('merged histograms equal the histogram of all values, in whatever order', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 10 ** 13 })), { maxLength: 6 }), (parts) => {
      const whole = histogramOf(parts.flat());
      const forwards = new Histogram();
      for (const part of parts) forwards.add(histogramOf(part));
      const backwards = new Histogram();
      for (const part of parts.toReversed()) backwards.add(histogramOf(part));
      assertSame(forwards, whole);
      assertSame(backwards, whole);
    }),
  );
});

test('the difference of two snapshots holds what came between them', () => {
  fc.assert(
    fc.property(durations, durations, (before, between) => {
      const histogram = histogramOf(before);
      const snapshot = histogram.copy();
      for (const value of between) histogram.record(ns(value));
      const difference = histogram.since(snapshot);
      const expected = histogramOf(between);
      assert.deepEqual(difference.contents().slots, expected.contents().slots);
      assert.equal(difference.count, between.length);
      if (between.length === 0) return;
      const [min, max] = [difference.min ?? 0, difference.max ?? 0];
      assert.ok(min <= Math.min(...between) && slotOf(min) === slotOf(Math.min(...between)));
      assert.ok(max >= Math.max(...between) && slotOf(max) === slotOf(Math.max(...between)));
    }),
  );
});

test('the sum of a difference is exact', () => {
  const histogram = histogramOf([ms(5), ms(7)]);
  const snapshot = histogram.copy();
  histogram.record(ms(30));
  histogram.record(ms(1));
  const difference = histogram.since(snapshot);
  assert.equal(difference.sum, ms(31));
  assert.equal(difference.max, ms(30));
  assert.equal(difference.min, ms(1));
});

test('a cleared histogram equals a new one', () => {
  const histogram = histogramOf([ms(5)], [ms(9)]);
  histogram.clear();
  assertSame(histogram, new Histogram());
});

test('recording a value many times equals recording it again and again', () => {
  const many = new Histogram();
  many.recordMany(ms(20), 3);
  many.recordMany(ms(7), 0);
  assertSame(many, histogramOf([ms(20), ms(20), ms(20)]));
});

test('values of one bucket are read off as evenly spread between its bounds', () => {
  // 2^20 … 2^20·b holds 1048577 … 1054269; both ends are recorded, so that the bounds are those of the values.
  const histogram = histogramOf([1_048_577, 1_050_000, 1_050_001, 1_054_269]);
  assert.equal(histogram.quantile(0.5)?.value, Math.round(1_048_577 + (1.5 / 4) * 5692));
});

test('unfinished requests are lower bounds: an outage at the end of a run shows in the percentiles', () => {
  // 900 requests took 10 ms, then everything stood still: 100 had been waiting for 1 … 6 s when time was up.
  const ages = Array.from({ length: 100 }, (_, place) => seconds(1 + (place * 5) / 99));
  const histogram = histogramOf(
    Array.from({ length: 900 }, () => ms(10)),
    ages,
  );
  assert.equal(histogram.quantile(0.5)?.value, ms(10));
  assert.equal(histogram.quantile(0.5)?.atLeast, false);
  assert.equal(histogram.quantile(0.9)?.atLeast, false);
  const p99 = histogram.quantile(0.99) ?? assert.fail('there are values');
  assert.equal(p99.atLeast, true);
  const exact = exactQuantile([...Array.from({ length: 900 }, () => ms(10)), ...ages], 0.99);
  assert.ok(p99.value <= exact && p99.value > exact * 0.994);
  assert.deepEqual(histogram.quantile(1), { value: seconds(6), atLeast: true });
  assert.equal(histogram.max, ms(10));
  assert.equal(histogram.unfinishedCount, 100);
});

test('a young unfinished request moves a quantile only when it could move it to another bucket', () => {
  const thousand = Array.from({ length: 1000 }, () => ms(10));
  assert.equal(histogramOf(thousand, [us(50)]).quantile(0.5)?.atLeast, false);
  assert.equal(histogramOf([ms(10), ms(20), ms(30)], [us(50)]).quantile(0.5)?.atLeast, true);
});

test('whatever the unfinished turn into, the true quantile is in the same bucket, or not less where it is said so', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 2000, max: 10 ** 10 }), { maxLength: 40 }),
      fc.array(fc.tuple(fc.integer({ min: 2000, max: 10 ** 10 }), fc.integer({ min: 0, max: 10 ** 10 })), {
        minLength: 1,
        maxLength: 20,
      }),
      (finished, unfinished) => {
        const histogram = histogramOf(
          finished,
          unfinished.map(([age]) => age),
        );
        const truth = [...finished, ...unfinished.map(([age, more]) => age + more)];
        for (const q of quantiles) {
          const { value, atLeast } = histogram.quantile(q) ?? assert.fail('there are values');
          const exact = exactQuantile(truth, q);
          if (atLeast) assert.ok(value <= exact, `q ${q}: ≥ ${value} but was ${exact}`);
          else assert.ok(Math.abs(value - exact) <= 0.0055 * exact + 1, `q ${q}: ${value} for ${exact}`);
        }
      },
    ),
  );
});

test('a value beyond the grid is a lower bound, unless it is the greatest of all', () => {
  const histogram = histogramOf([2 ** 43, 2 ** 44, 2 ** 45]);
  assert.deepEqual(histogram.quantile(0.5), { value: ns(2 ** 43), atLeast: true });
  assert.deepEqual(histogram.quantile(1), { value: ns(2 ** 45), atLeast: false });
});

test('counting up to a value is exact on bounds and at the ends', () => {
  const histogram = histogramOf([ms(1), ms(2), 2 ** 22, ms(10)]);
  assert.equal(histogram.countAtMost(us(999)), 0);
  assert.equal(histogram.countAtMost(ns(2 ** 22)), 3);
  assert.equal(histogram.countAtMost(ms(10)), 4);
  // 2^20 … 2^20·b holds whole numbers from 1048577: a quarter of the way along, a quarter of the six.
  const inside = histogramOf([1_048_577, 1_049_000, 1_050_000, 1_051_000, 1_052_000, 1_054_177]);
  assert.equal(inside.countAtMost(ns(1_048_577 + 5600 / 4)), 1.5);
  assert.equal(histogram.countAtMost(seconds(1)), 4);
});

test('p50 and p99 of 100,000 exponential draws are where theory puts them, within six standard errors', () => {
  const die = dice(11, 'histogram');
  const histogram = new Histogram();
  const count = 100_000;
  for (let index = 0; index < count; index++) histogram.record(ms(die.exponential(20)));
  for (const q of [0.5, 0.99]) {
    const theory = -Math.log(1 - q) * 20e6;
    // Standard error of an order statistic: √(q(1−q)/n) / density, and the exponential's density there is (1−q)/mean.
    const error = (Math.sqrt((q * (1 - q)) / count) / (1 - q)) * 20e6;
    const { value } = histogram.quantile(q) ?? assert.fail('there are values');
    assert.ok(Math.abs(value - theory) < 6 * error + 0.0055 * theory, `q ${q}: ${value} for ${theory}`);
  }
});

test('a rank is the one that exact arithmetic gives, even where floating point is a hair off', () => {
  assert.equal(rankOf(0.07, 100), 7);
  assert.equal(rankOf(0.55, 100), 55);
  assert.equal(rankOf(0.99, 1000), 990);
  assert.equal(rankOf(0.991, 1000), 991);
  assert.equal(rankOf(0, 10), 1);
  assert.equal(rankOf(1, 10), 10);
  assert.equal(rankOf(0.5, 3), 2);
});

test('what is no duration is refused', () => {
  const histogram = new Histogram();
  assert.throws(() => histogram.record(ns(-1)), /not negative/);
  assert.throws(() => histogram.record(ns(Infinity)), /finite/);
  assert.throws(() => histogram.quantile(1.1), /between 0 and 1/);
});
