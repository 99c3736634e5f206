import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ms, seconds } from '../base.ts';
import { constant, pacerOf } from '../scenario.ts';
import type { LoadPlan } from './contract.ts';
import { dealt, type Share, sharedPacer, shareOf } from './share.ts';

const shares = (of: number): Share[] => Array.from({ length: of }, (_, index) => ({ index, of }));

test('whatever is dealt out is all there, and nobody has two more than another', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 64 }), (count, of) => {
      const parts = shares(of).map((share) => dealt(count, share));
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0),
        count,
      );
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 1);
    }),
  );
});

for (const arrivals of ['constant', 'poisson'] as const) {
  test(`the schedules of all shares together are the one schedule: ${arrivals}`, () => {
    const demand = { clients: 'shop', ratePerSecond: 100, arrivals };
    const one = pacerOf(demand, 7);
    const whole = Array.from({ length: 90 }, (_, index) => one.due(index));
    const parts = shares(3).flatMap((share) => {
      const pacer = sharedPacer(demand, 7, share);
      return Array.from({ length: 30 }, (_, index) => pacer.due(index));
    });
    assert.deepEqual(
      parts.toSorted((a, b) => (a ?? 0) - (b ?? 0)),
      whole,
    );
  });
}

test('users, caps and held connections are dealt out; rates are divided', () => {
  const targets = [{ id: 'gateway', host: '10.0.0.1', port: 80 }];
  const common = { targets, choice: 'round-robin' as const, timeout: seconds(1) };
  const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
  const plan: LoadPlan = {
    seed: 1,
    groups: [
      {
        ...common,
        group: 'users',
        demand: { kind: 'closed', clients: 'users', users: 7, flow, think: constant(ms(1)) },
      },
      {
        ...common,
        group: 'arrivals',
        demand: { kind: 'open', clients: 'arrivals', ratePerSecond: 100, arrivals: 'constant', flow },
        connectionsMax: 5,
        connectionsMin: 4,
      },
    ],
    held: [
      { group: 'idle', targets, held: { from: 0, stages: [{ over: seconds(1), to: 11 }] }, newPerSecond: { from: 9 } },
    ],
  };
  const parts = shares(3).map((share) => shareOf(plan, share));
  const users = parts.map(({ groups: [group] }) => (group?.demand.kind === 'closed' ? group.demand.users : undefined));
  assert.deepEqual(users, [3, 2, 2]);
  assert.deepEqual(
    parts.map(({ groups }) => [groups[1]?.connectionsMax, groups[1]?.connectionsMin]),
    [
      [2, 2],
      [2, 1],
      [1, 1],
    ],
  );
  assert.deepEqual(
    parts.map(({ held }) => held?.[0]?.held.stages?.[0]?.to),
    [4, 4, 3],
  );
  assert.deepEqual(
    parts.map(({ held }) => held?.[0]?.newPerSecond?.from),
    [3, 3, 3],
  );
});
