// The convoy: closed users, strict rotation, one replica a little slower. Theory where there is a formula, and elsewhere the
// figures that an independent simulation of the same set-up gave.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { type Arrangement, baselineOf, type Scenario } from '../scenario.ts';
import {
  measured,
  measuredRun,
  type MeasuredRun,
  replicaOf,
  replicated,
  scenarioFrom,
  throughputOf,
} from './measured-run.ts';
import { Simulation } from './simulation.ts';

interface Fleet {
  readonly users: number;
  readonly slow: number;
  readonly policy?: string;
  readonly think?: string;
  readonly seconds?: number;
}

/** Four replicas of four workers, 20 ms exponential: 800/s. The third is slow. */
function fleet({ users, slow, policy = 'round-robin', think = '0s', seconds: length = 60 }: Fleet): Scenario {
  return scenarioFrom(`plimsoll: 1
services: { api: { replicas: 4, workers: 4, service_time: exponential 20ms } }
gateway: { policy: ${policy}, timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ closed: { users: ${users}, think: ${think} } }]
faults: [{ slow: { replica: api-3, factor: ${slow} } }]
warm_up: 20s
duration: ${length}s
`);
}

const ids = ['api-1', 'api-2', 'api-3', 'api-4'];
const inFlightOf = (run: MeasuredRun): readonly number[] => ids.map((id) => replicaOf(run, id).in_flight_mean ?? 0);
const ratesOf = (run: MeasuredRun): readonly number[] =>
  ids.map((id) => (replicaOf(run, id).finished ?? 0) / (run.tick.span_ns / 1e9));

// Users, factor, policy, thought → throughput, in flight at the slow replica and at the others, 99th percentile in ms. X = R·c_slow
// above the knee. The reference was one run of unstated length, and with a slow-down of 5 % a pile wanders for minutes: hence
// 3 % for X, and for the pile a fifth of all users.
const reference = [
  { users: 64, slow: 1.1, throughput: 719, hot: 44, others: 7, p99: 355 },
  { users: 64, slow: 1.3, throughput: 612, hot: 53, others: 4, p99: 445 },
  { users: 128, slow: 1.1, throughput: 719, hot: 107, others: 7, p99: 750 },
  { users: 16, slow: 1.1, throughput: 637, hot: 4.7, others: 3.8, p99: 104 },
  { users: 64, slow: 1.1, think: '100ms', throughput: 521, hot: 3.3, others: 2.9, p99: 100 },
  { users: 64, slow: 1.1, policy: 'least-request', throughput: 781, hot: 16, others: 16, p99: 166 },
  { users: 64, slow: 1.1, policy: 'random', throughput: 721, hot: 33, others: 11, p99: 323 },
];

for (const row of reference) {
  const what = `${row.users} users, ${row.policy ?? 'round-robin'}, one replica ${row.slow} × slower, thought ${row.think ?? 'none'}`;
  test(`${what}: ${row.throughput}/s, ${row.hot} in flight at the slow one`, () => {
    const scenario = fleet(row);
    const runs = Array.from({ length: 5 }, (_, index) => measuredRun(scenario, index + 1));
    const of = (figure: (run: MeasuredRun) => number): number =>
      replicated(runs.length, (seed) => figure(runs[seed - 1] ?? assert.fail('a run for each seed'))).mean;
    const near = (found: number, expected: number, allowed: number, name: string): void =>
      assert.ok(Math.abs(found - expected) <= allowed, `${name}: ${found}, expected ${expected} ± ${allowed}`);
    near(of(throughputOf), row.throughput, 0.03 * row.throughput, 'throughput');
    near(
      of((run) => inFlightOf(run)[2] ?? 0),
      row.hot,
      Math.max(0.7, 0.08 * row.users),
      'in flight at the slow replica',
    );
    near(
      of((run) => ((inFlightOf(run)[0] ?? 0) + (inFlightOf(run)[1] ?? 0) + (inFlightOf(run)[3] ?? 0)) / 3),
      row.others,
      Math.max(0.5, 0.04 * row.users),
      'in flight at the others',
    );
    near(
      of(({ latency }) => (latency.quantile(0.99)?.value ?? 0) / 1e6),
      row.p99,
      0.12 * row.p99,
      'p99',
    );
  });
}

test('under round robin every replica finishes equally many, whatever its speed: within a hundredth', () => {
  const rates = ratesOf(measuredRun(fleet({ users: 64, slow: 1.3 }), 1));
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / 4;
  for (const rate of rates) assert.ok(Math.abs(rate / mean - 1) < 0.01, `${rate} of ${mean}`);
});

test('the throughput is four times what the slow replica can do, within 2 %', () => {
  for (const slow of [1.1, 1.2, 1.5]) {
    const found = throughputOf(measuredRun(fleet({ users: 96, slow }), 2));
    const bound = 4 * (4 / (0.02 * slow));
    assert.ok(found <= bound * 1.02 && found > bound * 0.97, `${found} of ${bound}`);
  }
});

test('ten single servers, constant service, 200 users: 208.33/s and 192.5 users at the slow one, to the digit', () => {
  const run = measuredRun(
    scenarioFrom(`plimsoll: 1
services: { api: { replicas: 10, workers: 1, service_time: constant 40ms } }
gateway: { timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ closed: { users: 200 } }]
faults: [{ slow: { replica: api-4, factor: 1.2 } }]
warm_up: 200s
duration: 480s
`),
    1,
  );
  assert.ok(Math.abs(throughputOf(run) - 10 / 0.048) < 0.03, `${throughputOf(run)}`);
  assert.equal(replicaOf(run, 'api-4').in_flight_mean?.toFixed(1), '192.5');
  assert.equal(replicaOf(run, 'api-1').in_flight_mean?.toFixed(3), '0.833');
});

// Random routing is a product-form network (Gordon and Newell): with N users and Z = 0, r = h/s, the healthy servers hold
// r/(1 − r) each and the slow one all the others, once it saturates.
test('ten single servers, random routing, 200 users: 155 at the slow one by the product form', () => {
  const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 10, workers: 1, service_time: exponential 40ms } }
gateway: { policy: random, timeout: 10h }
clients: { users: { timeout: 20h } }
demand: [{ closed: { users: 200 } }]
faults: [{ slow: { replica: api-4, factor: 1.2 } }]
warm_up: 100s
duration: 500s
`);
  const runs = Array.from({ length: 8 }, (_, index) => measuredRun(scenario, index + 1));
  const of = (figure: (run: MeasuredRun) => number) =>
    replicated(runs.length, (seed) => figure(runs[seed - 1] ?? assert.fail('a run for each seed')));
  const hot = of((run) => replicaOf(run, 'api-4').in_flight_mean ?? 0);
  assert.ok(hot.low <= 155 && 155 <= hot.high, `${hot.mean}`);
  assert.ok(hot.high - hot.low < 24, `too wide: ${hot.low} to ${hot.high}`);
  const throughput = of(throughputOf);
  assert.ok(throughput.low <= 208.3333 && 208.3333 <= throughput.high, `${throughput.mean}`);
});

// Bound on X: 10·8/48 ms = 1666.67/s for rotation, the sum of all rates 1966.67/s for two choices. The rest by an independent
// simulation of 2000 s; the median is better under the convoy, and everything else worse.
test('ten replicas of eight workers, 400 users, thought 100 ms: the median looks better, the tail is four times worse', () => {
  const of = (policy: string): MeasuredRun =>
    measuredRun(
      scenarioFrom(`plimsoll: 1
services: { api: { replicas: 10, workers: 8, service_time: exponential 40ms } }
gateway: { policy: ${policy}, timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ closed: { users: 400, think: 100ms } }]
faults: [{ slow: { replica: api-4, factor: 1.2 } }]
warm_up: 60s
duration: 240s
`),
      7,
    );
  const near = (found: number | undefined, expected: number, share: number, name: string): void =>
    assert.ok(Math.abs((found ?? 0) / expected - 1) < share, `${name}: ${found}, expected ${expected}`);
  const quantile = (run: MeasuredRun, share: number): number => (run.latency.quantile(share)?.value ?? 0) / 1e6;
  const convoyed = of('round-robin');
  near(throughputOf(convoyed), 1665.6, 0.01, 'throughput, rotation');
  near(replicaOf(convoyed, 'api-4').in_flight_mean, 164.3, 0.06, 'at the slow one, rotation');
  near(replicaOf(convoyed, 'api-1').in_flight_mean, 7.69, 0.06, 'at a healthy one, rotation');
  near(quantile(convoyed, 0.5), 39.7, 0.05, 'median, rotation');
  near(quantile(convoyed, 0.99), 1139, 0.06, 'p99, rotation');
  const chosen = of('least-request');
  near(throughputOf(chosen), 1964.8, 0.01, 'throughput, two choices');
  near(replicaOf(chosen, 'api-4').in_flight_mean, 20.8, 0.05, 'at the slow one, two choices');
  near(quantile(chosen, 0.5), 94, 0.05, 'median, two choices');
  near(quantile(chosen, 0.99), 258, 0.06, 'p99, two choices');
});

// With clients who never give up, each dispatch meets the frozen replica with probability 1/K: what still runs decays with
// τ = K(R + Z), so N(1 − e^(−t/τ)) stand at the frozen one after t. The sum of all late answers is N(K − 1). (Those figures
// are for random routing; rotation is close to them.)
test('a frozen replica swallows the users one by one: half of them within 0.69·K(R + Z)', () => {
  const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 10, workers: 8, service_time: exponential 40ms } }
gateway: { policy: random, timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ closed: { users: 4000, think: 10s } }]
faults: [{ at: 50s, stop: api-7 }]
warm_up: 50s
duration: 300s
`);
  const simulation = new Simulation(scenario, { seed: 3 });
  const lines = [...simulation.play(baselineOf(scenario))];
  const ticks = lines.filter((line) => line.kind === 'tick');
  for (const { after, swallowed } of [
    { after: 50, swallowed: 1569 },
    { after: 100, swallowed: 2523 },
    { after: 200, swallowed: 3454 },
    { after: 299, swallowed: 3796 },
  ]) {
    const tick = ticks.find(({ at_ns }) => at_ns === (50 + after) * 1e9);
    const silent = tick?.replicas.find(({ id }) => id === 'api-7');
    assert.equal(silent?.state, 'silent');
    assert.equal(silent?.busy_workers_mean, undefined);
    const found = silent?.in_flight_mean ?? 0;
    // Binomial: a deviation is at most √(N/4) = 32; four of them, and the tick's mean is half a second late.
    assert.ok(Math.abs(found - swallowed) < 4 * 32 + 15, `${found} after ${after} s, theory ${swallowed}`);
  }
});

// What the operator may do, as an arrangement after the baseline.

const convoy = fleet({ users: 64, slow: 1.15, seconds: 16 });

function experiment(change: Partial<Arrangement>, scenario: Scenario = convoy, seed = 1): MeasuredRun {
  const simulation = new Simulation(scenario, { seed, tick: seconds(1e6) });
  measured(simulation, baselineOf(scenario));
  const base = baselineOf(scenario);
  return measured(simulation, { ...base, name: 'experiment', warmUp: seconds(5), duration: seconds(15), ...change });
}

test('stopping any one replica stops the whole fleet within a second, and it goes on afterwards', () => {
  for (const replica of ids) {
    const simulation = new Simulation(convoy, { seed: 5 });
    measured(simulation, baselineOf(convoy));
    const lines = [
      ...simulation.play({
        ...baselineOf(convoy),
        name: 'stop',
        warmUp: seconds(2),
        duration: seconds(10),
        stopped: { replica, at: seconds(4), for: seconds(4) },
      }),
    ];
    const answered = lines.filter((line) => line.kind === 'tick').map(({ clients }) => clients[0]?.answered ?? 0);
    assert.ok((answered[3] ?? 0) > 500, `${replica}: before ${answered.join(' ')}`);
    assert.deepEqual(answered.slice(5, 7), [0, 0], `${replica}: ${answered.join(' ')}`);
    assert.ok((answered[10] ?? 0) > 600, `${replica}: after ${answered.join(' ')}`);
    const events = lines.filter((line) => line.kind === 'event').map(({ event, target }) => `${event} ${target}`);
    assert.deepEqual(events, [`replica-stopped ${replica}`, `replica-continued ${replica}`]);
  }
});

test('under least-request a stopped replica takes its share with it and no more', () => {
  const scenario = fleet({ users: 64, slow: 1.15, policy: 'least-request', seconds: 8 });
  const simulation = new Simulation(scenario, { seed: 5 });
  const stopped = { replica: 'api-1', at: seconds(24), for: seconds(4) };
  const lines = [...simulation.play({ ...baselineOf(scenario), stopped })];
  const ticks = lines.filter((line) => line.kind === 'tick');
  const before = ticks[23]?.clients[0]?.answered ?? 0;
  const during = ticks[26]?.clients[0]?.answered ?? 0;
  assert.ok(during / before > 0.68 && during / before < 0.85, `${before} before, ${during} during`);
});

test('the same throughput as open load dissolves the pile', () => {
  const demand = baselineOf(convoy).demand.map((each) => ({
    kind: 'open' as const,
    clients: each.clients,
    ratePerSecond: 600,
    arrivals: 'constant' as const,
    flow: each.flow,
  }));
  const run = experiment({ demand });
  assert.ok(Math.max(...inFlightOf(run)) < 8, inFlightOf(run).join(' '));
  assert.ok(Math.abs(throughputOf(run) - 600) < 6);
});

test('another policy dissolves it too, and the fleet does more', () => {
  const before = throughputOf(measuredRun(convoy, 1));
  const run = experiment({ policy: 'least-request' });
  assert.ok(throughputOf(run) > 1.05 * before, `${throughputOf(run)} after ${before}`);
  for (const inFlight of inFlightOf(run)) assert.ok(Math.abs(inFlight - 16) < 1.5, inFlightOf(run).join(' '));
});

test('the curse moves to whichever replica is made slowest', () => {
  const run = experiment({ slowness: { 'api-1': 1.5 } });
  assert.ok((inFlightOf(run)[0] ?? 0) > 40, inFlightOf(run).join(' '));
  assert.ok((inFlightOf(run)[2] ?? 0) < 8, inFlightOf(run).join(' '));
});

test('a replica killed without health checks fails its quarter of the requests at once; the others are unharmed', () => {
  const { tick, clients } = experiment({ killed: ['api-3'] });
  assert.equal(replicaOf({ tick } as MeasuredRun, 'api-3').finished, 0);
  const failed = clients.errors?.['status-5xx'] ?? 0;
  assert.ok(Math.abs(failed / (failed + clients.answered) - 0.25) < 0.002);
});

test('alone with one user, the slow replica shows its true speed', () => {
  const simulation = new Simulation(convoy, { seed: 2, tick: seconds(1e6) });
  const lines = [
    ...simulation.play({ ...baselineOf(convoy), name: 'visit', duration: seconds(400), visitAlone: true }),
  ];
  const tick = lines.find((line) => line.kind === 'tick' && line.at_ns > 0);
  const groups = tick?.kind === 'tick' ? tick.clients : [];
  assert.deepEqual(
    groups.map(({ group }) => group),
    ids.map((id) => `visit ${id}`),
  );
  const means = groups.map(({ latency }) => (latency?.mean_ns ?? 0) / 1e6);
  // Some 19,000 visits each: a mean has a standard error of 0.7 %.
  for (const [index, expected] of [20, 20, 23, 20].entries()) {
    assert.ok(Math.abs((means[index] ?? 0) / expected - 1) < 0.03, means.join(' '));
  }
});

test('below the knee there is no convoy to see', () => {
  const run = measuredRun(fleet({ users: 64, slow: 1.15, think: '100ms' }), 4);
  assert.ok(Math.max(...inFlightOf(run)) < 4.5, inFlightOf(run).join(' '));
});
