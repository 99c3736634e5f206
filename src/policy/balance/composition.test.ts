// Balancers of balancers and fleets of fleets: priorities, zones, parts, slow start.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, instantAt, ms, seconds, start } from '../../base.ts';
import { uniformityTest } from '../../stats.ts';
import { byPriority } from './by-priority.ts';
import { leastRequest } from './least-request.ts';
import { priorityLoads } from './priority.ts';
import { random } from './random.ts';
import { roundRobin } from './round-robin.ts';
import { slowStartFactor, warmingFleet } from './slow-start.ts';
import { fleet, fleetOf, pickMany } from './stand.ts';
import { deterministicAperture, randomSubset } from './subset.ts';
import { localShare, SlewedShare, zoneAware } from './zone-aware.ts';

test('the loads of levels are those of Envoy’s table', () => {
  const check = (healthyPercents: readonly number[]): string =>
    priorityLoads(healthyPercents.map((healthy) => ({ healthy, total: 100 })))
      .map(({ percent, panic }) => `${percent}${panic ? '!' : ''}`)
      .join(' ');
  // One level after another falls ill; `!` marks panic.
  assert.equal(check([100, 100]), '100 0');
  assert.equal(check([72, 100]), '100 0');
  assert.equal(check([71, 100]), '99 1');
  assert.equal(check([50, 100]), '70 30');
  assert.equal(check([25, 100]), '35 65');
  assert.equal(check([25, 25]), '50! 50!');
  assert.equal(check([5, 65]), '7! 93');
  assert.equal(check([25, 25, 20]), '36! 36! 28!');
  assert.equal(check([0, 100]), '0 100');
  assert.equal(check([0, 0]), '100! 0!');
});

test('the loads of levels add up to 100 for any health, and no level takes more than it is worth unless all are short', () => {
  const level = fc
    .integer({ min: 0, max: 50 })
    .chain((total) => fc.record({ total: fc.constant(total), healthy: fc.nat(total) }));
  fc.assert(
    fc.property(fc.array(level, { minLength: 1, maxLength: 5 }), fc.constantFrom(0, 0.5, 1), (levels, panicBelow) => {
      const loads = priorityLoads(levels, { panicBelow });
      const sum = loads.reduce((all, load) => all + load.percent, 0);
      const somebody = levels.some(({ healthy }) => healthy > 0);
      const anybody = levels.some(({ total }) => total > 0);
      if (somebody || (anybody && panicBelow > 0)) assert.equal(sum, 100);
      else assert.equal(sum, 0);
      loads.forEach(({ percent, panic }, index) => {
        const { healthy = 0, total = 0 } = levels[index] ?? {};
        if (total === 0) assert.equal(percent, 0);
        if (percent > 0 && healthy === 0)
          assert.ok(panic, 'only panic sends requests to a level without anybody healthy');
        if (panicBelow === 0) assert.equal(panic, false);
      });
    }),
  );
});

const levels = (seed: number, panicBelow = 0.5) =>
  byPriority({ seed, panicBelow, level: (level) => roundRobin({ seed: seed + level }) });

test('a spare level is left alone until it is needed, and then takes its part', () => {
  const balancer = levels(1);
  const well = fleet('a b c d^1');
  balancer.rebuild(well);
  assert.equal(pickMany(balancer, well, 300)[3], 0);
  const half = fleet('a !b c !e d^1 f^1');
  balancer.rebuild(half);
  const counts = pickMany(balancer, half, 10_000);
  // Half of level 0 is healthy: it carries 70 %.
  const low = (counts[0] ?? 0) + (counts[2] ?? 0);
  assert.ok((uniformityTest([low, 10_000 - low], [70, 30])?.pMoreUneven ?? 0) > 1e-6, counts.join());
  assert.deepEqual([counts[1], counts[3]], [0, 0]);
});

test('in panic everybody of the level is asked; with the threshold at 0 nobody is', () => {
  const ill = fleet('!a !b !c');
  const panicking = levels(1);
  panicking.rebuild(ill);
  assert.deepEqual(pickMany(panicking, ill, 300), [100, 100, 100]);
  assert.deepEqual(panicking.loads, [{ percent: 100, panic: true }]);
  const calm = levels(1, 0);
  calm.rebuild(ill);
  assert.equal(calm.pick({}, start), undefined);
});

test('a second attempt leaves its level when everybody there has been tried', () => {
  const balancer = levels(1);
  balancer.rebuild(fleet('a b c^1'));
  assert.equal(balancer.pick({ tried: [0, 1] }, start), 2);
});

test('every level knows what is in flight on all, also one that has just come', () => {
  const balancer = byPriority({ seed: 1, level: (level) => leastRequest({ seed: level }) });
  balancer.rebuild(fleet('a b'));
  for (let count = 0; count < 3; count++) balancer.started(0, start);
  balancer.rebuild(fleet('!a^0 !b^0 c^1 d^1'));
  balancer.started(2, start);
  assert.equal(balancer.pick({}, start), 3);
  assert.equal(balancer.inFlight(0), 3);
});

test('what stays in a zone is what its endpoints are worth', () => {
  const near = (actual: number, expected: number): void => assert.ok(Math.abs(actual - expected) < 1e-9);
  near(localShare(3, 9, 1 / 3), 1);
  near(localShare(2, 8, 1 / 3), 0.75);
  near(localShare(5, 8, 1 / 3), 1);
  near(localShare(0, 8, 1 / 3), 0);
  near(localShare(1, 10, 1 / 2), 0.2);
});

test('a share moves at its slew rate and stops at its target', () => {
  const share = new SlewedShare(1, 0.1, start);
  share.aim(0.5, start);
  assert.equal(share.at(instantAt(1e9)), 0.9);
  assert.equal(share.at(instantAt(1e9)), 0.9, 'reading does not move it');
  share.aim(1, instantAt(2e9));
  assert.ok(Math.abs(share.at(instantAt(2.5e9)) - 0.85) < 1e-9);
  assert.equal(share.at(instantAt(60e9)), 1);
});

test('a zone that loses endpoints sheds load step by step, not at once', () => {
  const balancer = zoneAware({ seed: 1, zone: 'east', slew: 0.05, inner: () => random({ seed: 5 }) });
  const whole = fleet('a/east b/east c/west d/west e/north f/north');
  balancer.rebuild(whole);
  balancer.pick({}, start);
  assert.equal(balancer.localShareAt(start), 1);
  balancer.rebuild(fleet('a/east !b/east c/west d/west e/north f/north'));
  // One of five is here, a third of the demand is: 60 % stay in the end, after 8 s.
  const at = (second: number) => balancer.localShareAt(instantAt(second * 1e9)) ?? Number.NaN;
  assert.deepEqual(
    [0, 1, 4, 8, 20].map((second) => Math.round(at(second) * 100)),
    [100, 95, 80, 60, 60],
  );
  const drawn = fleet('a/east !b/east c/west d/west e/north f/north');
  const counts = pickMany(balancer, drawn, 10_000, () => ({}), instantAt(20e9));
  assert.ok(
    (uniformityTest([counts[0] ?? 0, 10_000 - (counts[0] ?? 0)], [60, 40])?.pMoreUneven ?? 0) > 1e-6,
    counts.join(),
  );
  assert.equal(counts[1], 0);
});

test('a small fleet, and a zone without anybody, are not looked at by zone', () => {
  const balancer = zoneAware({ seed: 1, zone: 'east', inner: () => random({ seed: 5 }) });
  const small = fleet('a/east b/west c/west');
  balancer.rebuild(small);
  assert.ok(Math.min(...pickMany(balancer, small, 600)) > 100);
  const elsewhere = fleet('a/west b/west c/west d/north e/north f/north');
  balancer.rebuild(elsewhere);
  assert.ok(Math.min(...pickMany(balancer, elsewhere, 600)) > 50);
  assert.equal(balancer.localShareAt(start), undefined);
});

test('random subsets are the same for the same name, and even over many names', () => {
  const drawn = fleetOf(50);
  const one = randomSubset(drawn, { name: 'gateway-1', size: 10 });
  assert.deepEqual(randomSubset(drawn, { name: 'gateway-1', size: 10 }), one);
  assert.equal(one.endpoints.length, 10);
  const taken = new Map<string, number>();
  for (let peer = 0; peer < 500; peer++) {
    for (const { id } of randomSubset(drawn, { name: `gateway-${peer}`, size: 10 }).endpoints) {
      taken.set(id, (taken.get(id) ?? 0) + 1);
    }
  }
  // 100 each; σ = √(500 · 0.2 · 0.8) = 8.9; five σ.
  for (const count of taken.values()) assert.ok(Math.abs(count - 100) < 45, `${count}`);
  assert.equal(taken.size, 50);
});

test('a subset changes by one endpoint when one leaves', () => {
  const before = randomSubset(fleetOf(50), { name: 'g', size: 10 });
  const gone = before.endpoints[3]?.id ?? '';
  const fewer = fleet(
    fleetOf(50)
      .endpoints.map(({ id }) => id)
      .filter((id) => id !== gone)
      .join(' '),
  );
  const later = randomSubset(fewer, { name: 'g', size: 10 });
  const kept = later.endpoints.filter(({ id }) => before.endpoints.some((endpoint) => endpoint.id === id));
  assert.equal(kept.length, 9);
});

test('apertures together give every endpoint the same weight', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 15 }),
      (size, peers, widthMin) => {
        const weights = new Map<string, number>();
        let widthTotal = 0;
        for (let peer = 0; peer < peers; peer++) {
          const part = deterministicAperture(fleetOf(size), { peer, peers, widthMin });
          for (const { id, weight } of part.endpoints) {
            weights.set(id, (weights.get(id) ?? 0) + weight);
            widthTotal += weight;
          }
        }
        const mean = widthTotal / size;
        const spread = Math.max(...weights.values()) - Math.min(...weights.values());
        assert.equal(weights.size, size, 'everybody is on some arc');
        // Widened arcs overlap; then evenness holds to one endpoint's worth of overlap.
        assert.ok(spread <= 1 + 1e-9, `${spread} of ${mean}`);
        if (size / peers >= widthMin) assert.ok(spread < 1e-9, 'arcs that need no widening are exactly even');
      },
    ),
  );
});

test('a newcomer’s weight grows from the floor to the whole', () => {
  const options = { window: seconds(10) };
  assert.equal(slowStartFactor(ms(0), options), 0.1);
  assert.equal(slowStartFactor(seconds(1), options), 0.1);
  assert.equal(slowStartFactor(seconds(5), options), 0.5);
  assert.equal(slowStartFactor(seconds(10), options), 1);
  assert.equal(slowStartFactor(seconds(99), options), 1);
  assert.ok(slowStartFactor(seconds(2.5), { ...options, aggression: 2 }) === 0.5);
  assert.ok(slowStartFactor(seconds(5), { ...options, aggression: 0.5 }) === 0.25);
});

test('a warming fleet lowers its newcomers only, and says when to look again', () => {
  const drawn = fleet('a b c:4');
  const now = instantAt(5e9);
  const warm = warmingFleet(drawn, [undefined, start, start], now, { window: seconds(10) });
  assert.deepEqual(
    warm.fleet.endpoints.map(({ weight }) => weight),
    [1, 0.5, 2],
  );
  assert.equal(warm.again, after(now, ms(100)));
  const done = warmingFleet(drawn, [undefined, start, start], instantAt(10e9), { window: seconds(10) });
  assert.deepEqual(done.fleet, drawn);
  assert.equal(done.again, undefined);
});
