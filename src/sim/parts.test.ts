import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baselineOf, type Scenario } from '../scenario.ts';
import { scenarioFrom } from './measured-run.ts';
import { partsOf, simulationOf } from './parts.ts';

const shops = (copies: number): Scenario =>
  scenarioFrom(`plimsoll: 1
services: { shop: { copies: ${copies}, replicas: 25, workers: 1, service_time: exponential 80ms } }
gateway: { policy: least-request, count: 10 }
clients: { users: { service: shop } }
demand: [{ closed: { users: ${copies * 100}, think: 1s } }]
warm_up: 2s
duration: 10s
`);

test('a scenario is cut where nothing connects it, and stays whole where calls or clients do', () => {
  assert.equal(partsOf(shops(3)).length, 3);
  const connected = scenarioFrom(`plimsoll: 1
services:
  front: { calls: [{ to: back, timeout: 1s }] }
  back: { calls: [{ to: store, timeout: 1s }] }
  alone: {}
dependencies: { store: {} }
gateway: {}
clients: { one: { service: front }, two: { service: alone } }
demand: [{ clients: one, open: { rate: 10/s } }, { clients: two, open: { rate: 10/s } }]
`);
  assert.deepEqual(
    partsOf(connected).map(({ topology }) => [
      topology.services.map(({ name }) => name),
      topology.dependencies.map(({ name }) => name),
      topology.clients.map(({ name }) => name),
    ]),
    [
      [['front', 'back'], ['store'], ['one']],
      [['alone'], [], ['two']],
    ],
  );
});

test('a large fleet in parts is told in ticks of the whole, and every request is accounted for', () => {
  const scenario = shops(100);
  const simulation = simulationOf(scenario, { seed: 3 });
  const lines = [...simulation.play(baselineOf(scenario))];
  const ticks = lines.filter((line) => line.kind === 'tick');
  assert.equal(ticks.length, 12);
  for (const tick of ticks) {
    assert.equal(tick.replicas.length, 2500);
    assert.equal(tick.clients.length, 100);
    assert.equal(tick.gateway?.total, 2500);
  }
  for (const ledger of lines.filter((line) => line.kind === 'ledger')) {
    assert.equal(ledger.planned, ledger.answered + ledger.failed + ledger.timed_out + ledger.in_flight_at_end);
  }
  // 10,000 users, R + Z = 80 ms + a little + 1 s: by the interactive law just under 9,259/s.
  const answered = ticks
    .slice(2)
    .reduce((sum, { clients }) => sum + clients.reduce((all, one) => all + one.answered, 0), 0);
  assert.ok(answered / 10 > 9000 && answered / 10 < 9259, `${answered / 10}/s`);
});

test('parts draw from streams of their own, and equal seeds give equal digests', () => {
  const scenario = shops(80);
  const digest = (seed: number): string => {
    const simulation = simulationOf(scenario, { seed });
    for (const line of simulation.play(baselineOf(scenario))) void line;
    return simulation.digest;
  };
  assert.equal(digest(1), digest(1));
  assert.notEqual(digest(1), digest(2));
  const lines = [...simulationOf(scenario, { seed: 1 }).play(baselineOf(scenario))];
  const counts = lines.flatMap((line) => (line.kind === 'ledger' ? [line.planned] : []));
  assert.ok(new Set(counts).size > 20);
});

test('ten load balancers with a view each spread less evenly than one that sees everything', () => {
  const waiting = (count: number): number => {
    const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 20, workers: 1, service_time: exponential 40ms } }
gateway: { policy: least-request, count: ${count} }
clients: { users: {} }
demand: [{ open: { rate: 400/s, arrivals: poisson } }]
warm_up: 5s
duration: 200s
`);
    const lines = [...simulationOf(scenario, { seed: 1 }).play(baselineOf(scenario))];
    const ticks = lines.filter((line) => line.kind === 'tick').slice(5);
    const queue = ticks.reduce(
      (sum, { replicas }) => sum + replicas.reduce((all, one) => all + (one.queue_mean ?? 0), 0),
      0,
    );
    return queue / ticks.length;
  };
  // At 80 % two choices with a full view leave about 19 waiting, dice 64; ten partial views lie between.
  const one = waiting(1);
  const ten = waiting(10);
  assert.ok(ten > 1.2 * one, `${one} against ${ten}`);
  assert.ok(ten < 64, `${ten}`);
});
