import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { dossierOf, expected } from '../../testing/facts.ts';
import { resultLines } from '../../testing/results.ts';
import { samples } from '../../testing/samples.ts';

test('a table tells the count, the mean, the greatest and every row as a quantile', () => {
  const [result] = dossierOf(samples['HdrHistogram percentiles'] ?? '').results;
  assert.deepEqual([result?.tool, result?.requests], ['HdrHistogram', 6]);
  // As the table has them: 3 ms, 40 ms and 9.5 ms to three digits.
  assert.equal(result?.latency?.['0.5'], 0.003006);
  assert.equal(result?.latency?.['1'], 0.04);
  assert.equal(result?.latency?.['mean'], 0.009503);
});

test('a log is one result over all its intervals, and one for each tag', () => {
  assert.deepEqual(
    resultLines(dossierOf(samples['HdrHistogram log'] ?? '')).map((line) => line.replace(/ latency=.*/, '')),
    expected(`
      HdrHistogram requests=6 seconds=2 ratePerSecond=3
      HdrHistogram requests=2 seconds=1 ratePerSecond=2
    `),
  );
});

const values = fc.array(fc.integer({ min: 1, max: 3_600_000 }), { minLength: 1, maxLength: 50 });

test('whatever its unit, a log written by the library of HdrHistogram comes back with its count, quantiles and greatest', () => {
  fc.assert(
    fc.property(values, values, fc.constantFrom(1, 1_000, 1_000_000), (first, second, perMillisecond) => {
      const intervals = [first, second].map((milliseconds, index) => {
        const histogram = build({ numberOfSignificantValueDigits: 3 });
        for (const value of milliseconds) histogram.recordValue(value * perMillisecond);
        const greatest = (histogram.maxValue / perMillisecond).toFixed(3);
        return `${index}.000,1.000,${greatest},${encodeIntoCompressedBase64(histogram)}`;
      });
      const { results } = dossierOf(`#[Histogram log format version 1.3]\n${intervals.join('\n')}\n`);
      const [result] = results;
      const all = [...first, ...second].toSorted((one, other) => one - other);
      assert.equal(result?.requests, all.length);
      for (const [key, q] of [
        ['0.5', 0.5],
        ['0.99', 0.99],
        ['1', 1],
      ] as const) {
        const expectedMs = all[Math.max(0, Math.ceil(q * all.length) - 1)] ?? 0;
        const seconds: number = result.latency?.[key] ?? 0;
        assert.ok(
          Math.abs(seconds * 1000 - expectedMs) <= 0.001 * expectedMs,
          `${key}: ${seconds} s, ${expectedMs} ms`,
        );
      }
    }),
  );
});

test('a line whose histogram is damaged is foreign, and the others count', () => {
  const text = samples['HdrHistogram log'] ?? '';
  const [head = ''] = text.split('\n');
  const damaged = `${text}2.000,1.000,5.000,HISTFAAAAAAAAAAA\n`;
  assert.ok(head.startsWith('#[Histogram log'));
  const { sources, results } = dossierOf(damaged);
  assert.equal(sources[0]?.foreign.length, 1);
  assert.equal(results[0]?.requests, 6);
});
