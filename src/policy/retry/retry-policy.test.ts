import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice, instantAt, ms, seconds } from '../../base.ts';
import { retryPolicyOf } from './retry-policy.ts';

const now = instantAt(seconds(100));

test('waits are drawn below a ceiling that doubles, and never beyond ten seconds', () => {
  const policy = retryPolicyOf({ retries: 20, backOff: ms(100) }, dice(1, 'waits'));
  for (let attempt = 1; attempt <= 20; attempt++) {
    const ceiling = Math.min(seconds(10), ms(100) * (2 ** attempt - 1));
    const waits = Array.from({ length: 200 }, () => policy.wait(attempt));
    assert.ok(waits.every((wait) => wait >= 0 && wait <= ceiling));
    // Of 200 even draws the greatest is below half of the ceiling once in 2^200 times.
    assert.ok(Math.max(...waits) > ceiling / 2);
  }
});

test('without a back-off nobody waits, and nothing is drawn', () => {
  const source = dice(1, 'waits');
  const policy = retryPolicyOf({ retries: 1 }, source);
  assert.equal(policy.wait(1), 0);
  assert.equal(source.next(), dice(1, 'waits').next());
});

test('a budget allows a share of the requests and ten besides in its ten seconds; without one there is none', () => {
  const { budget } = retryPolicyOf({ retries: 3, budget: 0.1 }, dice(1, 'waits'));
  for (let request = 0; request < 500; request++) budget?.deposit(now);
  assert.equal(budget?.left(now), 60);
  assert.equal(retryPolicyOf({ retries: 3 }, dice(1, 'waits')).budget, undefined);
});

test('four who see a quarter of the requests each have the budget of one who sees all', () => {
  const parts = Array.from({ length: 4 }, () => retryPolicyOf({ retries: 3, budget: 0.1 }, dice(1, 'waits'), 4).budget);
  for (let request = 0; request < 500; request++) parts[request % 4]?.deposit(now);
  assert.equal(
    parts.reduce((sum, part) => sum + (part?.left(now) ?? 0), 0),
    60,
  );
});
