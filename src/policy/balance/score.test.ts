// What a balancer says it holds against an endpoint is what it went by.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { instantAt, ms } from '../../base.ts';
import { balancerByName, type BalancerName } from './by-name.ts';
import { byPriority } from './by-priority.ts';
import { fleetOf } from './stand.ts';

const outcome = { ok: true, latency: ms(10) };

/** Plays requests that take different times at different endpoints, and looks at each pick just before it. */
function play(
  policy: BalancerName,
  seed: number,
  size: number,
  look: (scores: readonly number[], chosen: number, drawn: readonly number[]) => void,
): void {
  const balancer = balancerByName(policy, { seed });
  balancer.rebuild(fleetOf(size));
  const inside: number[] = [];
  for (let step = 0; step < 300; step++) {
    const now = instantAt(step * ms(1));
    const scores = Array.from({ length: size }, (_, endpoint) => balancer.score?.(endpoint, now) ?? Number.NaN);
    const chosen = balancer.pick({}, now) ?? assert.fail('somebody is fit');
    look(scores, chosen, balancer.drawn?.() ?? []);
    balancer.started(chosen, now);
    inside.push(chosen);
    if (inside.length > (step % 9) + size) {
      const ended = inside.shift() ?? 0;
      balancer.finished(ended, { ...outcome, latency: ms(1 + ended) }, now);
    }
  }
}

test('a full scan picks one with the least score', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.integer({ min: 2, max: 8 }), (seed, size) => {
      play('least-request', seed, size, (scores, chosen, drawn) => {
        assert.equal(scores[chosen], Math.min(...scores));
        assert.deepEqual(drawn, []);
      });
    }),
    { numRuns: 20 },
  );
});

test('of two that were drawn the one with the lower score is picked', () => {
  for (const policy of ['two-choices', 'peak-ewma'] as const) {
    play(policy, 7, 12, (scores, chosen, drawn) => {
      assert.equal(drawn.length, 2);
      assert.ok(drawn.includes(chosen));
      assert.equal(scores[chosen], Math.min(...drawn.map((endpoint) => scores[endpoint] ?? Number.NaN)), policy);
    });
  }
});

test('balancers that do not compare have no score', () => {
  for (const policy of ['round-robin', 'random', 'ring-hash', 'maglev', 'rendezvous', 'pick-first'] as const) {
    assert.ok(!('score' in balancerByName(policy, { seed: 1 })), policy);
  }
});

test('an endpoint of a level is scored by the balancer of that level', () => {
  const balancer = byPriority({ seed: 1, panicBelow: 0, level: () => balancerByName('least-request', { seed: 1 }) });
  const fleet = fleetOf(3);
  balancer.rebuild({
    ...fleet,
    endpoints: fleet.endpoints.map((endpoint, index) => ({ ...endpoint, priority: index === 2 ? 1 : 0 })),
  });
  const now = instantAt(0);
  balancer.started(2, now);
  balancer.started(2, now);
  balancer.started(0, now);
  assert.deepEqual(
    [0, 1, 2].map((endpoint) => balancer.score(endpoint, now)),
    [1, 0, 2],
  );
});
