// What every balancer must keep to, whatever its idea. Each law is tried on all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, instantAt, ms, start } from '../../base.ts';
import { chiSquareAbove } from '../../stats.ts';
import type { Balancer, Fleet } from './balancer.ts';
import { type BalancerName, balancerByName, balancerNames } from './by-name.ts';
import { fleet, fleetOf, pickMany } from './stand.ts';

/** Balancers that stick to a key or a place cannot be even or starve nobody. */
const evenNames = balancerNames.filter((name) => name !== 'pick-first');

for (const name of balancerNames) {
  const make = (seed = 1): Balancer => balancerByName(name, { seed });

  test(`${name}: picks somebody fit whenever there is one, and nobody else`, () => {
    fc.assert(
      fc.property(anyFleet, fc.nat(2 ** 32 - 1), (drawn, hash) => {
        const balancer = make();
        balancer.rebuild(drawn);
        const fit = fitOf(drawn);
        for (let count = 0; count < 20; count++) {
          const picked = balancer.pick(count % 2 === 0 ? { hash } : {}, instantAt(count * 1e6));
          if (fit.length === 0) assert.equal(picked, undefined);
          else assert.ok(picked !== undefined && fit.includes(picked));
        }
      }),
      { numRuns: 60 },
    );
  });

  test(`${name}: tries nobody twice while another is left`, () => {
    fc.assert(
      fc.property(anyFleet, fc.nat(2 ** 32 - 1), (drawn, hash) => {
        const balancer = make();
        balancer.rebuild(drawn);
        const fit = fitOf(drawn);
        const tried: number[] = [];
        for (let count = 0; count < fit.length; count++) {
          const picked = balancer.pick({ hash, tried }, start);
          assert.ok(
            picked !== undefined && fit.includes(picked) && !tried.includes(picked),
            `${tried.join()} then ${picked}`,
          );
          tried.push(picked);
        }
        const again = balancer.pick({ hash, tried }, start);
        assert.ok(fit.length === 0 ? again === undefined : again !== undefined && fit.includes(again));
      }),
      { numRuns: 60 },
    );
  });

  test(`${name}: counts what is inside, and keeps the counts of those that stay`, () => {
    fc.assert(
      fc.property(anyFleet, anyFleet, fc.array(fc.nat(100), { maxLength: 30 }), (first, second, dice) => {
        const balancer = make();
        balancer.rebuild(first);
        const inside = new Map<string, number>();
        const count = (index: number, by: number): void => {
          const id = first.endpoints[index]?.id ?? '';
          inside.set(id, (inside.get(id) ?? 0) + by);
        };
        for (const throwOf of dice) {
          const picked = balancer.pick({}, start);
          if (picked === undefined) continue;
          balancer.started(picked, start);
          count(picked, 1);
          if (throwOf % 3 === 0) {
            balancer.finished(picked, { ok: throwOf % 2 === 0, latency: ms(throwOf) }, start);
            count(picked, -1);
          }
        }
        balancer.rebuild(second);
        second.endpoints.forEach((endpoint, index) => {
          const stayed = first.endpoints.some((old) => old.id === endpoint.id);
          assert.equal(balancer.inFlight(index), stayed ? (inside.get(endpoint.id) ?? 0) : 0);
        });
      }),
      { numRuns: 60 },
    );
  });

  test(`${name}: the same seed picks the same, another seed or another balancer’s dice do not matter`, () => {
    const run = (seed: number): string => {
      const balancer = make(seed);
      balancer.rebuild(fleetOf(7));
      let picks = '';
      for (let count = 0; count < 200; count++) {
        const now = instantAt(count * 1e6);
        const picked = balancer.pick({}, now) ?? -1;
        balancer.started(picked, now);
        if (count % 3 !== 0) balancer.finished(picked, { ok: true, latency: ms(count % 11) }, now);
        picks += picked;
      }
      return picks;
    };
    assert.equal(run(5), run(5));
    if (name !== 'pick-first') assert.notEqual(run(5), run(6));
  });

  test(`${name}: an empty fleet is not the end: it may come back`, () => {
    const balancer = make();
    assert.equal(balancer.pick({}, start), undefined);
    balancer.rebuild(fleet('a b'));
    assert.notEqual(balancer.pick({}, start), undefined);
    balancer.rebuild(fleet(''));
    assert.equal(balancer.pick({}, start), undefined);
    balancer.rebuild(fleet('!a !b'));
    assert.equal(balancer.pick({}, start), undefined);
    balancer.rebuild(fleet('!a b'));
    assert.equal(balancer.pick({}, start), 1);
  });

  test(`${name}: who has no weight gets nothing`, () => {
    const balancer = make();
    const drawn = fleet('a:0 b c');
    balancer.rebuild(drawn);
    assert.equal(pickMany(balancer, drawn, 300)[0], 0);
  });
}

for (const name of evenNames) {
  test(`${name}: requests without a key are spread evenly over equals`, () => {
    const size = 5;
    const balancer = balancerByName(name, { seed: 11 });
    const drawn = fleetOf(size);
    balancer.rebuild(drawn);
    const picks = 10_000;
    const counts = pickSteadily(balancer, drawn, picks);
    // Against even shares; for those with chance in them, p > 10^-6, so that no honest implementation fails in a lifetime.
    const expected = picks / size;
    const tolerance = evennessOf(name) * expected;
    const statistic = counts.reduce(
      (sum, count) => sum + Math.max(0, Math.abs(count - expected) - tolerance) ** 2 / expected,
      0,
    );
    assert.ok(chiSquareAbove(statistic, size - 1) > 1e-6, counts.join());
  });

  test(`${name}: nobody starves while others are slow, and everybody is found again`, () => {
    const balancer = balancerByName(name, { seed: 3 });
    const drawn = fleetOf(4);
    balancer.rebuild(drawn);
    const counts = drawn.endpoints.map(() => 0);
    let now = start;
    // The first is ten times as slow for a while, and then like the rest.
    for (let count = 0; count < 8000; count++) {
      now = after(now, ms(20));
      const picked = balancer.pick({}, now) ?? -1;
      balancer.started(picked, now);
      balancer.finished(picked, { ok: true, latency: ms(picked === 0 && count < 2000 ? 100 : 10) }, now);
      if (count >= 4000) counts[picked] = (counts[picked] ?? 0) + 1;
    }
    assert.ok(Math.min(...counts) > 4000 / 4 / 4, `${counts.join()}: each at least a quarter of its share`);
  });
}

/** How far shares may stray by construction, beyond chance: a ring's arcs are uneven. */
function evennessOf(name: BalancerName): number {
  return name === 'ring-hash' || name === 'bounded-load' ? 0.25 : 0;
}

/** As `pickMany`, with time going on and latencies that differ a little: estimates then have something to work on. */
function pickSteadily(balancer: Balancer, drawn: Fleet, count: number): number[] {
  const counts = drawn.endpoints.map(() => 0);
  let now = start;
  const open: number[] = [];
  for (let nth = 0; nth < count; nth++) {
    now = after(now, ms(1));
    const picked = balancer.pick({}, now);
    if (picked === undefined) continue;
    counts[picked] = (counts[picked] ?? 0) + 1;
    balancer.started(picked, now);
    open.push(picked);
    if (open.length <= 3) continue;
    const done = open.shift() ?? 0;
    balancer.finished(done, { ok: true, latency: ms(4) }, now);
  }
  return counts;
}

function fitOf(drawn: Fleet): readonly number[] {
  return drawn.endpoints.flatMap((endpoint, index) =>
    drawn.healthy[index] === true && endpoint.weight > 0 ? [index] : [],
  );
}

/** Up to twelve endpoints out of twenty names, some unhealthy, some without weight. */
const anyFleet = fc
  .uniqueArray(
    fc.record({
      id: fc.integer({ min: 1, max: 20 }).map((number) => `a${number}`),
      weight: fc.constantFrom(1, 1, 1, 2, 0.5, 0),
      healthy: fc.constantFrom(true, true, true, false),
    }),
    { maxLength: 12, selector: (entry) => entry.id },
  )
  .map((entries): Fleet => ({
    version: 1,
    endpoints: entries.map(({ id, weight }) => ({ id, host: 'h', port: 1, weight, zone: undefined })),
    healthy: entries.map((entry) => entry.healthy),
  }));
