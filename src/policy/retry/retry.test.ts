import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, dice, instantAt, ms, seconds, start } from '../../base.ts';
import { backOff } from './back-off.ts';
import { RetryBudget } from './budget.ts';
import { Hedge } from './hedge.ts';
import { isIdempotent } from './idempotent.ts';
import { type FailedAttempt, mayRepeat } from './may-repeat.ts';

/** How many retries are granted when all of them are wanted. */
function granted(budget: RetryBudget, wanted: number, now = start): number {
  let count = 0;
  for (let nth = 0; nth < wanted; nth++) if (budget.withdraw(now)) count += 1;
  return count;
}

test('a budget grants its reserve and a share of the requests, and no more', () => {
  const budget = new RetryBudget({ ratio: 0.2, minPerSecond: 10, window: seconds(10) });
  assert.equal(granted(budget, 1000), 100);
  for (let count = 0; count < 500; count++) budget.deposit(start);
  assert.equal(granted(budget, 1000), 100);
  assert.equal(budget.left(start), 0);
});

test('what is older than the window is forgotten, on both sides', () => {
  const budget = new RetryBudget({ ratio: 0.5, minPerSecond: 0, window: seconds(10) });
  for (let count = 0; count < 100; count++) budget.deposit(start);
  assert.equal(granted(budget, 30), 30);
  assert.equal(budget.left(instantAt(9.9e9)), 20);
  assert.equal(budget.left(instantAt(10e9)), 0);
});

test('reading a budget does not spend it', () => {
  const budget = new RetryBudget();
  assert.equal(budget.left(start), budget.left(start));
});

test('whatever the order of requests and retries, amplification stays within 1 + ratio and the reserve', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('request', 'retry', 'time'), { maxLength: 500 }), (events) => {
      const budget = new RetryBudget({ ratio: 0.2, minPerSecond: 1, window: seconds(10) });
      let now = start;
      let requests = 0;
      let retries = 0;
      for (const event of events) {
        if (event === 'time') now = after(now, ms(10));
        else if (event === 'request') {
          budget.deposit(now);
          requests += 1;
        } else if (budget.withdraw(now)) retries += 1;
      }
      // All of it happens within one window.
      assert.ok(retries <= 0.2 * requests + 10);
    }),
  );
});

test('a back-off is drawn evenly below a ceiling that doubles: 25, 75, 175, then 250 ms', () => {
  for (const [attempt, ceiling] of [
    [1, 25],
    [2, 75],
    [3, 175],
    [4, 250],
    [40, 250],
  ] as const) {
    const source = dice(attempt, 'back-off');
    const waits = Array.from({ length: 2000 }, () => backOff(attempt, source));
    assert.ok(Math.min(...waits) >= 0 && Math.max(...waits) < ms(ceiling));
    const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
    // σ of the mean of 2,000 even draws: ceiling / √12 / √2000; five of them.
    assert.ok(Math.abs(mean / ms(ceiling) - 0.5) < 0.033, `${mean} below ${ms(ceiling)}`);
  }
});

test('only the methods of RFC 9110 section 9.2.2 are idempotent, in their own case', () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']) assert.ok(isIdempotent(method));
  for (const method of ['POST', 'PATCH', 'CONNECT', 'get', '']) assert.ok(!isIdempotent(method));
});

test('an attempt is repeated in exactly the cases of the table', () => {
  const usual: FailedAttempt = {
    reached: 'sent',
    failure: 'connection',
    reused: false,
    idempotent: true,
    replayable: true,
  };
  const check = (own: Partial<FailedAttempt>): string => mayRepeat({ ...usual, ...own });
  assert.equal(check({ reached: 'connecting', idempotent: false }), 'elsewhere');
  assert.equal(check({ reached: 'connecting', idempotent: false, replayable: false }), 'no');
  assert.equal(check({}), 'elsewhere');
  assert.equal(check({ reused: true }), 'reconnect');
  assert.equal(check({ idempotent: false }), 'no');
  assert.equal(check({ reused: true, idempotent: false }), 'no');
  assert.equal(check({ replayable: false }), 'no');
  for (const failure of ['protocol', 'timeout'] as const) assert.equal(check({ failure }), 'no');
  assert.equal(check({ reached: 'answer-begun' }), 'no');
});

test('nothing that may have been carried out is repeated, unless twice is as good as once', () => {
  const anyAttempt = fc.record({
    reached: fc.constantFrom('connecting' as const, 'sent' as const, 'answer-begun' as const),
    failure: fc.constantFrom('connection' as const, 'protocol' as const, 'timeout' as const),
    reused: fc.boolean(),
    idempotent: fc.boolean(),
    replayable: fc.boolean(),
  });
  fc.assert(
    fc.property(anyAttempt, (attempt) => {
      if (mayRepeat(attempt) === 'no') return;
      assert.ok(attempt.reached !== 'answer-begun' && attempt.failure === 'connection');
      assert.ok(attempt.reached === 'connecting' || attempt.idempotent);
    }),
  );
});

test('a hedge waits for the time in which nearly all answer, and gives none before it knows it', () => {
  const hedge = new Hedge({ quantile: 0.95, samplesMin: 50 });
  for (let count = 1; count <= 100; count++) {
    assert.equal(hedge.started(start) === undefined, count <= 50);
    hedge.finished(ms(count));
  }
  assert.equal(hedge.started(start), ms(95));
});

test('hedges are a small part of the requests, whatever happens', () => {
  const hedge = new Hedge({ ratio: 0.05 });
  let hedged = 0;
  for (let count = 0; count < 10_000; count++) {
    const now = instantAt(count * 1e6);
    hedge.started(now);
    if (hedge.mayHedge(now)) hedged += 1;
  }
  // 10 s of 1,000 a second: 5 % of 10,000, and one a second besides.
  assert.ok(hedged <= 511, `${hedged}`);
});
