// Published results and the arithmetic of failure patterns, played again in imagined time: each table with the figure to reproduce
// beside ours. The pages in docs/background hold what this printed.
//
//   npm run bench:published                      all tables
//   npm run bench:published -- two-choices       one of them: two-choices, convoy, eviction, black-hole, prequal
//
// Equal seeds print equal tables on any machine.

import { baselineOf } from '../scenario.ts';
import type { TickLine } from '../record.ts';
import { meanInterval } from '../stats.ts';
import { measuredRun, meanLatencyOf, replicaOf, scenarioFrom, throughputOf } from './measured-run.ts';
import { prequalTable } from './prequal.bench.ts';
import { Simulation } from './simulation.ts';

const tables: Readonly<Record<string, () => void>> = {
  'two-choices': twoChoices,
  convoy,
  eviction,
  'black-hole': blackHole,
  prequal: prequalTable,
};
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? Object.keys(tables) : wanted) {
  const print = tables[name];
  if (print === undefined) throw new Error(`there is no table ${name}: expected ${Object.keys(tables).join(', ')}`);
  print();
  console.log('');
}

/** Mitzenmacher's supermarket: 100 servers, each customer takes the shorter of two queues. Times in mean service times. */
function twoChoices(): void {
  console.log('| λ | dice | two, n → ∞ | two, n = 100, published | here | within |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const published = [
    [0.5, 1.2673],
    [0.7, 1.6202],
    [0.8, 1.9585],
    [0.9, 2.6454],
    [0.95, 3.461],
    [0.99, 5.9275],
  ] as const;
  for (const [load, paper] of published) {
    const seconds = load > 0.97 ? 120 : 40;
    const runs = [1, 2, 3, 4].map((seed) => {
      const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 100, workers: 1, service_time: exponential 10ms, queue: { limit: 1000000 } } }
gateway: { policy: least-request, timeout: 1h }
clients: { users: { timeout: 1h } }
demand: [{ open: { rate: ${load * 10_000}/s, arrivals: poisson } }]
warm_up: ${seconds / 4}s
duration: ${seconds}s
`);
      return meanLatencyOf(measuredRun(scenario, seed)) / 10;
    });
    const interval = meanInterval(runs, 0.95);
    const mean = interval?.mean ?? Number.NaN;
    const half = ((interval?.high ?? 0) - (interval?.low ?? 0)) / 2;
    const field = meanField(load);
    console.log(
      `| ${load} | ${(1 / (1 - load)).toFixed(2)} | ${field.toFixed(3)} | ${paper.toFixed(3)} | ${mean.toFixed(3)} ± ${half.toFixed(3)} | ${percent(mean / paper - 1)} |`,
    );
  }
}

/** E(T) = Σ λ^((2^i − 2)/1), i from 1: n → ∞, two choices, mean service 1. */
function meanField(load: number): number {
  let sum = 0;
  for (let i = 1; i <= 60; i++) sum += load ** (2 ** i - 2);
  return sum;
}

/** Four replicas of four workers, 20 ms exponential, the third one slower. */
function convoy(): void {
  console.log('| users | slow by | policy | R·c_slow | reference X | X here | held by it, reference | here |');
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  const rows = [
    [64, 1, 'round-robin', '0s', 773, 15.4],
    [64, 1.05, 'round-robin', '0s', 757, 33],
    [64, 1.1, 'round-robin', '0s', 719, 44],
    [64, 1.3, 'round-robin', '0s', 612, 53],
    [128, 1.1, 'round-robin', '0s', 719, 107],
    [16, 1.1, 'round-robin', '0s', 637, 4.7],
    [64, 1.1, 'round-robin', '100ms', 521, 3.3],
    [64, 1.1, 'least-request', '0s', 781, 16],
    [64, 1.1, 'random', '0s', 721, 33],
  ] as const;
  for (const [users, factor, policy, think, reference, held] of rows) {
    const run = measuredRun(
      scenarioFrom(`plimsoll: 1
services: { api: { replicas: 4, workers: 4, service_time: exponential 20ms } }
gateway: { policy: ${policy}, timeout: 1h }
clients: { users: { timeout: 1h } }
demand: [{ closed: { users: ${users}, think: ${think} } }]
faults: [{ slow: { replica: api-3, factor: ${factor} } }]
warm_up: 20s
duration: 300s
`),
      1,
    );
    const inside = replicaOf(run, 'api-3').in_flight_mean ?? Number.NaN;
    const waits = think === '0s' ? '' : `, think ${think}`;
    console.log(
      `| ${users}${waits} | ${factor === 1 ? '–' : `× ${factor}`} | ${policy} | ${(800 / factor).toFixed(0)}/s | ${reference}/s | ${throughputOf(run).toFixed(0)}/s | ${held} | ${inside.toFixed(1)} |`,
    );
  }
}

/** Probes that share the queue: every 2 s, 0.5 s, two failures, two successes; a spell at 1.6 times from 30 to 40 s, 560/s. */
function eviction(): void {
  console.log(
    '| tries | fewest in rotation, by run | nobody healthy, most in a second | answered at 80–90 s | at 110–116 s |',
  );
  console.log('| --- | --- | --- | --- | --- |');
  for (const retries of [0, 3]) {
    const runs = [1, 2, 3, 4, 5].map((seed) => evictionTicks(retries, seed));
    const fewest = runs.map((ticks) => Math.min(...ticks.slice(28).map(({ gateway }) => gateway?.healthy ?? 4)));
    const refused = Math.max(
      ...runs.flatMap((ticks) => ticks.map(({ gateway }) => gateway?.errors?.['no-healthy-endpoint'] ?? 0)),
    );
    const answered = (from: number, to: number): string =>
      runs
        .map(
          (ticks) =>
            ticks.slice(from, to).reduce((sum, { clients }) => sum + (clients[0]?.answered ?? 0), 0) / (to - from),
        )
        .map((value) => value.toFixed(0))
        .join(', ');
    console.log(
      `| ${retries + 1} | ${fewest.join(', ')} | ${refused}/s | ${answered(80, 90)}/s | ${answered(110, 116)}/s |`,
    );
  }
}

function evictionTicks(retries: number, seed: number): readonly TickLine[] {
  const faults = [1, 2, 3, 4].map((n) => `  - { at: 30s, for: 10s, slow: { replica: api-${n}, factor: 1.6 } }`);
  const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 4, workers: 4, service_time: exponential 20ms, queue: { limit: 1000000 }, health_shares_pool: true } }
gateway: { policy: round-robin, timeout: 1h, health: { interval: 2s, timeout: 500ms, fall: 2, rise: 2 } }
clients: { users: { timeout: 500ms${retries === 0 ? '' : `, retry: { retries: ${retries} }`} } }
demand: [{ open: { rate: 560/s, arrivals: poisson } }]
faults:
${faults.join('\n')}
warm_up: 0s
duration: 116s
`);
  const simulation = new Simulation(scenario, { seed });
  return [...simulation.play(baselineOf(scenario))].filter((line) => line.kind === 'tick');
}

/** One of K replicas answers errors after a millisecond; eight workers and 40 ms, or four and 20 ms. */
function blackHole(): void {
  console.log('| K | load | policy | its share, reference | here |');
  console.log('| --- | --- | --- | --- | --- |');
  const rows = [
    [4, 600, 4, 20, 'round-robin', '25 %'],
    [4, 600, 4, 20, 'least-request', '67.5 %'],
    [10, 1600, 8, 40, 'round-robin', '10.0 %'],
    [10, 1600, 8, 40, 'least-request', '19.99 % (two choices)'],
    [10, 200, 8, 40, 'least-request', '15.8 % (two choices)'],
    [50, 8000, 8, 40, 'least-request', '4.0 % (two choices)'],
    [3, 480, 8, 40, 'least-request', '83.3 % (full scan)'],
  ] as const;
  for (const [replicas, rate, workers, service, policy, reference] of rows) {
    const run = measuredRun(
      scenarioFrom(`plimsoll: 1
services: { api: { replicas: ${replicas}, workers: ${workers}, service_time: exponential ${service}ms, queue: { limit: 1000000 } } }
gateway: { policy: ${policy}, timeout: 1h }
clients: { users: { timeout: 1h } }
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
faults: [{ fail: { replica: api-2, after: 1ms } }]
warm_up: 5s
duration: 60s
`),
      1,
    );
    const all = run.tick.replicas.reduce((sum, { finished = 0 }) => sum + finished, 0);
    const own = replicaOf(run, 'api-2').finished ?? 0;
    const load = (rate * service) / 1000 / (workers * replicas);
    console.log(`| ${replicas} | ${percent(load)} | ${policy} | ${reference} | ${percent(own / all)} |`);
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
