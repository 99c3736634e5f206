import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../../base.ts';
import { listed, warped } from './listed.ts';
import { pacerOf } from './pacer.ts';

const times = [0, 5, 5, 40].map(ms);

test('listed requests are due when they were, and then there are no more', () => {
  const pacer = pacerOf({ clients: 'log', ratePerSecond: 0, arrivals: 'constant', times }, 1);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((index) => pacer.due(index)),
    [...times, undefined],
  );
});

test('time may be played faster or slower', () => {
  assert.deepEqual(warped(times, 2), [0, 2.5, 2.5, 20].map(ms));
  assert.deepEqual(warped(times, 0.5), [0, 10, 10, 80].map(ms));
});

test('a list that runs backwards is a mistake', () => {
  assert.throws(() => listed([ms(2), ms(1)]), /rising order/);
});
