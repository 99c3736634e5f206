import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice, ms } from '../../base.ts';
import type { Distribution } from '../../scenario.ts';
import { serviceTimes } from './service-time.ts';

const count = 40_000;

function drawn(distribution: Distribution): number[] {
  const draw = serviceTimes(distribution, dice(5, 'api-1/service'));
  return Array.from({ length: count }, () => draw() / 1e6).toSorted((one, other) => one - other);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of `count` draws lies within four of its deviations. */
function hasMean(values: readonly number[], expected: number, deviation: number): void {
  const seen = mean(values);
  const allowed = (4 * deviation) / Math.sqrt(count);
  assert.ok(Math.abs(seen - expected) < allowed, `${seen} ms against ${expected} ± ${allowed} ms`);
}

/** A quantile of `count` draws: its rank has the deviation √(p (1 − p) n), so it lies between the ranks four of them away. */
function hasQuantile(values: readonly number[], p: number, expected: number): void {
  const spread = 4 * Math.sqrt(p * (1 - p) * count);
  const below = values[Math.floor(p * count - spread)] ?? 0;
  const above = values[Math.ceil(p * count + spread)] ?? Infinity;
  assert.ok(below < expected && expected < above, `p${p * 100} lies in ${below} … ${above} ms, not at ${expected}`);
}

test('a constant time is always the same', () => {
  const values = drawn({ kind: 'constant', value: ms(20) });
  assert.equal(values[0], 20);
  assert.equal(values.at(-1), 20);
});

test('exponential times have their mean, and a median of 69 % of it', () => {
  const values = drawn({ kind: 'exponential', mean: ms(20) });
  hasMean(values, 20, 20);
  hasQuantile(values, 0.5, 20 * Math.LN2);
});

test('uniform times lie between their ends', () => {
  const values = drawn({ kind: 'uniform', min: ms(10), max: ms(40) });
  hasMean(values, 25, 30 / Math.sqrt(12));
  hasQuantile(values, 0.1, 13);
  assert.ok((values[0] ?? 0) >= 10 && (values.at(-1) ?? 99) <= 40);
});

test('log-normal times have the median and the 99th percentile that they are named by', () => {
  const values = drawn({ kind: 'log-normal', median: ms(20), p99: ms(100) });
  hasQuantile(values, 0.5, 20);
  hasQuantile(values, 0.99, 100);
});
