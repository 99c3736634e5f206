import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { highestBound, lowestBound, overflowSlot, slotCount, slotFrom, slotOf, slotTo } from './buckets.ts';

/** The definition, in whole numbers: slot s ends at 2^((s + 1280) / 128), so v is above that bound when v^128 > 2^(s + 1280). */
function slotByDefinition(value: bigint): number {
  let low = 0;
  let high = overflowSlot;
  const power = value ** 128n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (power > 1n << BigInt(middle + 1280)) low = middle + 1;
    else high = middle;
  }
  return low;
}

test('a whole number of nanoseconds beside any bound falls on the right side of it', () => {
  for (let slot = 0; slot < overflowSlot; slot++) {
    const bound = Math.round(slotTo(slot));
    for (const value of [bound - 1, bound, bound + 1]) {
      assert.equal(slotOf(value), slotByDefinition(BigInt(value)), `${value} ns, beside the end of slot ${slot}`);
    }
  }
});

test('any whole number of nanoseconds is in the bucket that the definition says', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      assert.equal(slotOf(value), value <= 0 ? 0 : slotByDefinition(BigInt(value)));
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), (value) => {
      assert.equal(slotOf(value), slotByDefinition(BigInt(value)));
    }),
    { numRuns: 2000 },
  );
});

test('a value that is no whole number lies within the bounds of its slot', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e14, noNaN: true }), (value) => {
      const slot = slotOf(value);
      assert.ok(value <= slotTo(slot));
      assert.ok(value > slotFrom(slot) || value === 0);
    }),
    { numRuns: 5000 },
  );
});

test('bounds are included above and excluded below, and powers of two are exact', () => {
  assert.equal(slotOf(lowestBound), 0);
  assert.equal(slotOf(lowestBound + 1), 1);
  assert.equal(slotOf(2 ** 20), 1280);
  assert.equal(slotOf(2 ** 20 + 1), 1281);
  assert.equal(slotTo(1280), 2 ** 20);
  assert.equal(slotOf(highestBound), overflowSlot - 1);
  assert.equal(slotOf(highestBound + 1), overflowSlot);
  assert.equal(slotOf(Infinity), overflowSlot);
  assert.equal(slotOf(-5), 0);
});

test('bounds rise, and no bucket is wider than 0.55 % of its lower bound', () => {
  for (let slot = 1; slot < slotCount - 1; slot++) {
    const ratio = slotTo(slot) / slotFrom(slot);
    assert.ok(ratio > 1.0054 && ratio < 1.0055, `slot ${slot}: ${ratio}`);
  }
});
