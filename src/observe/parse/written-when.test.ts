import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../base.ts';
import { WrittenWhen } from './written-when.ts';

/** A log of 200 requests at random with one or the other time on each line, in the order in which they were over. */
function written(seed: number, stamp: 'start' | 'end'): boolean {
  const die = dice(seed, 'requests');
  let at = 0;
  const requests = Array.from({ length: 200 }, () => {
    at += die.exponential(20);
    return { start: at, seconds: die.exponential(0.05) };
  });
  const when = new WrittenWhen();
  for (const { start, seconds } of requests.toSorted(
    (a, b) => a.start + a.seconds * 1000 - (b.start + b.seconds * 1000),
  )) {
    when.observe(stamp === 'start' ? start : start + seconds * 1000, seconds);
  }
  return when.isStart;
}

test('lines in the order of their ends tell by their times which end they carry', () => {
  for (let seed = 1; seed <= 20; seed++) {
    assert.equal(written(seed, 'start'), true, `seed ${seed}`);
    assert.equal(written(seed, 'end'), false, `seed ${seed}`);
  }
});

test('even times with uneven durations are beginnings, even ones with even durations say nothing', () => {
  const even = new WrittenWhen();
  const uneven = new WrittenWhen();
  for (let index = 0; index < 50; index++) {
    even.observe(index * 1000, 0.02);
    uneven.observe(index * 1000, index % 3 === 0 ? 5 : 0.1);
  }
  assert.equal(even.isStart, false);
  assert.equal(uneven.isStart, true);
});

test('a few lines are too few to tell', () => {
  const when = new WrittenWhen();
  for (let index = 0; index < 4; index++) when.observe(index * 1000, index);
  assert.equal(when.isStart, false);
});
