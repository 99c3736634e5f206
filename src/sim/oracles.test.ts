// The simulation against queueing theory. Each figure is measured in several independent runs; the truth must lie in
// Student's 99.9 % interval, and the interval must be narrow enough to mean something.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanLatencyOf, measuredRun, replicaOf, replicated, scenarioFrom, throughputOf } from './measured-run.ts';
import { closedNetwork, type MeanInterval } from '../stats.ts';

interface Station {
  readonly workers: number;
  /** As in a scenario. */
  readonly service: string;
  readonly rate: number;
  readonly seconds: number;
  readonly queue?: number;
}

/** One station with open random arrivals and no way to lose patience: a queue out of the textbook. */
const queue = ({ workers, service, rate, seconds, queue: limit = 1_000_000 }: Station): string => `plimsoll: 1
services: { q: { replicas: 1, workers: ${workers}, service_time: ${service}, queue: { limit: ${limit} } } }
clients: { users: { timeout: 10h } }
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
warm_up: ${seconds / 10}s
duration: ${seconds}s
`;

function check(interval: MeanInterval, truth: number, halfWidthMax: number): void {
  const half = (interval.high - interval.low) / 2;
  const told = `${interval.mean.toPrecision(6)} ± ${half.toPrecision(3)}, theory ${truth.toPrecision(6)}`;
  assert.ok(half <= halfWidthMax * truth, `too wide: ${told}`);
  assert.ok(interval.low <= truth && truth <= interval.high, told);
}

// W = 1/(μ − λ); the sojourn time is exponential, so its p-quantile is −ln(1 − p)·W.
test('M/M/1: mean, median and 99th percentile of the sojourn', () => {
  const scenario = scenarioFrom(queue({ workers: 1, service: 'exponential 1ms', rate: 800, seconds: 120 }));
  const runs = Array.from({ length: 10 }, (_, index) => measuredRun(scenario, index + 1));
  const of = (figure: (run: (typeof runs)[number]) => number): MeanInterval =>
    replicated(runs.length, (seed) => figure(runs[seed - 1] ?? assert.fail('a run for each seed')));
  check(of(meanLatencyOf), 5, 0.08);
  check(
    of(({ latency }) => (latency.quantile(0.5)?.value ?? 0) / 1e6),
    5 * Math.LN2,
    0.08,
  );
  check(
    of(({ latency }) => (latency.quantile(0.99)?.value ?? 0) / 1e6),
    5 * Math.log(100),
    0.12,
  );
  // L = ρ/(1 − ρ) = 4, by the area under the number in the station; and U = ρ.
  check(
    of((run) => replicaOf(run, 'q-1').in_flight_mean ?? 0),
    4,
    0.08,
  );
  check(
    of((run) => replicaOf(run, 'q-1').busy_workers_mean ?? 0),
    0.8,
    0.01,
  );
});

/** Erlang C and B, by the recursion B(k) = aB(k−1)/(k + aB(k−1)), a = λ/μ. */
function erlang(workers: number, load: number): { readonly b: number; readonly c: number } {
  let b = 1;
  for (let k = 1; k <= workers; k++) b = (load * b) / (k + load * b);
  const share = load / workers;
  return { b, c: b / (1 - share * (1 - b)) };
}

// W = 1/μ + C/(cμ − λ), C by Erlang's formula.
test('M/M/c: mean sojourn with 8 and with 64 workers', () => {
  for (const { workers, rate, seconds, width } of [
    { workers: 8, rate: 160, seconds: 600, width: 0.04 },
    { workers: 64, rate: 1440, seconds: 120, width: 0.02 },
  ]) {
    const scenario = scenarioFrom(queue({ workers, service: 'exponential 40ms', rate, seconds }));
    const { c } = erlang(workers, rate * 0.04);
    const truth = 40 + (c / (workers * 25 - rate)) * 1e3;
    check(
      replicated(8, (seed) => meanLatencyOf(measuredRun(scenario, seed))),
      truth,
      width,
    );
  }
});

// Wq = ρ/(2(1 − ρ))·D (Pollaczek–Khinchine with no variance).
test('M/D/1: mean sojourn', () => {
  const scenario = scenarioFrom(queue({ workers: 1, service: 'constant 1ms', rate: 800, seconds: 100 }));
  check(
    replicated(10, (seed) => meanLatencyOf(measuredRun(scenario, seed))),
    3,
    0.04,
  );
});

// Wq = λE(S²)/(2(1 − ρ)). For a log-normal, E(S) = m·e^(σ²/2) and E(S²) = m²·e^(2σ²), with σ = ln(p99/m)/2.3263.
test('M/G/1 with log-normal service: mean sojourn by Pollaczek and Khinchine', () => {
  const deviation = Math.log(6) / 2.3263478740408408;
  const mean = Math.exp(deviation ** 2 / 2);
  const rate = 0.7 / mean;
  const truth = mean + (rate * Math.exp(2 * deviation ** 2)) / (2 * (1 - 0.7));
  const scenario = scenarioFrom(
    queue({ workers: 1, service: 'log-normal 1ms 6ms', rate: Number((rate * 1e3).toFixed(6)), seconds: 150 }),
  );
  check(
    replicated(10, (seed) => meanLatencyOf(measuredRun(scenario, seed))),
    truth,
    0.05,
  );
});

/** M/M/c/K by its birth–death chain: share refused, and throughput. */
function finite(workers: number, places: number, load: number): { readonly refused: number; readonly inside: number } {
  const weights = [1];
  for (let n = 1; n <= places; n++) weights.push(((weights[n - 1] ?? 0) * load) / Math.min(n, workers));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const inside = weights.reduce((total, weight, n) => total + n * weight, 0) / sum;
  return { refused: (weights[places] ?? 0) / sum, inside };
}

// p_n ∝ aⁿ/Π min(j, c), n ≤ K; the share refused is p_K.
test('M/M/c/K: what a bounded queue refuses, and what is inside', () => {
  for (const { workers, places, rate } of [
    { workers: 8, places: 32, rate: 220 },
    { workers: 8, places: 8, rate: 200 },
    { workers: 1, places: 10, rate: 30 },
  ]) {
    const service = 'exponential 40ms';
    const scenario = scenarioFrom(queue({ workers, service, rate, seconds: 300, queue: places - workers }));
    const runs = Array.from({ length: 8 }, (_, index) => measuredRun(scenario, index + 1));
    const truth = finite(workers, places, rate * 0.04);
    const at = (seed: number) => runs[seed - 1] ?? assert.fail('a run for each seed');
    check(
      replicated(8, (seed) => at(seed).ledger.failed / at(seed).ledger.planned),
      truth.refused,
      0.12,
    );
    check(
      replicated(8, (seed) => replicaOf(at(seed), 'q-1').in_flight_mean ?? 0),
      truth.inside,
      0.07,
    );
  }
});

// With no queue at all the share refused depends on the mean service time only (Erlang B).
test('M/G/c/c: what is refused does not care for the distribution of service', () => {
  const { b } = erlang(8, 8);
  for (const service of ['constant 40ms', 'exponential 40ms', 'uniform 10ms 70ms']) {
    const scenario = scenarioFrom(queue({ workers: 8, service, rate: 200, seconds: 150, queue: 0 }));
    check(
      replicated(8, (seed) => {
        const { ledger } = measuredRun(scenario, seed);
        return ledger.failed / ledger.planned;
      }),
      b,
      0.05,
    );
  }
});

// Round robin gives each of K servers every K-th arrival, so each is an E_K/M/1 queue: W = 1/(μ(1 − σ)), where
// σ = (Kρ/(Kρ + 1 − σ))^K.
test('round robin over 10 servers: mean sojourn of an E10/M/1 queue', () => {
  let sigma = 0.5;
  for (let step = 0; step < 500; step++) sigma = (8 / (8 + 1 - sigma)) ** 10;
  const scenario = scenarioFrom(spread('round-robin', { replicas: 10, rate: 8000, seconds: 20 }));
  check(
    replicated(8, (seed) => meanLatencyOf(measuredRun(scenario, seed))),
    1 / (1 - sigma),
    0.04,
  );
});

test('random over 10 servers: ten M/M/1 queues', () => {
  const scenario = scenarioFrom(spread('random', { replicas: 10, rate: 8000, seconds: 20 }));
  check(
    replicated(8, (seed) => meanLatencyOf(measuredRun(scenario, seed))),
    5,
    0.06,
  );
});

// The mean-field limit is E(T) = Σ λ^(2^i − 2), i ≥ 1; a finite fleet is always worse, at 100 servers by less than a tenth
// (Mitzenmacher 2001). Above eight endpoints least-request draws two.
test('least-request over 100 servers: between the mean field of two choices and a tenth more', () => {
  let limit = 0;
  for (let i = 1; i < 40; i++) limit += 0.9 ** (2 ** i - 2);
  assert.equal(limit.toFixed(4), '2.6141');
  const scenario = scenarioFrom(spread('least-request', { replicas: 100, rate: 90_000, seconds: 2 }));
  const { mean, low, high } = replicated(5, (seed) => meanLatencyOf(measuredRun(scenario, seed)));
  assert.ok(high - low < 0.2 * limit, 'too wide');
  assert.ok(mean > limit && mean < 1.1 * limit, `${mean}, theory ${limit} to ${1.1 * limit}`);
});

function spread(
  policy: string,
  { replicas, rate, seconds }: { readonly replicas: number; readonly rate: number; readonly seconds: number },
): string {
  return `plimsoll: 1
services: { q: { replicas: ${replicas}, workers: 1, service_time: exponential 1ms, queue: { limit: 1000000 } } }
gateway: { policy: ${policy}, timeout: 10h }
clients: { users: { timeout: 20h } }
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
warm_up: ${seconds / 10}s
duration: ${seconds}s
`;
}

// The machine-repair model: N users with thought Z at one exponential server. By mean value analysis R(n) = S(1 + L(n−1)),
// X(n) = n/(R(n) + Z), L(n) = X(n)R(n). One kind of thought is as good as another: an infinite server is insensitive.
for (const think of ['1s', 'exponential 1s', 'uniform 0s 2s']) {
  test(`a closed loop at one server, think ${think}: throughput and response time by mean value analysis`, () => {
    let inside = 0;
    let throughput = 0;
    let response = 0;
    for (let users = 1; users <= 20; users++) {
      response = 40 * (1 + inside);
      throughput = users / (response + 1000);
      inside = throughput * response;
    }
    assert.equal((throughput * 1e3).toFixed(3), '18.003');
    const scenario = scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 1, service_time: exponential 40ms } }
clients: { users: { timeout: 10h } }
demand: [{ closed: { users: 20, think: ${think} } }]
warm_up: 60s
duration: 2000s
`);
    const runs = Array.from({ length: 10 }, (_, index) => measuredRun(scenario, index + 1));
    check(
      replicated(10, (seed) => throughputOf(runs[seed - 1] ?? assert.fail())),
      throughput * 1e3,
      0.01,
    );
    check(
      replicated(10, (seed) => meanLatencyOf(runs[seed - 1] ?? assert.fail())),
      response,
      0.05,
    );
  });
}

// Two groups, and more users than eight workers can serve: a product form with several servers, summed by `closedNetwork`.
test('thousands of exponential thinkers over a saturated station: the product form', () => {
  const users = 2000;
  const theory = closedNetwork({ users, think: 2, stations: [{ demand: 0.01, servers: 8 }] });
  const scenario = scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 8, service_time: exponential 10ms, queue: { limit: 100000 } } }
clients: { left: { timeout: 10h, service: q }, right: { timeout: 10h, service: q } }
demand:
  - { clients: left, closed: { users: 1200, think: exponential 2s } }
  - { clients: right, closed: { users: 800, think: exponential 2s } }
warm_up: 20s
duration: 60s
`);
  check(
    replicated(6, (seed) => replicaOf(measuredRun(scenario, seed), 'q-1').in_flight_mean ?? 0),
    theory.stations[0]?.inFlight ?? 0,
    0.12,
  );
});
