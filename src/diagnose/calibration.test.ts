import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrated, knots } from './calibration.ts';

test('the calibration rises, stays within 0 and its cap, and meets its knots', () => {
  for (let raw = 0; raw < 1; raw += 0.01) {
    assert.ok(calibrated(raw) <= calibrated(raw + 0.01) && calibrated(raw) >= 0 && calibrated(raw) <= 0.97, `${raw}`);
  }
  for (const [raw, share] of knots) assert.equal(calibrated(raw), Math.min(0.97, share));
});
