// The balancers that estimate: peak-EWMA and Prequal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, type Duration, type Instant, instantAt, ms, start } from '../../base.ts';
import { nextCost, peakEwma } from './peak-ewma.ts';
import { prequal, reuseBudget } from './prequal.ts';
import { RecentQuantile } from './recent-quantile.ts';
import { fleet, fleetOf } from './stand.ts';

test('a cost jumps up at once, comes down by half in τ·ln 2, and never leaves the range of what was seen', () => {
  assert.equal(nextCost(undefined, 5, 0, 10), 5);
  assert.equal(nextCost(5, 9, 1, 10), 9);
  assert.ok(Math.abs(nextCost(10, 0, 10 * Math.LN2, 10) - 5) < 1e-9);
  assert.equal(nextCost(10, 6, 10 * Math.LN2, 10), 6);
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.nat(1e9),
      (before, latency, age) => {
        const cost = nextCost(before, latency, age, 1e9);
        assert.ok(cost >= latency - 1e-3 && cost <= Math.max(before, latency) + 1e-3);
      },
    ),
  );
});

/** One request at a time; who is picked takes as long as `latencyOf` says. */
function run(
  balancer: ReturnType<typeof peakEwma>,
  size: number,
  count: number,
  latencyOf: (endpoint: number, nth: number) => { latency: Duration; ok?: boolean },
  from: Instant = start,
): { counts: number[]; now: Instant } {
  const counts = Array.from({ length: size }, () => 0);
  let now = from;
  for (let nth = 0; nth < count; nth++) {
    const picked = balancer.pick({}, now) ?? -1;
    counts[picked] = (counts[picked] ?? 0) + 1;
    balancer.started(picked, now);
    const { latency, ok = true } = latencyOf(picked, nth);
    now = after(now, latency);
    balancer.finished(picked, { ok, latency }, now);
  }
  return { counts, now };
}

test('peak-EWMA leaves a slow one alone after one answer, and tries it again when that has faded', () => {
  const balancer = peakEwma({ seed: 1 });
  balancer.rebuild(fleetOf(2));
  const slow = run(balancer, 2, 400, (endpoint) => ({ latency: endpoint === 0 ? ms(500) : ms(5) }));
  assert.ok((slow.counts[0] ?? 0) <= 2, slow.counts.join());
  // 500 ms fade to 5 ms in τ·ln 100 = 46 s; this goes on for 60.
  const later = run(balancer, 2, 12_000, () => ({ latency: ms(5) }), slow.now);
  assert.ok((later.counts[0] ?? 0) > 100, later.counts.join());
});

test('peak-EWMA asks a newcomer once, and no more until it has answered', () => {
  const balancer = peakEwma({ seed: 1 });
  balancer.rebuild(fleet('a b'));
  run(balancer, 2, 20, () => ({ latency: ms(5) }));
  balancer.rebuild(fleet('a b c'));
  let asked = 0;
  for (let count = 0; count < 60; count++) {
    const picked = balancer.pick({}, seconds1);
    if (picked !== 2) continue;
    asked += 1;
    balancer.started(2, seconds1);
  }
  assert.equal(asked, 1);
});

const seconds1 = instantAt(1e9);

test('peak-EWMA is not drawn to an endpoint that fails fast', () => {
  const balancer = peakEwma({ seed: 1 });
  balancer.rebuild(fleetOf(3));
  const { counts } = run(balancer, 3, 600, (endpoint) =>
    endpoint === 0 ? { latency: ms(0.2), ok: false } : { latency: ms(10) },
  );
  assert.ok((counts[0] ?? 0) <= 3, counts.join());
});

test('peak-EWMA spreads over equals by what waits there', () => {
  const balancer = peakEwma({ seed: 1 });
  balancer.rebuild(fleetOf(2));
  run(balancer, 2, 50, () => ({ latency: ms(10) }));
  const now = instantAt(1e9);
  for (let count = 0; count < 50; count++) balancer.started(balancer.pick({}, now) ?? -1, now);
  assert.ok(Math.abs(balancer.inFlight(0) - balancer.inFlight(1)) <= 1);
});

test('the recent quantile is that of a sorted copy of the last so many', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(9), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, capacity, share) => {
        const recent = new RecentQuantile(capacity);
        for (const value of values) recent.add(value);
        const sorted = values.slice(-capacity).toSorted((one, other) => one - other);
        const rank = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)));
        assert.equal(recent.quantile(share), sorted[rank - 1] ?? 0);
      },
    ),
  );
});

test('a reading may be used as often as the formula of the paper says', () => {
  // 16 in the pool, 100 endpoints, 3 probes, 1 removal: (1 + 1) / (0.84 · 3 − 1) = 1.32
  assert.ok(Math.abs(reuseBudget(16, 100, 3, 1) - 2 / 1.52) < 1e-9);
  assert.equal(reuseBudget(0, 100, 100, 1), 1, 'never less than once');
  assert.equal(reuseBudget(16, 16, 3, 1), 16, 'without enough probes, as often as allowed');
});

/** A pool filled with readings `[endpoint, in flight, latency in ms]`. */
function pooled(readings: readonly (readonly [number, number, number])[]): ReturnType<typeof prequal> {
  const balancer = prequal({ seed: 1, probing: 'endpoints', removalsPerPick: 0 });
  balancer.rebuild(fleetOf(20));
  for (const [endpoint, inFlight, latency] of readings)
    balancer.probed(endpoint, { inFlight, latency: ms(latency) }, start);
  return balancer;
}

test('Prequal takes the quickest of the cold', () => {
  assert.equal(
    pooled([
      [1, 2, 50],
      [2, 2, 20],
      [3, 2, 30],
      [4, 9, 1],
    ]).pick({}, start),
    2,
  );
});

test('Prequal takes the emptiest when all are hot', () => {
  const balancer = pooled([]);
  // What was seen lately was empty; everything now in the pool is above it.
  for (let count = 0; count < 100; count++) balancer.probed(19, { inFlight: 0, latency: ms(1) }, start);
  balancer.rebuild(fleetOf(19));
  for (const [endpoint, inFlight, latency] of [
    [1, 8, 1],
    [2, 5, 90],
    [3, 6, 2],
  ] as const) {
    balancer.probed(endpoint, { inFlight, latency: ms(latency) }, start);
  }
  assert.equal(balancer.pick({}, start), 2);
});

test('Prequal does not go by old readings', () => {
  const balancer = pooled([
    [1, 0, 1],
    [2, 0, 2],
  ]);
  const picks = new Set<number | undefined>();
  for (let count = 0; count < 200; count++) picks.add(balancer.pick({}, instantAt(1.1e9)));
  assert.ok(picks.size > 10, 'without readings, anybody');
});

test('Prequal counts what it sends on the word of a reading', () => {
  const balancer = pooled([
    [1, 0, 10],
    [2, 0, 10],
    [3, 0, 10],
    [4, 0, 10],
  ]);
  const picks = [0, 0, 0, 0].map(() => balancer.pick({}, start));
  assert.equal(new Set(picks).size, 4, `${picks.join()}: once sent to, an endpoint is hotter than the others`);
});

test('Prequal asks three different endpoints for each pick, everybody in the end', () => {
  const balancer = prequal({ seed: 1, probing: 'endpoints' });
  balancer.rebuild(fleetOf(10));
  const into = new Int32Array(8);
  const asked = Array.from({ length: 10 }, () => 0);
  for (let count = 0; count < 1000; count++) {
    balancer.pick({}, start);
    assert.equal(balancer.probes(into), 3);
    assert.equal(new Set(into.subarray(0, 3)).size, 3);
    for (const endpoint of into.subarray(0, 3)) asked[endpoint] = (asked[endpoint] ?? 0) + 1;
  }
  // 300 each; σ = √(1000 · 0.3 · 0.7) = 14.5; five σ.
  for (const count of asked) assert.ok(Math.abs(count - 300) < 73, asked.join());
});

test('Prequal on its own knowledge keeps away from a slow endpoint and from one that fails fast', () => {
  const balancer = prequal({ seed: 2 });
  balancer.rebuild(fleetOf(5));
  const { counts } = run(balancer, 5, 2000, (endpoint) =>
    endpoint === 0 ? { latency: ms(200) } : endpoint === 1 ? { latency: ms(0.1), ok: false } : { latency: ms(10) },
  );
  assert.ok((counts[0] ?? 0) < 60 && (counts[1] ?? 0) < 60, counts.join());
  assert.ok(Math.min(counts[2] ?? 0, counts[3] ?? 0, counts[4] ?? 0) > 400, counts.join());
});
