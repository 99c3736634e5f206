// Isotonic regression against what it must give.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isotonicKnots } from './fit.ts';

const times = (count: number, raw: number, right: boolean): { raw: number; right: boolean }[] =>
  Array.from({ length: count }, () => ({ raw, right }));

test('steps that rise stay as they are, with a pinch of doubt in each', () => {
  const seen = [...times(8, 0.5, false), ...times(18, 0.9, true)];
  assert.deepEqual(isotonicKnots(seen), [
    [0, 0],
    [0.5, 0.1],
    [0.9, 0.95],
    [1, 0.95],
  ]);
});

test('steps that fall are pooled until they do not', () => {
  const seen = [...times(8, 0.6, true), ...times(8, 0.8, false), ...times(18, 0.9, true)];
  assert.deepEqual(isotonicKnots(seen), [
    [0, 0],
    [0.6, 0.5],
    [0.8, 0.5],
    [0.9, 0.95],
    [1, 0.95],
  ]);
});
