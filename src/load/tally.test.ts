import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, ns } from '../base.ts';
import { Tally } from './tally.ts';

test("an answer is good up to 399, the client's mistake up to 499, the server's from 500", () => {
  const tally = new Tally();
  for (const status of [200, 399, 400, 499, 500, 599]) tally.answer(0, status, ms(1), ms(1), 10);
  assert.deepEqual([tally.answered, tally.failed, tally.bytes], [2, 4, 60]);
  assert.deepEqual(Object.fromEntries(tally.errors), { 'status-4xx': 2, 'status-5xx': 2 });
  assert.equal(tally.replica(0).finished, 6);
});

test('every whole answer is a latency, whatever its status; a failure without one is none', () => {
  const tally = new Tally();
  tally.answer(0, 200, ms(1), ms(1), 0);
  tally.answer(0, 503, ms(1), ms(1), 0);
  tally.failure(0, 'reset');
  assert.deepEqual([tally.latency.count, tally.service.count, tally.replica(0).latency.count], [2, 2, 2]);
});

for (const [what, end] of [
  ['timed out', (tally: Tally) => tally.timeout(0, ms(7))],
  ['was refused by a cap', (tally: Tally) => tally.refusal(ms(7))],
  ['was in flight at the end', (tally: Tally) => tally.leftInFlight(0, ms(7))],
  ['was never sent', (tally: Tally) => tally.leftUnsent(ms(7))],
] as const) {
  test(`what ${what} is a lower bound, and one end`, () => {
    const tally = new Tally();
    end(tally);
    assert.equal(tally.ended, 1);
    assert.deepEqual(tally.latency.quantile(0.5), { value: ms(7), atLeast: true });
    assert.equal(tally.latency.count, 0);
  });
}

test('cleared, a tally is as new', () => {
  const tally = new Tally();
  tally.planned = 3;
  tally.lag.record(ns(5));
  tally.timeout(1, ms(7));
  tally.answer(1, 503, ms(1), ms(1), 10);
  tally.clear();
  assert.deepEqual([tally.planned, tally.ended, tally.bytes, tally.errors.size, tally.lag.count], [0, 0, 0, 0, 0]);
  assert.equal(tally.replica(1).isEmpty, true);
  assert.equal(tally.latency.unfinishedCount, 0);
});
