// A short run of the fuzzer, and a proof that it can see. The long run is a command: see http1.fuzz.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz, ourRequests } from './http1.fuzz.ts';

test('five thousand half-broken streams are read as llhttp reads them, or refused', () => {
  const report = fuzz(5000, 20_260);
  assert.equal(report.inputs, 5000);
  // The inputs must be worth reading: a good part of them is sound.
  assert.ok(report.accepted > 400, `accepted ${report.accepted}`);
  assert.ok(report.agreed > 1500, `agreed ${report.agreed}`);
});

test('a reader that takes the first of two lengths does not get past the fuzzer', () => {
  const gullible = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString('latin1');
    return ourRequests(Buffer.from(text.replace(/(content-length: \d+), \d+/gi, '$1'), 'latin1'));
  };
  assert.throws(() => fuzz(5000, 20_260, { requests: gullible }), /seed 20260, input \d+/);
});
