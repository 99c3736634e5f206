import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFacts, TopologyLine } from '../record.ts';
import { choiceOf, loopOf } from './demand.ts';
import type { PhaseEvidence } from './phase-evidence.ts';

const quiet: PhaseEvidence = {
  name: 'baseline',
  seconds: 16,
  ticks: [],
  replicas: [],
  throughput: { value: 700, error: 0 },
  generator: { refused: 0 },
  groups: [],
};

function topology(clients: readonly ClientFacts[], policy?: string): TopologyLine {
  return {
    kind: 'topology',
    at_ns: 0,
    services: [],
    clients,
    ...(policy === undefined ? {} : { gateway: { program: 'haproxy', policy } }),
  };
}

const byGateway: ClientFacts = { group: 'users', via: 'gateway' };

test('what the settings say is believed', () => {
  const closed = { ...byGateway, demand: { model: 'closed', users: 40, think_ns: 1e8 } } as const;
  const more = { ...byGateway, group: 'others', demand: { model: 'closed', users: 20, think_ns: 0 } } as const;
  const loop = loopOf(topology([closed, more]), { ...quiet, swing: 3 });
  assert.equal(loop.model, 'closed');
  assert.equal(loop.from, 'setting');
  assert.equal(loop.users, 60);
  assert.ok(Math.abs((loop.thinkSeconds ?? 0) - 0.0667) < 0.001, 'think time is the mean over users');
  const open = { ...byGateway, demand: { model: 'open', rate_per_s: 280, arrivals: 'poisson' } } as const;
  assert.deepEqual(loopOf(topology([open]), quiet), { model: 'open', from: 'setting', ratePerSecond: 280 });
  assert.equal(loopOf(topology([open, closed]), quiet).model, 'unknown', 'both at once are neither');
});

test('without settings, a number in flight that never moves is a closed loop, one that swings freely is open', () => {
  const inFlight = { value: 64.02, error: 0 };
  const model = (swing: number, more: Partial<PhaseEvidence> = {}): string =>
    loopOf(undefined, { ...quiet, inFlight, swing, ...more }).model;
  assert.equal(model(0.02), 'closed');
  assert.equal(loopOf(undefined, { ...quiet, inFlight, swing: 0.02 }).users, 64);
  assert.equal(model(0.08), 'closed', 'the last');
  assert.equal(model(0.09), 'unknown', 'the first');
  assert.equal(model(1.49), 'unknown', 'the last');
  assert.equal(model(1.5), 'open', 'the first');
  assert.equal(model(0.02, { failedShare: 0.2 }), 'unknown', 'a bounded queue that overflows also stands still');
});

test('the balancers’ own words for a policy are understood', () => {
  const blind = (policy: string): boolean | undefined => choiceOf(topology([byGateway], policy), quiet).blind;
  assert.equal(blind('roundrobin'), true);
  assert.equal(blind('round-robin'), true);
  assert.equal(blind('random'), true);
  assert.equal(blind('leastconn'), false);
  assert.equal(blind('least_conn'), false);
  assert.equal(blind('something-new'), undefined);
  assert.equal(choiceOf(topology([{ ...byGateway, via: 'registry', choice: 'pick-first' }]), quiet).name, 'pick-first');
  assert.equal(choiceOf(topology([{ ...byGateway, via: 'forwarder' }]), quiet).name, 'round-robin');
});

test('without a policy, equal numbers every second are turns', () => {
  assert.equal(choiceOf(undefined, { ...quiet, dispersion: 0.05 }).blind, true);
  assert.equal(choiceOf(undefined, { ...quiet, dispersion: 0.2 }).blind, undefined);
  assert.equal(choiceOf(undefined, { ...quiet, dispersion: 1 }).blind, undefined);
});
