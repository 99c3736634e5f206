import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientTick, ReplicaTick, TickLine } from '../record.ts';
import { phaseEvidence, type PhaseEvidence, type ReplicaEvidence } from './phase-evidence.ts';
import { playStretch } from './testing/fleet.ts';
import { replicas } from './testing/run.ts';

/**
 * Seconds as text, one a line; between bars one replica each: `finished inside [handed]`, `-` for what was not seen. What
 * stands after `‖` is how many the clients wait for.
 *
 *     174 6.0 | 174 46.0 ‖ 64
 */
function seconds(script: string): TickLine[] {
  const lines = script.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  return lines.map((line, index): TickLine => {
    const [inside = '', waiting] = line.split('‖');
    const client: ClientTick | undefined =
      waiting === undefined
        ? undefined
        : { group: 'users', planned: 0, sent: 0, answered: 0, in_flight_mean: Number(waiting) };
    return {
      kind: 'tick',
      at_ns: index * 1e9,
      span_ns: 1e9,
      phase: 'baseline',
      replicas: inside.split('|').map((text, at) => replicaOf(`api-${at + 1}`, text)),
      clients: client === undefined ? [] : [client],
    };
  });
}

function replicaOf(id: string, text: string): ReplicaTick {
  const [finished, inside, handed] = text.trim().split(/\s+/);
  return {
    id,
    ...(finished === '-' ? {} : { finished: Number(finished) }),
    ...(inside === '-' ? {} : { in_flight_mean: Number(inside) }),
    ...(handed === undefined ? {} : { started: Number(handed) }),
  };
}

function seen(ticks: readonly TickLine[], from = 0): PhaseEvidence {
  const line = { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: from * 1e9 } as const;
  const phase = phaseEvidence({ line, events: [], ticks }, () => true);
  assert.ok(phase !== undefined);
  return phase;
}

const first = (phase: PhaseEvidence): ReplicaEvidence => {
  const [replica] = phase.replicas;
  assert.ok(replica !== undefined);
  return replica;
};

test('rates, shares and what is held are means over the seconds after the warm-up', () => {
  const phase = seen(
    seconds(`
      900 1 900 | 1   1 1   ‖ 2
      100 6 100 | 110 2 100 ‖ 8
      120 6 100 | 110 2 100 ‖ 8`),
    1,
  );
  assert.equal(phase.seconds, 2);
  assert.equal(first(phase).rate.value, 110);
  assert.equal(first(phase).share, 0.5);
  assert.equal(first(phase).held?.value, 0.75);
  assert.equal(first(phase).fullest, 1);
  assert.equal(first(phase).residence?.value, 6 / 110);
  assert.equal(phase.inFlight?.value, 8);
});

test('a silent replica holds what the clients wait for and nobody else has', () => {
  const phase = seen(
    seconds(`
      0 - | 10 4 ‖ 20
      0 - | 0  0 ‖ 20`),
  );
  assert.equal(first(phase).inFlight?.value, (16 + 20) / 2);
  assert.equal(first(phase).inFlightFrom, 'rest');
});

test('a replica that falls silent in the middle is counted before and inferred after', () => {
  const phase = seen(
    seconds(`
      10 6 | 10 4 ‖ 10
      0  - | 0  1 ‖ 10`),
  );
  assert.equal(first(phase).inFlight?.value, (6 + 9) / 2);
});

test('where nobody counted what is inside, rate times latency stands in and says so', () => {
  const latency = { count: 100, mean_ns: 50e6, p50_ns: 0, p90_ns: 0, p99_ns: 0, max_ns: 0 };
  const ticks = seconds('100 -').map((tick) => ({ ...tick, replicas: [{ id: 'api-1', finished: 100, latency }] }));
  assert.equal(first(seen(ticks)).inFlight?.value, 5);
  assert.equal(first(seen(ticks)).inFlightFrom, 'little');
});

test('a cut-off tick is left out, and without a measured second there is no evidence', () => {
  const [whole, cut] = seconds('10 1\n990 1');
  assert.ok(whole !== undefined && cut !== undefined);
  assert.equal(first(seen([whole, { ...cut, span_ns: 0.1e9 }])).rate.value, 10);
  const line = { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: 9e9 } as const;
  assert.equal(
    phaseEvidence({ line, events: [], ticks: [whole] }, () => true),
    undefined,
  );
});

test('turns deal evenly every second, dice do not', () => {
  const dispersion = (choice: 'round-robin' | 'random', seed: number): number => {
    const demand = { model: 'open', ratePerSecond: 400, arrivals: 'poisson' } as const;
    const fleet = { replicas: replicas(4), choice, demand };
    return seen(playStretch(fleet, { phase: 'p', fromSecond: 0, seconds: 30 }, seed), 2).dispersion ?? Number.NaN;
  };
  for (let seed = 1; seed <= 5; seed++) {
    assert.ok(dispersion('round-robin', seed) < 0.02);
    // 26 seconds of 3 degrees of freedom each: χ²/78 has mean 1 and deviation 0.16.
    assert.ok(Math.abs(dispersion('random', seed) - 1) < 4 * 0.16);
  }
});

test('users without a thought keep the number in flight still; independent arrivals swing it as M/G/∞ would', () => {
  const swing = (demand: Parameters<typeof playStretch>[0]['demand'], seed: number): number => {
    const fleet = { replicas: replicas(4), choice: 'round-robin', demand } as const;
    return seen(playStretch(fleet, { phase: 'p', fromSecond: 0, seconds: 62 }, seed), 2).swing ?? Number.NaN;
  };
  for (let seed = 1; seed <= 5; seed++) {
    assert.ok(swing({ model: 'closed', users: 64, thinkSeconds: 0 }, seed) < 0.02);
    // Light load, so nearly no queueing: 1 in theory, and a deviation from 60 values is good to 9 %.
    const free = swing({ model: 'open', ratePerSecond: 200, arrivals: 'poisson' }, seed);
    assert.ok(Math.abs(free - 1) < 0.35, `${free}`);
  }
});

test('replicas are counted in the order of their numbers, dependencies left out by whoever asks', () => {
  const line = { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: 0 } as const;
  const ticks = seconds('1 1 | 1 1 | 1 1 | 1 1 | 1 1 | 1 1 | 1 1 | 1 1 | 1 1 | 1 1');
  const phase = phaseEvidence({ line, events: [], ticks }, (id) => id !== 'api-2');
  assert.deepEqual(
    phase?.replicas.map((replica) => replica.id),
    ['api-1', 'api-3', 'api-4', 'api-5', 'api-6', 'api-7', 'api-8', 'api-9', 'api-10'],
  );
});

test('a replica that an autoscaler added or took away meanwhile is compared with nobody, and what it held is known', () => {
  const line = { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: 1e9 } as const;
  const ticks = seconds(`
    10 4 | 10 4 | 20 2
    10 4 | 10 4 |  5 1
    10 4 | 10 4 |  5 1
  `);
  const of = (at_ns: number, event: string): PhaseEvidence | undefined =>
    phaseEvidence({ line, events: [{ kind: 'event', at_ns, event, target: 'api-3' }], ticks }, () => true);
  for (const visit of [of(2e9, 'replica-removed'), of(1e9, 'replica-added')]) {
    assert.deepEqual(
      visit?.replicas.map(({ id, share, held }) => [id, share, held?.value]),
      [
        ['api-1', 0.5, 0.5],
        ['api-2', 0.5, 0.5],
      ],
    );
    assert.equal(visit.insideVisitors, 1);
  }
  for (const other of [of(0.5e9, 'replica-added'), of(2e9, 'replica-started')]) {
    assert.equal(other?.replicas.length, 3);
    assert.equal(other.insideVisitors, undefined);
  }
});

test('what is in flight grows with what is asked, and that is no growth; with equal answers it is', () => {
  const morning = seen(
    seconds(`
      100 2 | 100 2 ‖ 4
      150 3 | 150 3 ‖ 6
      200 4 | 200 4 ‖ 8
      300 6 | 300 6 ‖ 12
    `),
  );
  assert.equal(first(morning).growth, 0);
  const queue = seen(
    seconds(`
      200 2 | 200 2 ‖ 4
      200 3 | 200 3 ‖ 6
      200 4 | 200 4 ‖ 8
      200 7 | 200 7 ‖ 14
    `),
  );
  assert.equal(queue.growth, 1.25);
  assert.equal(first(queue).growth, 1, 'half of it after three quarters');
});

test('what stood still for the last second alone has not grown', () => {
  const calm = Array.from({ length: 9 }, () => '200 2 | 200 2 ‖ 4').join('\n');
  const stall = seen(seconds(`${calm}\n200 3 | 200 3 ‖ 6\n100 20 | 100 20 ‖ 40\n100 30 | 100 30 ‖ 60`));
  assert.ok((first(stall).growth ?? 1) <= 0);
});
