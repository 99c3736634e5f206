import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manyServers } from '../../stats.ts';
import { phaseEvidence } from '../phase-evidence.ts';
import type { PhaseEvidence } from '../phase-evidence.ts';
import { type FleetSpec, playStretch, type Stretch } from './fleet.ts';
import { replicas } from './run.ts';

const users = (count: number, thinkSeconds = 0): FleetSpec['demand'] => ({
  model: 'closed',
  users: count,
  thinkSeconds,
});
const perSecond = (rate: number): FleetSpec['demand'] => ({ model: 'open', ratePerSecond: rate, arrivals: 'poisson' });

/** What `seconds` of the fleet show after five seconds of warm-up. */
function seen(fleet: FleetSpec, seconds: number, seed: number, more: Partial<Stretch> = {}): PhaseEvidence {
  const ticks = playStretch(fleet, { phase: 'p', fromSecond: 0, seconds: seconds + 5, ...more }, seed);
  const phase = phaseEvidence(
    { line: { kind: 'phase', at_ns: 0, name: 'p', measure_from_ns: 5e9 }, events: [], ticks },
    () => true,
  );
  assert.ok(phase !== undefined);
  return phase;
}

const insideOf = (phase: PhaseEvidence, id: string): number =>
  phase.replicas.find((replica) => replica.id === id)?.inFlight?.value ?? Number.NaN;

test('one replica under independent arrivals holds what M/M/4 holds', () => {
  // 600 s at ρ = 0.8: the relaxation time of the queue is about 0.1 s, so the mean over 600 s is good to some 2 %.
  const phase = seen({ replicas: replicas(1), choice: 'random', demand: perSecond(160) }, 600, 1);
  const theory = manyServers({ arrivalRate: 160, serviceRate: 50, servers: 4 });
  assert.ok(theory !== undefined);
  const measured = insideOf(phase, 'api-1');
  assert.ok(Math.abs(measured / theory.inSystemMean - 1) < 0.06, `${measured} against ${theory.inSystemMean}`);
});

test('in a closed loop over turns the slowest sets the pace and holds the pile', () => {
  // At ×1.3: X = 4 · 4/26 ms = 615/s, four users at each of the others, the rest (about 52 of 64) at the slow one.
  const fleet: FleetSpec = { replicas: replicas(4, 'api-3', 1.3), choice: 'round-robin', demand: users(64) };
  const phase = seen(fleet, 60, 2);
  assert.ok(Math.abs(phase.throughput.value / 615.4 - 1) < 0.03, `${phase.throughput.value}`);
  assert.ok(insideOf(phase, 'api-3') > 49 && insideOf(phase, 'api-3') < 55);
  for (const replica of phase.replicas) assert.ok(Math.abs(replica.share - 0.25) < 0.001);
});

test('least-request keeps the replicas level and nobody idle', () => {
  // All four together: 3 · 200 + 182 = 782/s; 64 users on 16 workers keep nearly all of them busy.
  const fleet: FleetSpec = { replicas: replicas(4, 'api-3', 1.1), choice: 'least-request', demand: users(64) };
  const phase = seen(fleet, 60, 3);
  assert.ok(Math.abs(phase.throughput.value / 782 - 1) < 0.02, `${phase.throughput.value}`);
  for (const replica of phase.replicas) assert.ok(Math.abs((replica.inFlight?.value ?? 0) - 16) < 0.3);
});

test('a frozen replica stops a closed loop over turns within a second, and thaws', () => {
  const fleet: FleetSpec = { replicas: replicas(4), choice: 'round-robin', demand: users(64) };
  const ticks = playStretch(
    fleet,
    { phase: 'p', fromSecond: 0, seconds: 12, frozen: { replica: 'api-2', from: 4, to: 8 } },
    4,
  );
  const answered = ticks.map((tick) => tick.clients[0]?.answered ?? Number.NaN);
  assert.deepEqual(answered.slice(5, 8), [0, 0, 0]);
  assert.ok((answered[3] ?? 0) > 600 && (answered[10] ?? 0) > 600);
  assert.equal(ticks[6]?.replicas[1]?.state, 'silent');
  assert.equal(ticks[6]?.replicas[1]?.in_flight_mean, undefined);
});

test('whatever came due was answered, failed, or is still in flight', () => {
  const fleet: FleetSpec = {
    replicas: replicas(2),
    choice: 'pick-first',
    demand: perSecond(240),
    timeoutSeconds: 1,
    queueLimit: 100,
  };
  const ticks = playStretch(fleet, { phase: 'p', fromSecond: 0, seconds: 30 }, 5);
  const clients = ticks.flatMap((tick) => tick.clients);
  const total = (pick: (client: (typeof clients)[number]) => number): number =>
    clients.reduce((sum, client) => sum + pick(client), 0);
  const failed = total((client) => Object.values(client.errors ?? {}).reduce((sum, count) => sum + count, 0));
  const left = total((client) => client.planned) - total((client) => client.answered) - failed;
  assert.ok(left >= 0 && left < 260, `${left} in flight at the end`);
});

test('the same seed gives the same seconds, another gives others', () => {
  const fleet: FleetSpec = { replicas: replicas(3), choice: 'random', demand: perSecond(200) };
  const play = (seed: number): string =>
    JSON.stringify(playStretch(fleet, { phase: 'p', fromSecond: 0, seconds: 5 }, seed));
  assert.equal(play(6), play(6));
  assert.notEqual(play(6), play(7));
});
