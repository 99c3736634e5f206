// The balancers that draw: random and least request, and the table behind their draws.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dice, start } from '../../base.ts';
import { uniformityTest } from '../../stats.ts';
import type { Balancer } from './balancer.ts';
import { leastRequest } from './least-request.ts';
import { random } from './random.ts';
import { fleet, fleetOf, pickMany } from './stand.ts';
import { WeightedDraw } from './weighted-draw.ts';

/** Shares as by chance: less even than this once in a million. */
function assertShares(counts: readonly number[], weights: readonly number[]): void {
  const result = uniformityTest(counts, weights);
  assert.ok(result !== undefined && result.pMoreUneven > 1e-6, `${counts.join()} for ${weights.join()}`);
}

test('a weighted draw draws in proportion to the weights, whatever they are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 12 }),
      fc.nat(1e6),
      (weights, seed) => {
        const draw = new WeightedDraw(weights, dice(seed, 'test'));
        const counts = weights.map(() => 0);
        for (let nth = 0; nth < 5000; nth++) {
          const drawn = draw.draw();
          counts[drawn] = (counts[drawn] ?? 0) + 1;
        }
        assertShares(counts, weights);
      },
    ),
    { numRuns: 50 },
  );
});

test('random follows the weights and is only as uneven as chance', () => {
  const drawn = fleet('a:1 b:2 c:3 d:0');
  const balancer = random({ seed: 8 });
  balancer.rebuild(drawn);
  const counts = pickMany(balancer, drawn, 30_000);
  assertShares(counts.slice(0, 3), [1, 2, 3]);
});

test('a second attempt of random is spread evenly over the others', () => {
  const balancer = random({ seed: 8 });
  const drawn = fleetOf(5);
  balancer.rebuild(drawn);
  const counts = pickMany(balancer, drawn, 20_000, () => ({ tried: [2] }));
  assert.equal(counts[2], 0);
  // One who is drawn keeps it, the rest is dealt evenly.
  assertShares([counts[0] ?? 0, counts[1] ?? 0, counts[3] ?? 0, counts[4] ?? 0], [1, 1, 1, 1]);
});

/** Puts so many requests into each endpoint. */
function load(balancer: Balancer, inside: readonly number[]): void {
  inside.forEach((count, endpoint) => {
    for (let nth = 0; nth < count; nth++) balancer.started(endpoint, start);
  });
}

test('least request scans a small fleet and never picks a fuller one', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }), fc.nat(1000), (inside, seed) => {
      const balancer = leastRequest({ seed });
      balancer.rebuild(fleetOf(inside.length));
      load(balancer, inside);
      for (let count = 0; count < 10; count++) {
        const picked = balancer.pick({}, start) ?? -1;
        assert.equal(inside[picked], Math.min(...inside));
      }
    }),
  );
});

test('least request shares ties evenly, wherever the tied ones stand', () => {
  const balancer = leastRequest({ seed: 3 });
  const drawn = fleetOf(6);
  balancer.rebuild(drawn);
  load(balancer, [0, 3, 0, 3, 3, 0]);
  const counts = pickMany(balancer, drawn, 9000);
  assertShares([counts[0] ?? 0, counts[2] ?? 0, counts[5] ?? 0], [1, 1, 1]);
});

test('two choices take the emptiest with chance 2/n, and the fullest only in a tie with itself, which is never', () => {
  const balancer = leastRequest({ seed: 3, full: false });
  const drawn = fleetOf(10);
  balancer.rebuild(drawn);
  load(balancer, [0, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
  const counts = pickMany(balancer, drawn, 20_000);
  assert.equal(counts[9], 0);
  assertShares([counts[0] ?? 0, 20_000 - (counts[0] ?? 0)], [2, 8]);
});

test('two choices of two are a scan', () => {
  const balancer = leastRequest({ seed: 3, full: false });
  const drawn = fleetOf(2);
  balancer.rebuild(drawn);
  load(balancer, [1, 0]);
  assert.deepEqual(pickMany(balancer, drawn, 500), [0, 500]);
});

test('more choices find the emptiest more often', () => {
  const share = (choices: number): number => {
    const balancer = leastRequest({ seed: 5, full: false, choices });
    const drawn = fleetOf(20);
    balancer.rebuild(drawn);
    load(balancer, [0, ...Array.from({ length: 19 }, () => 1)]);
    return (pickMany(balancer, drawn, 5000)[0] ?? 0) / 5000;
  };
  const shares = [2, 3, 5, 9].map(share);
  assert.deepEqual(
    shares,
    shares.toSorted((one, other) => one - other),
  );
  assert.ok(Math.abs((shares[0] ?? 0) - 2 / 20) < 0.02 && (shares[3] ?? 0) > 0.3, shares.join());
});

test('an idle fleet is used in proportion to its weights, by scan and by draw', () => {
  for (const full of [true, false]) {
    const balancer = leastRequest({ seed: 6, full });
    const drawn = fleet('a:1 b:2 c:5');
    balancer.rebuild(drawn);
    const counts = pickMany(balancer, drawn, 16_000);
    if (full) assertShares(counts, [1, 2, 5]);
    // Drawing again when the same place comes twice favours the light ones a little; they are never ahead of a heavier one.
    else
      assert.deepEqual(
        counts,
        counts.toSorted((one, other) => one - other),
        counts.join(),
      );
  }
});

test('a busy fleet is filled in proportion to its weights', () => {
  const balancer = leastRequest({ seed: 6 });
  balancer.rebuild(fleet('a:1 b:2 c:5'));
  for (let count = 0; count < 800; count++) {
    const picked = balancer.pick({}, start) ?? -1;
    balancer.started(picked, start);
  }
  const inside = [0, 1, 2].map((endpoint) => balancer.inFlight(endpoint));
  assert.ok(Math.abs((inside[0] ?? 0) - 100) <= 1 && Math.abs((inside[1] ?? 0) - 200) <= 2, inside.join());
});

test('with two choices the fullest of n holds log log n, with one log n', () => {
  // Balls into bins, Azar, Broder, Karlin and Upfal 1999: n balls into n bins, the fullest bin.
  const n = 4096;
  const fullest = (make: (seed: number) => Balancer, seed: number): number => {
    const balancer = make(seed);
    balancer.rebuild(fleetOf(n));
    let most = 0;
    for (let ball = 0; ball < n; ball++) {
      const bin = balancer.pick({}, start) ?? 0;
      balancer.started(bin, start);
      most = Math.max(most, balancer.inFlight(bin));
    }
    return most;
  };
  for (let seed = 0; seed < 3; seed++) {
    const two = fullest((at) => leastRequest({ seed: at, full: false }), seed);
    const one = fullest((at) => random({ seed: at }), seed);
    assert.ok(two <= 4, `${two}: ln ln 4096 / ln 2 + O(1) = 3.06 + 1`);
    assert.ok(one >= 5 && one <= 10, `${one}: ln n / ln ln n · (1 + o(1)) = 3.9 to 7`);
  }
});
