// Thoughts against what they should be, each drawn alone: all intervals are at 4.5 standard errors, seeds are fixed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../base.ts';
import { Calendar } from './calendar.ts';
import { MemorylessThoughts } from './memoryless-thoughts.ts';

const mean = 1e6;
const passing = -1;

/** Users who think, and then work for as long as `work` says, until `count` thoughts are over. Returns how long each lasted, and whose it
 * was. `inStep`: all begin together; otherwise each when it has worked for the first time. */
function thoughtsOf(users: number, count: number, work: (user: number) => number, inStep = true) {
  const calendar = new Calendar();
  const lengths: number[] = [];
  const whose = new Int32Array(users);
  const begun = new Float64Array(users);
  const working = new Uint8Array(users);
  let armed = 0;
  const thoughts = new MemorylessThoughts(mean, users, dice(1, `thoughts of ${users}`), {
    ended: (user, now) => end(user, now),
    arm: (at) => {
      armed += 1;
      calendar.schedule(at, 0, passing);
    },
    armAlone: (at, user) => calendar.schedule(at, 0, user),
  });
  const end = (user: number, now: number): void => {
    assert.equal(working[user], 0, 'whose thought is over was thinking');
    working[user] = 1;
    lengths.push(now - (begun[user] ?? 0));
    whose[user] = (whose[user] ?? 0) + 1;
    calendar.schedule(now + work(user), 0, user);
  };
  if (inStep) thoughts.beginAll(0, users, 0);
  else {
    working.fill(1);
    for (let user = 0; user < users; user++) calendar.schedule(work(user), 0, user);
  }
  while (lengths.length < count) {
    assert.ok(calendar.next());
    const { time, event } = calendar;
    if (event === passing) {
      armed -= 1;
      thoughts.pass(time);
    } else if (working[event] === 1) {
      working[event] = 0;
      begun[event] = time;
      thoughts.begin(event, time);
    } else end(event, time);
    assert.ok(armed <= 1, 'one event at a time for all');
  }
  return { lengths, whose };
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

for (const [name, users, work, inStep] of [
  ['one user', 1, () => 1000, true],
  ['few users who mostly work', 3, () => 5e6, false],
  ['many users who mostly think', 500, () => 20_000, false],
  ['many users who come back together', 200, () => 3e6, false],
] as const) {
  test(`${name}: every thought is exponential, whoever thinks beside it`, () => {
    const count = 100_000;
    const { lengths } = thoughtsOf(users, count, work, inStep);
    // The first thoughts to end are the short ones: a run that is cut has too many of them. A tenth is far more than are cut.
    const whole = lengths.slice(count / 10);
    const error = 4.5 / Math.sqrt(whole.length);
    assert.ok(Math.abs(meanOf(whole) / mean - 1) < error, `mean ${meanOf(whole) / mean}`);
    const squares = meanOf(whole.map((length) => (length / mean) ** 2));
    assert.ok(Math.abs(squares - 2) < error * Math.sqrt(20), `second moment ${squares}`);
    const outlasting = whole.filter((length) => length > mean).length / whole.length;
    assert.ok(Math.abs(outlasting - Math.exp(-1)) < error * 0.483, `beyond the mean ${outlasting}`);
  });
}

test('nobody is passed over: every user thinks equally often', () => {
  const users = 50;
  const count = 100_000;
  const { whose } = thoughtsOf(users, count, () => 1000);
  // Counts of a renewal process with exponential gaps are as scattered as Poisson's.
  const expected = count / users;
  for (const found of whose) assert.ok(Math.abs(found - expected) < 4.5 * Math.sqrt(expected), `${found} times`);
});
