// The balancers that take turns: plain, by deadline, by account.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { start } from '../../base.ts';
import type { Balancer, Fleet } from './balancer.ts';
import { fleet, fleetOf, pickMany } from './stand.ts';
import { roundRobin } from './round-robin.ts';
import { smoothRoundRobin } from './smooth-round-robin.ts';
import { weightedRoundRobin } from './weighted-round-robin.ts';

/** The ids of the next picks, in a row. */
function turns(balancer: Balancer, drawn: Fleet, count: number): string {
  let text = '';
  for (let nth = 0; nth < count; nth++) text += drawn.endpoints[balancer.pick({}, start) ?? -1]?.id ?? '-';
  return text;
}

test('round robin gives everybody the same number of turns in any whole number of rounds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5 }), fc.nat(1000), (size, rounds, seed) => {
      const balancer = roundRobin({ seed });
      const drawn = fleetOf(size);
      balancer.rebuild(drawn);
      assert.deepEqual(
        pickMany(balancer, drawn, size * rounds),
        drawn.endpoints.map(() => rounds),
      );
    }),
  );
});

test('round robin begins at a random place, so that gateways do not march in step', () => {
  const drawn = fleetOf(10);
  const begins = Array.from({ length: 400 }, (_, seed) => {
    const balancer = roundRobin({ seed });
    balancer.rebuild(drawn);
    return balancer.pick({}, start);
  });
  for (let place = 0; place < 10; place++) {
    // 40 expected of 400; outside 12 … 74 once in a million.
    const count = begins.filter((begin) => begin === place).length;
    assert.ok(count >= 12 && count <= 74, `${count} of 400 begin at ${place}`);
  }
});

test('round robin goes on where it was when the fleet changes', () => {
  const balancer = roundRobin({ seed: 0 });
  const before = fleet('a b c d');
  balancer.rebuild(before);
  while (turns(balancer, before, 1) !== 'b');
  // c is next. One that joins or leaves elsewhere does not change that.
  balancer.rebuild(fleet('z a b c d'));
  assert.equal(turns(balancer, fleet('z a b c d'), 2), 'cd');
  // z would be next; it leaves, and a follows. c falls ill, and d follows b.
  balancer.rebuild(fleet('a b !c d'));
  assert.equal(turns(balancer, fleet('a b !c d'), 4), 'abda');
});

test('round robin spreads the share of one that is skipped over all, not onto its neighbour', () => {
  const balancer = roundRobin({ seed: 4 });
  const drawn = fleet('a !b c d');
  balancer.rebuild(drawn);
  assert.deepEqual(pickMany(balancer, drawn, 300), [100, 0, 100, 100]);
});

test('smooth round robin repeats nginx’s famous order for 5, 1, 1', () => {
  const drawn = fleet('a:5 b:1 c:1');
  const balancer = smoothRoundRobin({ seed: 1 });
  balancer.rebuild(drawn);
  const order = turns(balancer, drawn, 14);
  // From wherever it begins, it is that order, turned.
  assert.ok('aabacaaaabacaaaabacaa'.includes(order), order);
  assert.equal(order.slice(0, 7), order.slice(7));
});

for (const [name, make] of [
  ['weighted round robin', weightedRoundRobin],
  ['smooth round robin', smoothRoundRobin],
] as const) {
  test(`${name}: in any stretch everybody is within two turns of its due`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
        fc.nat(1000),
        fc.nat(200),
        (weights, seed, skip) => {
          const balancer = make({ seed });
          const drawn = fleet(weights.map((weight, index) => `e${index}:${weight}`).join(' '));
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          balancer.rebuild(drawn);
          pickMany(balancer, drawn, skip);
          const counts = pickMany(balancer, drawn, 120);
          counts.forEach((count, index) => {
            const due = (120 * (weights[index] ?? 0)) / total;
            assert.ok(Math.abs(count - due) <= 2, `${weights.join()}: ${counts.join()}, due ${due}`);
          });
        },
      ),
    );
  });

  test(`${name}: turns of a heavy one do not come in a row`, () => {
    const drawn = fleet('a:3 b:3');
    const balancer = make({ seed: 2 });
    balancer.rebuild(drawn);
    assert.match(turns(balancer, drawn, 12), /^(ab){6}$|^(ba){6}$/);
  });

  test(`${name}: one that joins a running rotation neither floods nor waits`, () => {
    const balancer = make({ seed: 9 });
    balancer.rebuild(fleetOf(4));
    pickMany(balancer, fleetOf(4), 1001);
    const larger = fleetOf(5);
    balancer.rebuild(larger);
    const counts = pickMany(balancer, larger, 50);
    for (const count of counts) assert.ok(count >= 8 && count <= 12, counts.join());
  });
}

test('weighted round robin begins at random, so that gateways do not march in step', () => {
  const drawn = fleet('a:1 b:1 c:2');
  const begins = new Set(
    Array.from({ length: 60 }, (_, seed) => {
      const balancer = weightedRoundRobin({ seed });
      balancer.rebuild(drawn);
      return turns(balancer, drawn, 4);
    }),
  );
  assert.ok(begins.size > 6, `${begins.size} different openings`);
});
