import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed, numeral, percent, say, sayInterval, sayRange, type Unit } from './wording.ts';

const said: readonly (readonly [number, Unit, string])[] = [
  [174.3, 'requests/s', '174/s'],
  [9.04, 'requests/s', '9.04/s'],
  [46.1234, 'requests', '46.1'],
  [64, 'users', '64 users'],
  [1, 'users', 'one user'],
  [0.25, 'share', '25.0 %'],
  [1, 'share', '100 %'],
  [0, 'share', '0 %'],
  [1.148, 'times', '1.15 ×'],
  [0.023, 's', '23.0 ms'],
  [0, 's', '0 s'],
  [1, 'yes', 'yes'],
  [0, 'yes', 'no'],
];

test('numbers are said with three digits and their unit', () => {
  for (const [value, unit, text] of said) assert.equal(say(value, unit), text);
});

test('a negative share has a minus sign, and nothing is minus zero', () => {
  assert.equal(percent(-0.021), '−2.1 %');
  assert.equal(percent(-0.00001), '0 %');
});

test('an interval of what cannot be negative begins at 0, however wide it is', () => {
  assert.equal(sayInterval(1.1, 0.9, 1.3, 'times'), '1.10 × (0.90 × to 1.30 ×)');
  assert.equal(sayInterval(57.2, -24, 138.4, 'times'), '57.20 × (0.00 × to 138.40 ×)');
  assert.equal(sayInterval(-0.2, -0.3, -0.1, 'share'), '−20.0 % (−30.0 % to −10.0 %)');
});

test('ranges read from the side that is closed', () => {
  assert.equal(sayRange(1.6, undefined, 'times'), 'at least 1.60 ×');
  assert.equal(sayRange(undefined, 0.05, 'share'), 'at most 5.0 %');
  assert.equal(sayRange(595, 728, 'requests/s'), '595/s to 728/s');
  assert.equal(sayRange(1, undefined, 'yes'), 'yes');
  assert.equal(sayRange(undefined, 0, 'yes'), 'no');
});

test('lists and small numbers are words', () => {
  assert.equal(listed(['a']), 'a');
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c');
  assert.equal(numeral(4), 'four');
  assert.equal(numeral(40), '40');
});
