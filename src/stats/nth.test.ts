import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nth } from './nth.ts';

test('the n-th is what stands there after sorting, whatever the order and however many are equal', () => {
  const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ noNaN: true })), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(values, fc.nat(), (numbers, at) => {
      const rank = at % numbers.length;
      // −0 and 0 are equal for the one and in order for the other.
      const sorted = Float64Array.from(numbers).sort();
      assert.equal(nth(Float64Array.from(numbers), rank) + 0, (sorted[rank] ?? 0) + 0);
    }),
  );
});

test('there is no n-th of nothing, and none beyond the last', () => {
  assert.throws(() => nth(new Float64Array(0), 0));
  assert.throws(() => nth(Float64Array.of(1, 2), 2));
});
