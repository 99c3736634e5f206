import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leadingInstant, parseInstant, someInstant } from './instants.ts';

const noon = Date.UTC(2026, 2, 4, 12, 0, 0);

/** The whole text is this many milliseconds after noon of 4 March 2026, UTC. */
function check(text: string | number, afterNoonMs: number, stepMs: number): void {
  const found = parseInstant(text);
  assert.ok(found !== undefined, `${text} was not understood`);
  assert.ok(Math.abs(found.ms - noon - afterNoonMs) < 0.001, `${text}: ${found.ms - noon}`);
  assert.equal(found.stepMs, stepMs, `${text}`);
}

test('every way in which programs write a point in time', () => {
  check('2026-03-04T12:00:15.250Z', 15_250, 1);
  check('2026-03-04T12:00:15Z', 15_000, 1000);
  check('2026-03-04T13:00:15+01:00', 15_000, 1000);
  check('2026-03-04T12:00:15.250123456Z', 15_250.123456, 0.001);
  check('2026-03-04 12:00:15,250', 15_250, 1);
  check('2026-03-04 12:00:15.250 UTC', 15_250, 1);
  check('2026/03/04 12:00:15', 15_000, 1000);
  check('04/Mar/2026:12:00:15.250', 15_250, 1);
  check('04/Mar/2026:11:00:15 -0100', 15_000, 1000);
  check(`${noon / 1000 + 15}.250`, 15_250, 1);
  check(noon / 1000 + 15, 15_000, 1000);
  check(noon + 15_250, 15_250, 1);
  check(`${(noon + 15_250) * 1000}`, 15_250, 0.001);
  check(`${noon + 15_250}000000`, 15_250, 0.001);
});

test('numbers and words that are no points in time', () => {
  for (const text of [
    '12345',
    '0.021',
    '10.0.5.13',
    '2026-13-99x',
    '99/Foo/2026:00:00:00',
    'soon',
    '',
    '127.0.0.1:8080',
  ]) {
    assert.equal(parseInstant(text), undefined, text);
  }
  assert.equal(parseInstant(null), undefined);
});

test('syslog gets the year in which it lies nearest to what is known', () => {
  const reference = Date.UTC(2026, 0, 1, 0, 0, 5);
  assert.equal(leadingInstant('Dec 31 23:59:58 lb1 haproxy', 0, reference)?.ms, Date.UTC(2025, 11, 31, 23, 59, 58));
  assert.equal(leadingInstant('Jan  1 00:00:01 lb1', 0, reference)?.ms, Date.UTC(2026, 0, 1, 0, 0, 1));
  assert.equal(leadingInstant('Jan  1 00:00:01 lb1'), undefined);
  assert.equal(someInstant('Mar 04 x [04/Mar/2026:12:00:00.000] fe'), noon);
});

test('an instant at the beginning says where it ends', () => {
  assert.equal(leadingInstant('2026-03-04T12:00:15.250Z host=a')?.end, 24);
  assert.equal(leadingInstant('[2026-03-04T12:00:15.250Z] "GET', 1)?.end, 25);
});
