// Autoscalers in a fleet: what they reach, and the four ways in which they are known to help nobody.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RecordLine, TickLine } from '../record.ts';
import { baselineOf, type Scenario } from '../scenario.ts';
import { cell, cellsEach } from './cells.ts';
import { scenarioFrom } from './measured-run.ts';
import { Simulation } from './simulation.ts';

interface Service {
  readonly replicas?: number;
  /** Inside its braces; none: as many replicas as there are. */
  readonly autoscale?: string;
  /** Further keys. */
  readonly more?: string;
}

const api = ({ replicas = 2, autoscale, more = '' }: Service): string =>
  `services: { api: { replicas: ${replicas}, workers: 4, service_time: constant 50ms${more}${
    autoscale === undefined ? '' : `, autoscale: { ${autoscale} }`
  } } }`;

const scenarioOf = (service: string, rest: string): Scenario =>
  scenarioFrom(`plimsoll: 1\n${service}\n${rest}\nwarm_up: 0s\n`);

interface Played {
  readonly simulation: Simulation;
  readonly lines: readonly RecordLine[];
  readonly ticks: readonly TickLine[];
  /** Such as `45 api-3 replica-added`. */
  readonly events: readonly string[];
  readonly ends: readonly string[];
}

function play(scenario: Scenario, seed = 1): Played {
  const simulation = new Simulation(scenario, { seed });
  const ends: string[] = [];
  simulation.world.books.listener = (_group, station, kind, dueAt, now) =>
    ends.push(`${dueAt} ${station} ${kind} ${now - dueAt}`);
  const lines = [...simulation.play(baselineOf(scenario))];
  const events = lines.flatMap((line) =>
    line.kind === 'event' ? [`${line.at_ns / 1e9} ${line.target} ${line.event}`] : [],
  );
  return { simulation, lines, ticks: lines.filter((line) => line.kind === 'tick'), events, ends };
}

const countsOf = ({ ticks }: Played): readonly number[] => ticks.map(({ replicas }) => replicas.length);

// What it reaches.

test('the fleet ends where the formula has its fixed point, from below and from above', () => {
  // 200/s of 50 ms are ten busy workers: at a target of half of four each that is five replicas, and no other number is within a tenth.
  for (const replicas of [1, 16]) {
    const run = play(
      scenarioOf(
        api({ replicas, autoscale: 'min: 1, max: 20, target: 50%, start_lag: 5s, scale_down_after: 30s' }),
        'gateway: { policy: round-robin }\ndemand: [{ open: { rate: 200/s, arrivals: constant } }]\nduration: 200s',
      ),
    );
    assert.deepEqual(new Set(countsOf(run).slice(-50)), new Set([5]));
  }
});

test('processor time is held against the quota', () => {
  // 100/s of 20 ms are two cores; half of a core each at a target of 80 % is five replicas.
  const service = `services: { api: { replicas: 6, workers: 50, service_time: constant 1ms, cpu_time: 20ms, cpu_quota: 0.5,
    autoscale: { min: 1, max: 20, metric: cpu, target: 80%, start_lag: 5s, scale_down_after: 30s } } }`;
  const run = play(
    scenarioOf(service, 'gateway: {}\ndemand: [{ open: { rate: 100/s, arrivals: constant } }]\nduration: 150s'),
  );
  assert.equal(countsOf(run).at(-1), 5);
});

test('a round decides, a replica takes requests a lag later, cold, and is in the record from then on', () => {
  const run = play(
    scenarioOf(
      api({
        autoscale: 'min: 2, max: 3, target: 60%, start_lag: 30s',
        more: ', cold_start: { factor: 3, length: 20s }',
      }),
      'gateway: { policy: round-robin }\ndemand: [{ open: { rate: 140/s, arrivals: constant } }]\nduration: 120s',
    ),
  );
  assert.deepEqual(run.events, ['15 api scaled', '45 api-3 replica-added']);
  assert.deepEqual([...new Set(countsOf(run).slice(0, 44))], [2]);
  assert.deepEqual([...new Set(countsOf(run).slice(45))], [3]);
  const ofThird = run.ticks.slice(45).map(({ replicas }) => replicas[2]);
  const service = (tick: (typeof ofThird)[number]): number =>
    Math.round((tick?.service_sum_ns ?? 0) / (tick?.service_count ?? 1) / 1e6);
  assert.ok(service(ofThird[0]) > 130, 'three times as slow at first');
  assert.equal(service(ofThird.at(-1)), 50);
  const names = run.ticks.at(-1)?.clients[0]?.answered_by ?? {};
  assert.deepEqual(Object.keys(names), ['api-1', 'api-2', 'api-3']);
});

test('the newest leaves the list, ends what it has, and is gone; nobody who asks notices', () => {
  const service = api({ replicas: 4, autoscale: 'min: 2, max: 4, every: 10s, scale_down_after: 10s' });
  const run = play(
    scenarioOf(
      service.replace('50ms', '5s'),
      'gateway: { health: {} }\ndemand: [{ open: { rate: 1/s, arrivals: constant } }]\nduration: 40s',
    ),
  );
  const states = run.ticks.map(({ replicas }) => replicas.find(({ id }) => id === 'api-4')?.state ?? 'absent');
  // It is out of the list when the tick ends in which that was decided.
  const [out, gone] = [states.indexOf('draining'), states.indexOf('absent')];
  assert.equal(out, 19);
  assert.ok(gone >= 21 && gone <= 25, `gone after ${gone} s`);
  assert.deepEqual(new Set(states.slice(out, gone)), new Set(['draining']));
  assert.deepEqual(new Set(states.slice(gone)), new Set(['absent']));
  assert.ok(run.events.some((event) => event.endsWith('api-4 replica-removed')));
  assert.ok(run.ends.every((end) => end.includes(' ok ')));
  assert.ok(run.ticks.every(({ gateway }) => gateway?.healthy === gateway?.total && gateway?.ejections === 0));
});

test('a replica that comes again has the name of one that went, starts anew, and is asked by health checks again', () => {
  const run = play(
    scenarioOf(
      api({ replicas: 1, autoscale: 'min: 1, max: 2, target: 70%, start_lag: 5s, scale_down_after: 20s' }),
      `gateway: { health: { interval: 1s, timeout: 500ms } }
demand: [{ open: { rate: 70/s, arrivals: constant,
  stages: [{ over: 30s, to: 70/s }, { over: 0s, to: 20/s }, { over: 60s, to: 20/s }, { over: 0s, to: 70/s }, { over: 60s, to: 70/s }] } }]
duration: 150s`,
    ),
  );
  assert.deepEqual(
    run.events.filter((event) => event.includes('api-2')).map((event) => event.split(' ')[2]),
    ['replica-added', 'replica-removed', 'replica-added'],
  );
  assert.equal(run.simulation.world.fleet.station('api-2').life, 1);
  assert.ok((run.ticks.at(-1)?.replicas[1]?.finished ?? 0) > 30);
  assert.equal(run.ticks.at(-1)?.replicas[1]?.in_rotation, true);
});

test('a service that is called is scaled like one that is asked', () => {
  const scenario = scenarioFrom(`plimsoll: 1
services:
  api: { replicas: 1, workers: 100, service_time: constant 1ms, calls: [{ to: store }] }
  store: { replicas: 1, workers: 4, service_time: constant 50ms, autoscale: { min: 1, max: 4, target: 50%, start_lag: 5s } }
clients: { users: { service: api } }
demand: [{ open: { rate: 70/s, arrivals: constant } }]
warm_up: 0s
duration: 60s
`);
  const { ticks } = play(scenario);
  const shares = ticks
    .at(-1)
    ?.replicas.flatMap(({ id, finished, started }) => (id.startsWith('store') ? [started ?? finished] : []));
  assert.deepEqual(shares, [35, 35]);
});

// How it is known to fail.

test('a lag longer than the surge: whoever asks in the surge fares as if there were no autoscaler', () => {
  const surge = `gateway: { timeout: 2s }
demand: [{ open: { rate: 60/s, stages: [{ over: 20s, to: 60/s }, { over: 0s, to: 400/s }, { over: 20s, to: 400/s }, { over: 0s, to: 60/s }, { over: 60s, to: 60/s }] } }]
duration: 100s`;
  const scaled = play(scenarioOf(api({ autoscale: 'min: 2, max: 20, start_lag: 40s' }), surge));
  const plain = play(scenarioOf(api({}), surge));
  const first = scaled.events.find((event) => event.includes('replica-added'));
  assert.equal(first, '70 api-3 replica-added');
  const due = (end: string): number => Number(end.split(' ')[0]) / 1e9;
  const inSurge = (run: Played): readonly string[] => run.ends.filter((end) => due(end) < 40);
  assert.deepEqual(inSurge(scaled), inSurge(plain));
  assert.ok(inSurge(scaled).filter((end) => !end.includes(' ok ')).length > 3000, 'and they fare badly');
  assert.equal(countsOf(scaled).at(-1), 3, 'a replica for a load that is gone');
});

test('the mean hides one hot replica: behind pick-first the fleet is even made smaller while that one is full', () => {
  const run = play(
    scenarioOf(
      api({ replicas: 4, autoscale: 'min: 2, max: 10, start_lag: 5s, scale_down_after: 30s' }),
      'clients: { users: { choice: pick-first, timeout: 2s } }\ndemand: [{ open: { rate: 100/s, arrivals: constant } }]\nduration: 120s',
    ),
  );
  const last = run.ticks.at(-1);
  assert.equal(last?.replicas[0]?.busy_workers_mean, 4);
  assert.equal(countsOf(run).at(-1), 2);
  assert.ok(run.events.every((event) => !event.includes('replica-added')));
});

test('behind connections that users keep, new replicas change nothing', () => {
  const kept = (autoscale: string | undefined): Played =>
    play(
      scenarioOf(
        api(autoscale === undefined ? {} : { autoscale }),
        'clients: { users: { via: registry, pinned: true } }\ndemand: [{ closed: { users: 40 } }]\nduration: 90s',
      ),
    );
  const scaled = kept('min: 2, max: 8, start_lag: 10s');
  assert.equal(scaled.events.filter((event) => event.includes('replica-added')).length > 0, true);
  assert.deepEqual(scaled.ends, kept(undefined).ends);
});

test('behind a store that is full, more replicas of the service change nothing', () => {
  const calling = (autoscale: string | undefined): Played =>
    play(
      scenarioOf(
        `${api({ more: ', calls: [{ to: store }]', ...(autoscale === undefined ? {} : { autoscale }) }).replace('50ms', '5ms')}
dependencies: { store: { workers: 4, service_time: constant 20ms } }`,
        'gateway: { policy: least-request }\nclients: { users: { timeout: 30s } }\ndemand: [{ closed: { users: 64 } }]\nduration: 120s',
      ),
    );
  const [scaled, plain] = [calling('min: 2, max: 12, start_lag: 10s'), calling(undefined)];
  assert.equal(countsOf(scaled).at(-1), 13, 'twelve of the service, and the store');
  const rate = ({ ticks }: Played): number =>
    ticks.slice(-40).reduce((sum, { clients }) => sum + (clients[0]?.answered ?? 0), 0) / 40;
  assert.equal(rate(plain), 200, 'all that the store can do');
  assert.equal(rate(scaled), 200);
  const queue = (run: Played): number => run.ticks.at(-1)?.replicas.find(({ id }) => id === 'store-1')?.queue_mean ?? 0;
  assert.ok(queue(scaled) > 5 * queue(plain), 'the queue only stands elsewhere');
});

// The whole.

test('whatever comes: bounds hold, every request ends once, and common chance is common', () => {
  const cases = fc.record({
    seed: fc.nat(1000),
    rate: fc.integer({ min: 10, max: 300 }),
    peak: fc.integer({ min: 10, max: 600 }),
    lag: fc.constantFrom('0s', '3s', '20s'),
    target: fc.constantFrom('30%', '70%'),
    via: fc.constantFrom('gateway', 'registry', 'forwarder'),
    fault: fc.constantFrom('kill: api-2', 'stop: api-2', 'pause: { replica: api-1, length: 5s }'),
    network: fc.constantFrom('', 'network: { delay: exponential 2ms, loss: 1% }\n'),
  });
  fc.assert(
    fc.property(cases, ({ seed, rate, peak, lag, target, via, fault, network }) => {
      const scenario = scenarioOf(
        api({
          autoscale: `min: 2, max: 6, every: 5s, target: ${target}, start_lag: ${lag}, scale_down_after: 10s`,
        }).replace('constant 50ms', 'exponential 50ms'),
        `${network}gateway: { timeout: 1s, health: { interval: 1s, timeout: 500ms } }
clients: { users: { via: ${via} } }
demand: [{ open: { rate: ${rate}/s, stages: [{ over: 20s, to: ${peak}/s }, { over: 20s, to: ${rate}/s }] } }]
faults: [{ at: 10s, ${fault.startsWith('pause') ? '' : 'for: 10s, '}${fault} }]
duration: 60s`,
      );
      const run = play(scenario, seed);
      const { listed } = run.simulation.world.fleet.site('api');
      assert.ok(listed >= 2 && listed <= 6);
      for (const { replicas } of run.ticks) {
        const standing = replicas.filter(({ state }) => state !== 'draining').length;
        assert.ok(standing >= 2 && standing <= 6, `${standing}`);
      }
      for (const line of run.lines) {
        if (line.kind !== 'ledger') continue;
        assert.equal(line.planned, line.answered + line.failed + line.timed_out + line.in_flight_at_end);
      }
      const { values } = run.simulation.world.fleet.cells;
      for (const { index } of run.simulation.world.fleet.stations) {
        assert.ok((values[cellsEach * index + cell.inFlight] ?? 0) >= 0);
      }
      assert.equal(play(scenario, seed).simulation.digest, run.simulation.digest);
    }),
    { numRuns: 8 },
  );
});
