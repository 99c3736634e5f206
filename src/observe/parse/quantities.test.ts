import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBytes, parseCores, parseSeconds, parseShare, parseTruth } from './quantities.ts';

test('durations are seconds, whatever they were written in', () => {
  for (const [text, seconds] of [
    ['5s', 5],
    ['1m', 60],
    ['250ms', 0.25],
    ['1h30m', 5400],
    ['0.25s', 0.25],
    ['2 hours', 7200],
    ['100us', 0.0001],
    ['1m 30s', 90],
    ['0', 0],
  ] as const) {
    assert.equal(parseSeconds(text), seconds, text);
  }
  assert.equal(parseSeconds('5000', 0.001), 5);
  assert.equal(parseSeconds(300, 0.001), 0.3);
  for (const text of ['', 'soon', '5 parsecs', '5s!', undefined, null, true])
    assert.equal(parseSeconds(text), undefined);
});

test('cores, bytes, shares and truths', () => {
  assert.equal(parseCores('200m'), 0.2);
  assert.equal(parseCores('2'), 2);
  assert.equal(parseCores('lots'), undefined);
  assert.equal(parseBytes('30Mi'), 30 * 1024 * 1024);
  assert.equal(parseBytes('1.5G'), 1.5e9);
  assert.equal(parseShare('25%'), 0.25);
  assert.equal(parseShare(3), 3);
  assert.equal(parseTruth('on'), true);
  assert.equal(parseTruth('False'), false);
  assert.equal(parseTruth(1), undefined);
});
