import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  after,
  between,
  formatDuration,
  instantAt,
  inMs,
  inSeconds,
  minutes,
  ms,
  ns,
  parseDuration,
  seconds,
  start,
  us,
} from './time.ts';

test('a duration is a whole number of nanoseconds, whatever unit it was given in', () => {
  assert.equal(ns(1.4), 1);
  assert.equal(us(1.5), 1500);
  assert.equal(ms(0.1), 100_000);
  assert.equal(seconds(1), 1e9);
  assert.equal(minutes(2), 120e9);
  assert.equal(inMs(us(250)), 0.25);
  assert.equal(inSeconds(ms(1500)), 1.5);
});

test('not a number is neither a duration nor an instant', () => {
  assert.throws(() => ns(Number.NaN), { name: 'AssertionError' });
  assert.throws(() => seconds(Number.NaN), { name: 'AssertionError' });
  assert.throws(() => instantAt(Number.NaN), { name: 'AssertionError' });
});

test('between two instants lies what leads from one to the other', () => {
  const later = after(start, ms(5));
  assert.equal(between(start, later), ms(5));
  assert.equal(between(later, start), ms(-5));
});

/** Each line: what is written, then the nanoseconds that are meant, or `no`. */
function checkParse(script: string): void {
  for (const line of lines(script)) {
    const [text = '', meant = ''] = line.split('=>').map((part) => part.trim());
    assert.equal(parseDuration(text), meant === 'no' ? undefined : Number(meant), line);
  }
}

/** Each line: nanoseconds, then how a person reads them. */
function checkFormat(script: string): void {
  for (const line of lines(script)) {
    const [count = '', text = ''] = line.split('=>').map((part) => part.trim());
    assert.equal(formatDuration(ns(Number(count))), text, line);
  }
}

function lines(script: string): string[] {
  return script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

test('a written duration needs a unit, and may have several', () => {
  checkParse(`
    250ms     => 250000000
    1.5s      => 1500000000
    2m30s     => 150000000000
    2 m 30 s  => 150000000000
    1h        => 3600000000000
    1min      => 60000000000
    3us       => 3000
    3\u00b5s       => 3000
    3\u03bcs       => 3000
    7ns       => 7
    0         => 0
    0s        => 0
  `);
});

test('what is not a duration is refused, not guessed', () => {
  checkParse(`
              => no
    250       => no
    1         => no
    -1s       => no
    +1s       => no
    1e3ms     => no
    .5s       => no
    5.s       => no
    1 day     => no
    1s extra  => no
    s         => no
    1constructor => no
    1  s      => no
    1S        => no
  `);
});

test('the longest duration is 2^53 ns; one nanosecond more is refused', () => {
  checkParse(`
    9007199254740991ns => 9007199254740991
    9007199254740992ns => no
    2501h              => 9003600000000000
    2502h              => no
  `);
});

test('a duration is printed with three digits in the unit a person would choose', () => {
  checkFormat(`
    0             => 0 ns
    999           => 999 ns
    1000          => 1.00 µs
    9994          => 9.99 µs
    9995          => 10.0 µs
    99949         => 99.9 µs
    99950         => 100 µs
    850000        => 850 µs
    999499        => 999 µs
    999500        => 1.00 ms
    20300000      => 20.3 ms
    999499999     => 999 ms
    999500000     => 1.00 s
    6000000000    => 6.00 s
    119499999999  => 119 s
    119500000000  => 2 m
    150000000000  => 2 m 30 s
    7199499999999 => 119 m 59 s
    7200000000000 => 2 h
    7500000000000 => 2 h 5 m
    -1500000      => -1.50 ms
    -150000000000 => -2 m 30 s
    Infinity      => ∞
    -Infinity     => -∞
  `);
});

test('what is printed can be read again, to three digits', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 43, noNaN: true }), (power) => {
      const distance = ns(2 ** power);
      const again = parseDuration(formatDuration(distance));
      assert.ok(again !== undefined, formatDuration(distance));
      // Half a unit of the third digit: at worst 0.5 in 100. From two minutes on, half a second in 120.
      assert.ok(Math.abs(again - distance) <= 0.005 * distance, `${distance} came back as ${again}`);
    }),
  );
});
