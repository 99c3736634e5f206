// Processor sharing in scenarios: against theory, and against everything that may happen to a replica meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { baselineOf } from '../scenario.ts';
import type { MeanInterval } from '../stats.ts';
import { meanLatencyOf, measuredRun, replicaOf, replicated, scenarioFrom, throughputOf } from './measured-run.ts';
import { Simulation } from './simulation.ts';

interface Shared {
  readonly work: string;
  readonly rate: number;
  readonly seconds: number;
  /** More keys of the service. */
  readonly keys?: string;
}

/** One replica with a thread for each request and nothing to do but compute. */
const shared = ({ work, rate, seconds: length, keys = '' }: Shared): string => `plimsoll: 1
services:
  q: { replicas: 1, workers: 100000, service_time: constant 0ms, cpu_time: ${work}, cpu_scheduling: shared${keys} }
clients: { users: { timeout: 10h } }
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
warm_up: ${length / 10}s
duration: ${length}s
`;

function check(interval: MeanInterval, truth: number, halfWidthMax: number): void {
  const half = (interval.high - interval.low) / 2;
  const told = `${interval.mean.toPrecision(6)} ± ${half.toPrecision(3)}, theory ${truth.toPrecision(6)}`;
  assert.ok(half <= halfWidthMax * truth, `too wide: ${told}`);
  assert.ok(interval.low <= truth && truth <= interval.high, told);
}

// W = E(S)/(1 − ρ), whatever the distribution of S: Kleinrock, "Queueing Systems" II, 4.4. A log-normal of median m and 99th percentile p has
// mean m·e^(σ²/2), σ = ln(p/m)/2.3263.
test('M/G/1 with processor sharing: the mean sojourn is that of M/M/1, for constant, exponential and log-normal work', () => {
  const logNormal = 1 * Math.exp((Math.log(15) / 2.3263478740408408) ** 2 / 2);
  for (const { work, mean, width } of [
    { work: 'constant 2ms', mean: 2, width: 0.06 },
    { work: 'exponential 2ms', mean: 2, width: 0.1 },
    { work: 'log-normal 1ms 15ms', mean: logNormal, width: 0.15 },
  ]) {
    const rate = Math.round(700 / mean);
    const rho = (rate * mean) / 1000;
    const scenario = scenarioFrom(shared({ work, rate, seconds: 60 }));
    const runs = Array.from({ length: 8 }, (_, index) => measuredRun(scenario, index + 1));
    const of = (figure: (run: (typeof runs)[number]) => number): MeanInterval =>
      replicated(runs.length, (seed) => figure(runs[seed - 1] ?? assert.fail('a run for each seed')));
    check(of(meanLatencyOf), mean / (1 - rho), width);
    // The processor is used for ρ of the time: its work is what came, and no more.
    check(
      of((run) => (replicaOf(run, 'q-1').cpu_ns ?? 0) / run.tick.span_ns),
      rho,
      0.03,
    );
  }
});

// The number in the house is that of M/M/c, since n share min(n, c) cores; so W = 1/μ + C/(cμ − λ), C by Erlang, and this too holds for any
// distribution of work (a symmetric queue: Kelly, "Reversibility and Stochastic Networks", 3.3).
test('four cores shared: the mean sojourn is that of M/M/4, for constant work too', () => {
  const [cores, mean, rate] = [4, 4, 800];
  const load = (rate * mean) / 1000;
  let b = 1;
  for (let k = 1; k <= cores; k++) b = (load * b) / (k + load * b);
  const c = b / (1 - (load / cores) * (1 - b));
  const truth = mean + (c / ((cores * 1000) / mean - rate)) * 1000;
  for (const work of ['exponential 4ms', 'constant 4ms']) {
    const scenario = scenarioFrom(shared({ work, rate, seconds: 60, keys: ', cores: 4' }));
    check(
      replicated(8, (seed) => meanLatencyOf(measuredRun(scenario, seed))),
      truth,
      0.08,
    );
  }
});

// What may happen to a replica meanwhile.

/** A few users at one replica. They think so long that each finds the replica as the first did. */
const oneReplica = (keys: string, users: number, faults = ''): string => `plimsoll: 1
services: { api: { replicas: 1, workers: 64, service_time: constant 0ms, cpu_scheduling: shared, ${keys} } }
clients: { users: { timeout: 1h } }
demand: [{ closed: { users: ${users} } }]
faults: [${faults}]
warm_up: 0s
duration: 10s
`;

test('a fleet whose processors are shared is throttled by its quota, and says so', () => {
  const run = measuredRun(scenarioFrom(oneReplica('cpu_time: 10ms, cores: 8, cpu_quota: 2', 8)), 1);
  const { throttled_ns: throttled, throttled_periods: periods, cpu_ns: used } = replicaOf(run, 'api-1');
  // Eight threads run for 25 ms of each 100: two cores' worth, 200 requests of 10 ms a second.
  assert.equal(throughputOf(run), 200);
  assert.equal(periods, 100);
  assert.equal(throttled, 100 * 75e6);
  assert.equal(used, 20e9);
});

test('a replica that pauses, or is stopped, or is slow computes that much less', () => {
  const of = (faults: string): number =>
    measuredRun(scenarioFrom(oneReplica('cpu_time: 10ms', 4, faults)), 1).ledger.answered;
  // A hundred a second, and those four that are under way at the end.
  assert.equal(of(''), 1004);
  assert.equal(of('{ at: 2s, pause: { replica: api-1, length: 3s } }'), 704);
  assert.equal(of('{ at: 2s, for: 3s, stop: api-1 }'), 704);
  assert.equal(of('{ at: 5s, slow: { replica: api-1, factor: 2 } }'), 756);
  assert.equal(of('{ at: 5s, burn: { replica: api-1, share: 0.5 } }'), 756);
});

test('a killed replica loses what it computed, and begins anew with nothing', () => {
  const { ledger } = measuredRun(
    scenarioFrom(oneReplica('cpu_time: 100ms', 4, '{ at: 2.05s, for: 1s, kill: api-1 }')),
    1,
  );
  // Each user has five answers, loses one request, asks in vain for a second, and has one answer each 400 ms again.
  assert.equal(ledger.answered, 4 * 5 + 4 * Math.ceil((10 - 3.1) / 0.4));
  assert.equal(ledger.failed, 4 + 4 * 10);
});

test('a dead replica that is stopped or paused computes when it is started again', () => {
  for (const fault of ['stop: api-1', 'pause: { replica: api-1, length: 1ms }']) {
    const faults = `{ at: 2s, for: 1s, kill: api-1 }, { at: 2.5s, ${fault} }`;
    const { ledger } = measuredRun(scenarioFrom(oneReplica('cpu_time: 10ms', 1, faults)), 1);
    assert.ok(ledger.answered > 880, `${fault}: ${ledger.answered}`);
  }
});

test('who was just started is slower by its cold start', () => {
  const text = oneReplica(
    'cpu_time: 10ms, cold_start: { factor: 3, length: 4s }',
    1,
    '{ at: 2s, for: 1ms, kill: api-1 }',
  );
  // 1 + 2(1 − t/4) times as long: over the four seconds ∫dt/(3 − t/2) = 2·ln 3 instead of 4 seconds' worth.
  const { answered } = measuredRun(scenarioFrom(text), 1).ledger;
  assert.ok(Math.abs(answered - 100 * (10 - 4 + 2 * Math.log(3))) < 15, `${answered}`);
});

test('work that nobody waits for gives the processor back where it is dropped', () => {
  const of = (abandoned: string): number => {
    const scenario = scenarioFrom(`plimsoll: 1
services:
  api:
    replicas: 1
    workers: 64
    service_time: constant 0ms
    cpu_time: 60ms
    cpu_scheduling: shared
    queue: { abandoned: ${abandoned} }
clients: { hasty: { timeout: 50ms }, patient: { timeout: 1h } }
demand: [{ clients: hasty, open: { rate: 10/s, arrivals: constant } }, { clients: patient, closed: { users: 1 } }]
warm_up: 0s
duration: 10s
`);
    const { tick } = measuredRun(scenario, 1);
    return (tick.clients.find(({ group }) => group === 'patient')?.answered ?? 0) / 10;
  };
  // One user alone would be answered 16.7 times a second. The hasty ones have half a processor for 50 ms of each 100, and then either
  // give it back or keep it until they have had the 60 ms that they wanted.
  const [dropped, served] = [of('dropped'), of('served')];
  assert.ok(Math.abs(dropped - (1 - 0.25) / 0.06) < 0.3, `${dropped}`);
  assert.ok(Math.abs(served - (1 - 0.6) / 0.06) < 0.3, `${served}`);
});

test('two phases of one fleet compute the same', () => {
  const scenario = scenarioFrom(oneReplica('cpu_time: 10ms, cores: 2, cpu_quota: 0.5', 4));
  const simulation = new Simulation(scenario, { seed: 1, tick: seconds(1e6) });
  const answered = (): readonly number[] =>
    [...simulation.play(baselineOf(scenario))].flatMap((line) => (line.kind === 'ledger' ? [line.answered] : []));
  // Half a core: fifty a second.
  for (const count of [...answered(), ...answered()]) assert.ok(Math.abs(count - 500) <= 4, `${count}`);
});
