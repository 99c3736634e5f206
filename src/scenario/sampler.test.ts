import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice, ms } from '../base.ts';
import type { Distribution } from './model.ts';
import { distributionMean, sampler } from './sampler.ts';

const distributions: readonly Distribution[] = [
  { kind: 'constant', value: ms(5) },
  { kind: 'exponential', mean: ms(20) },
  { kind: 'uniform', min: ms(5), max: ms(15) },
  { kind: 'log-normal', median: ms(20), p99: ms(120) },
];

// The mean of n draws has a standard error of deviation/√n, estimated from the draws themselves.
test('draws have the mean of their distribution, within four standard errors', () => {
  for (const distribution of distributions) {
    const draw = sampler(distribution, dice(11, distribution.kind));
    const draws = Array.from({ length: 100_000 }, () => draw());
    const mean = draws.reduce((sum, each) => sum + each, 0) / draws.length;
    const variance = draws.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (draws.length - 1);
    const allowed = 4 * Math.sqrt(variance / draws.length) + 1;
    assert.ok(Math.abs(mean - distributionMean(distribution)) < allowed, `${distribution.kind}: ${mean}`);
  }
});

// The share below a quantile q of n draws has a standard error of √(q(1−q)/n).
test('half of the log-normal draws lie below the median and 99 % below the p99, within four standard errors', () => {
  const draw = sampler({ kind: 'log-normal', median: ms(20), p99: ms(120) }, dice(12, 'test'));
  const draws = Array.from({ length: 100_000 }, () => draw());
  for (const [bound, share] of [
    [ms(20), 0.5],
    [ms(120), 0.99],
  ] as const) {
    const below = draws.filter((each) => each < bound).length / draws.length;
    assert.ok(Math.abs(below - share) < 4 * Math.sqrt((share * (1 - share)) / draws.length), `${below}`);
  }
});

test('uniform draws stay between their bounds', () => {
  const draw = sampler({ kind: 'uniform', min: ms(5), max: ms(6) }, dice(13, 'test'));
  for (let count = 0; count < 1000; count++) {
    const value = draw();
    assert.ok(value >= ms(5) && value <= ms(6));
  }
});
