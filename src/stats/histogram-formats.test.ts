import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ms, ns, seconds, us } from '../base.ts';
import { slotTo } from './buckets.ts';
import { Histogram } from './histogram.ts';
import { type HistogramFields, histogramFields, histogramOfFields } from './histogram-fields.ts';
import { readHgrm, readHlog, toHdr, writeHgrm, writeHlog } from './histogram-hdr.ts';
import { exponentialPoint, histogramOfPoint } from './histogram-otlp.ts';

const duration = fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 10 ** 13 }));
const someHistogram = fc.tuple(fc.array(duration), fc.array(duration, { maxLength: 5 })).map(([values, ages]) => {
  const histogram = new Histogram();
  for (const value of values) histogram.record(ns(value));
  for (const age of ages) histogram.recordUnfinished(ns(age));
  return histogram;
});

const read = (fields: HistogramFields): Histogram => {
  assert.deepEqual(JSON.parse(JSON.stringify(fields)), fields, 'JSON holds every field as it is');
  const histogram = histogramOfFields(fields);
  return histogram instanceof Histogram ? histogram : assert.fail(histogram.problem);
};

test('a histogram survives being written into a record and read again', () => {
  fc.assert(
    fc.property(someHistogram, (histogram) => {
      assert.deepEqual(read(histogramFields(histogram)).contents(), histogram.contents());
    }),
  );
});

test('runs of empty buckets are one negative number', () => {
  const histogram = new Histogram();
  for (const value of [2 ** 20, 2 ** 20, slotTo(1281), slotTo(1286)]) histogram.record(ns(Math.floor(value)));
  const { offset, counts, zero_count } = histogramFields(histogram);
  // 2^20 is the upper bound of the bucket whose index is 20 · 128 − 1.
  assert.equal(offset, 2559);
  assert.deepEqual(counts, [2, 1, -4, 1]);
  assert.equal(zero_count, 0);
});

test('fields that cannot be a histogram are refused with the reason', () => {
  const histogram = new Histogram();
  histogram.record(ms(5));
  const good = histogramFields(histogram);
  const problemOf = (change: object): string => {
    const result = histogramOfFields({ ...good, ...change });
    return result instanceof Histogram ? 'none' : result.problem;
  };
  assert.equal(problemOf({}), 'none');
  assert.match(problemOf({ scale: 3 }), /scale is 3, expected 7/);
  assert.match(problemOf({ count: 2 }), /count is 2, but the buckets add up to 1/);
  assert.match(problemOf({ counts: [0.5] }), /counts holds 0.5/);
  assert.match(problemOf({ counts: [-1e9, 1] }), /beyond the last bucket/);
  assert.match(problemOf({ offset: 0.5 }), /offset is 0.5/);
  assert.match(problemOf({ zero_count: -1 }), /zero_count is -1/);
  assert.match(problemOf({ min_ns: ms(6) }), /0 ≤ min_ns ≤ max_ns/);
  assert.match(problemOf({ sum_ns: -1 }), /sum_ns is -1/);
});

test('the last bucket of the grid is read, one beyond it is not', () => {
  const histogram = new Histogram();
  histogram.record(ns(2 ** 43));
  const last = histogramFields(histogram);
  assert.equal(last.offset, 5376);
  assert.equal(read(last).count, 1);
  assert.ok('problem' in histogramOfFields({ ...last, offset: 5377 }));
});

test('a record written on a finer grid is read exactly: finer buckets nest in ours', () => {
  const histogram = read({
    scale: 8,
    zero_count: 0,
    zero_threshold_ns: 1024,
    offset: 20 * 256,
    counts: [1, 2, 4, 8],
    count: 15,
    sum_ns: 15 * 2 ** 20,
    min_ns: 2 ** 20 + 1,
    max_ns: 2 ** 20 + 11_000,
  });
  assert.deepEqual(
    histogram.buckets().map(({ count }) => count),
    [3, 12],
  );
});

test('an OpenTelemetry point holds everything that has finished', () => {
  fc.assert(
    fc.property(someHistogram, (histogram) => {
      const { slots, sum, min, max } = histogram.contents();
      const point = exponentialPoint(histogram);
      assert.deepEqual(histogramOfPoint(point).contents(), {
        slots,
        sum,
        min,
        max,
        unfinishedMax: undefined,
        unfinishedSlots: [],
      });
      const counted = point.positive.bucketCounts.reduce((total, count) => total + count, point.zeroCount);
      assert.equal(counted, histogram.count);
    }),
  );
});

test('a coarse OpenTelemetry point is read with its own error', () => {
  // Scale 3: eight buckets an octave, 9 % wide. One value between 2^24 and 2^24.125.
  const histogram = histogramOfPoint({
    count: 1,
    sum: 2 ** 24.05,
    scale: 3,
    zeroCount: 0,
    zeroThreshold: 0,
    positive: { offset: 24 * 8, bucketCounts: [1] },
  });
  const [bucket] = histogram.buckets();
  assert.ok(bucket !== undefined && bucket.from >= 2 ** 24 && bucket.to <= 2 ** 24.125);
});

test('a point that tells no least and greatest gets the bounds of its outermost buckets', () => {
  const point = { count: 5, sum: 1e8, scale: 0, zeroCount: 0, zeroThreshold: 0 };
  const histogram = histogramOfPoint({ ...point, positive: { offset: 20, bucketCounts: [1, 0, 4] } });
  assert.deepEqual([histogram.min, histogram.max, histogram.count], [2 ** 20, 2 ** 23, 5]);
  const withZeros = histogramOfPoint({ ...point, zeroCount: 2, positive: { offset: 20, bucketCounts: [3] } });
  assert.deepEqual([withZeros.min, withZeros.count], [0, 5]);
  assert.equal(histogramOfPoint({ ...point, count: 0, positive: { offset: 0, bucketCounts: [] } }).min, undefined);
});

test('every value crosses over to HdrHistogram exactly once', async () => {
  const value = fc.integer({ min: 2000, max: 10 ** 9 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(value, fc.integer({ min: 1, max: 4 })), { maxLength: 8 }), async (values) => {
      const histogram = new Histogram();
      for (const [nanoseconds, times] of values) histogram.recordMany(ns(nanoseconds), times);
      const hdr = await toHdr(histogram);
      assert.equal(hdr.totalCount, histogram.count);
      if (values.length > 0) assert.ok(Math.abs(hdr.maxValue / (histogram.max ?? 0) - 1) < 1e-3);
    }),
    { numRuns: 30 },
  );
});

test('an .hlog brings back count, least, greatest and quantiles within the error of both grids', async () => {
  const histogram = new Histogram();
  for (let index = 1; index <= 1000; index++) histogram.record(us(index * 100));
  const text = await writeHlog(1_700_000_000, [
    { startSeconds: 0, lengthSeconds: 1, tag: 'api-1', histogram },
    { startSeconds: 1, lengthSeconds: 1, tag: undefined, histogram: new Histogram() },
  ]);
  const intervals = await readHlog(text, ns(1));
  if ('problem' in intervals) assert.fail(intervals.problem);
  assert.deepEqual(
    intervals.map(({ startSeconds, lengthSeconds, tag }) => [startSeconds, lengthSeconds, tag]),
    [
      [0, 1, 'api-1'],
      [1, 1, undefined],
    ],
  );
  const [first, second] = intervals;
  assert.equal(second?.histogram.count, 0);
  assert.equal(first?.histogram.count, 1000);
  assert.ok(Math.abs((first?.histogram.max ?? 0) - ms(100)) <= ms(100) / 1000);
  for (const q of [0.1, 0.5, 0.9, 0.99]) {
    const was = histogram.quantile(q)?.value ?? 0;
    const is: number = first?.histogram.quantile(q)?.value ?? 0;
    assert.ok(Math.abs(is - was) <= 0.01 * was, `q ${q}: ${is} for ${was}`);
  }
});

test('an .hlog line that is none is named by its number', async () => {
  const result = await readHlog('#[Histogram log format version 1.3]\n0.0,1.0,5.0,notbase64!\n', ns(1));
  assert.ok('problem' in result);
  assert.match(result.problem, /^line 2: expected/);
  const broken = await readHlog('0.0,1.0,5.0,AAAA\n', ns(1));
  assert.ok('problem' in broken);
});

test('an .hgrm table starts with its header, is in milliseconds, and can be read again', async () => {
  const histogram = new Histogram();
  for (let index = 1; index <= 1000; index++) histogram.record(us(index * 100));
  const text = await writeHgrm(histogram);
  assert.match(text, /Value\s+Percentile\s+TotalCount\s+1\/\(1-Percentile\)/);
  const again = readHgrm(text, ms(1));
  if ('problem' in again) assert.fail(again.problem);
  assert.equal(again.count, 1000);
  const p99 = again.quantile(0.99)?.value ?? 0;
  assert.ok(Math.abs(p99 - ms(99)) < 0.02 * ms(99), `${p99}`);
  assert.ok('problem' in readHgrm('hello world', seconds(1)));
});
