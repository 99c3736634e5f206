// The balancers that find the same endpoint for the same key: ring, bounded load, Maglev, rendezvous.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '../../base.ts';
import { uniformityTest } from '../../stats.ts';
import type { Balancer, Fleet } from './balancer.ts';
import { boundedLoad } from './bounded-load.ts';
import { combine, hashText, spread } from './hash.ts';
import { maglev, maglevTable } from './maglev.ts';
import { rendezvous } from './rendezvous.ts';
import { HashRing } from './ring.ts';
import { ringHash } from './ring-hash.ts';
import { fleet, fleetOf } from './stand.ts';

const keys = Array.from({ length: 10_000 }, (_, key) => spread(key + 1));

/** Whose each key is, by id. */
function ownersOf(balancer: Balancer, drawn: Fleet): string[] {
  balancer.rebuild(drawn);
  return keys.map((hash) => drawn.endpoints[balancer.pick({ hash }, start) ?? -1]?.id ?? '-');
}

const sharesOf = (owners: readonly string[], drawn: Fleet): number[] =>
  drawn.endpoints.map((endpoint) => owners.filter((owner) => owner === endpoint.id).length);

for (const [name, make] of [
  ['ring hash', ringHash],
  ['maglev', maglev],
  ['rendezvous', rendezvous],
  ['bounded load', boundedLoad],
] as const) {
  test(`${name}: the same key goes to the same endpoint, whatever the seed and the order of the list`, () => {
    const one = ownersOf(make({ seed: 1 }), fleet('a b c d e'));
    const other = ownersOf(make({ seed: 2 }), fleet('e c a d b'));
    assert.deepEqual(one, other);
  });

  test(`${name}: when one leaves, nearly only its own keys move, and they spread over the others`, () => {
    const before = ownersOf(make({ seed: 1 }), fleetOf(10));
    const fewer = fleet(Array.from({ length: 9 }, (_, index) => `a${index + 1}`).join(' '));
    const after = ownersOf(make({ seed: 1 }), fewer);
    const moved = keys.filter((_, nth) => before[nth] !== 'a10' && before[nth] !== after[nth]).length;
    // A ring and a contest move none of the others'; Maglev's table moves a few more.
    assert.ok(moved <= (name === 'maglev' ? 0.03 * keys.length : 0), `${moved} of 10,000 moved that need not`);
    const heirs = keys.flatMap((_, nth) => (before[nth] === 'a10' ? [after[nth]] : []));
    assert.equal(new Set(heirs).size, 9, 'everybody inherits something');
  });

  test(`${name}: keys come back to one that was ill`, () => {
    const balancer = make({ seed: 1 });
    const before = ownersOf(balancer, fleet('a b c d'));
    const during = ownersOf(balancer, fleet('a !b c d'));
    assert.ok(!during.includes('b'));
    assert.deepEqual(ownersOf(balancer, fleet('a b c d')), before);
  });

  test(`${name}: keys are shared by weight`, () => {
    const drawn = fleet('a:1 b:2 c:3 d:2');
    const shares = sharesOf(ownersOf(make({ seed: 1 }), drawn), drawn);
    const deviation = uniformityTest(shares, [1, 2, 3, 2])?.largestDeviation ?? Infinity;
    assert.ok(deviation < (name === 'ring hash' || name === 'bounded load' ? 0.25 : 0.07), shares.join());
  });
}

test('Maglev’s table is even to one slot, and fills whatever the weights', () => {
  const equal = fleetOf(7);
  const counts = countSlots(equal);
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join());
  const weighted = fleet('a:1 b:0.001 c:7');
  const shares = countSlots(weighted);
  assert.equal(shares[0] !== 0 && shares[1] !== 0, true, 'everybody has a slot at least');
  assert.ok(Math.abs((shares[2] ?? 0) / (shares[0] ?? 1) - 7) < 0.01, shares.join());
});

function countSlots(drawn: Fleet): number[] {
  const fit = drawn.endpoints.map((_, index) => index);
  const table = maglevTable(drawn, fit, 65_537);
  assert.ok(!table.includes(-1));
  return fit.map((owner) => table.filter((slot) => slot === owner).length);
}

test('a ring has at least its least number of points, in proportion to weight', () => {
  const ring = new HashRing(fleet('a:1 b:3'));
  assert.ok(ring.size >= 1024 && ring.size < 2048);
  let a = 0;
  for (let place = 0; place < ring.size; place++) if (ring.owner(place) === 0) a += 1;
  assert.ok(Math.abs(a / ring.size - 0.25) < 0.002);
  const lopsided = new HashRing(fleet('a:1 b:1000000'), { sizeMax: 5000 }).size;
  assert.ok(lopsided > 2500 && lopsided <= 5001, `${lopsided}: at most, and one for the lightest`);
});

test('a ring goes round: a key behind the last point belongs to the first', () => {
  const ring = new HashRing(fleet('a b'), { sizeMin: 4 });
  assert.equal(ring.place(2 ** 32 - 1), 0);
  assert.equal(ring.next(ring.size - 1), 0);
  assert.equal(ring.place(0), 0);
});

test('bounded load never lets anybody hold more than its bound, and keeps to the key while there is room', () => {
  const factor = 1.25;
  const balancer = boundedLoad({ seed: 1, factor });
  const size = 8;
  balancer.rebuild(fleetOf(size));
  const home = balancer.pick({ hash: 12_345 }, start);
  let total = 0;
  // Everybody asks for the same popular key, and nobody finishes.
  for (let count = 0; count < 400; count++) {
    const picked = balancer.pick({ hash: 12_345 }, start) ?? -1;
    const bound = Math.ceil((factor * (total + 1)) / size);
    assert.ok(balancer.inFlight(picked) < bound, `${balancer.inFlight(picked)} inside, bound ${bound}`);
    if (balancer.inFlight(home ?? 0) < bound) assert.equal(picked, home);
    balancer.started(picked, start);
    total += 1;
  }
  const inside = Array.from({ length: size }, (_, endpoint) => balancer.inFlight(endpoint));
  assert.equal(Math.max(...inside), Math.ceil((factor * 400) / size));
});

test('bounded load spreads the overflow of a popular key over all, not onto its neighbour', () => {
  const balancer = boundedLoad({ seed: 1, factor: 2 });
  balancer.rebuild(fleetOf(6));
  for (let count = 0; count < 600; count++) balancer.started(balancer.pick({ hash: 7 }, start) ?? -1, start);
  const used = Array.from({ length: 6 }, (_, endpoint) => balancer.inFlight(endpoint)).filter((inside) => inside > 0);
  assert.ok(used.length >= 3, used.join());
});

test('hashes spread: every bit of input changes about half of the bits of output', () => {
  const flips = (change: (bit: number) => number, base: number): number => {
    let sum = 0;
    for (let bit = 0; bit < 32; bit++) {
      for (let differ = change(bit) ^ base; differ !== 0; differ &= differ - 1) sum += 1;
    }
    return sum / 32;
  };
  let total = 0;
  for (let value = 1; value <= 100; value++) {
    total += flips((bit) => combine(value ^ (1 << bit), 99), combine(value, 99));
    total += flips((bit) => combine(99, value ^ (1 << bit)), combine(99, value));
  }
  // 200 means of 32 sums of 32 coins: σ = √8 / √6400 = 0.035.
  assert.ok(Math.abs(total / 200 - 16) < 0.25, `${total / 200} of 32 bits`);
  assert.notEqual(hashText('ab'), hashText('ba'));
});
