import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../base.ts';
import { meanOverTime, quotient } from './quantity.ts';

test('the error of a mean covers the truth as often as it says, also when seconds resemble each other', () => {
  // Autoregressive with ρ = 0.5, 60 values a series, 400 series: ±2 errors should cover about 95 %. The estimated ρ of a short
  // series is a little low, so a little less is allowed; with independent errors it would be about 75 %.
  const chance = dice(11, 'series');
  let covered = 0;
  for (let series = 0; series < 400; series++) {
    let level = 0;
    const values = Array.from({ length: 60 }, () => {
      level = 0.5 * level + chance.normal();
      return 100 + level;
    });
    const mean = meanOverTime(values);
    assert.ok(mean !== undefined);
    if (Math.abs(mean.value - 100) <= 2 * mean.error) covered += 1;
  }
  assert.ok(covered >= 350 && covered <= 395, `${covered} of 400`);
});

test('a mean of nothing is undefined, of one value as uncertain as it is large, of equal values certain', () => {
  assert.equal(meanOverTime([]), undefined);
  assert.deepEqual(meanOverTime([7]), { value: 7, error: 7 });
  assert.deepEqual(meanOverTime([3, 3, 3]), { value: 3, error: 0 });
});

test('a quotient adds relative errors and has none by zero', () => {
  const found = quotient({ value: 10, error: 0.3 }, { value: 5, error: 0.2 });
  assert.equal(found?.value, 2);
  assert.ok(Math.abs((found?.error ?? 0) - 2 * Math.hypot(0.03, 0.04)) < 1e-12);
  assert.equal(quotient({ value: 1, error: 0 }, { value: 0, error: 0 }), undefined);
});
