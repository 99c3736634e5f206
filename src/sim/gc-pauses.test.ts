import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baselineOf } from '../scenario.ts';
import { measuredRun, meanLatencyOf, replicaOf, replicated, scenarioFrom } from './measured-run.ts';
import { Simulation } from './simulation.ts';
import { eventNames } from './world.ts';

// A server that is interrupted at rate θ while it runs, for R each time, and then resumes: all work takes 1 + θE(R) times as long, and
// who comes while it stands still waits for the rest of that first. With PASTA and Little's law for the unfinished work
// Wq = (λE(S²)(1 + θE(R))²/2 + θE(R²)/(2(1 + θE(R)))) / (1 − ρ(1 + θE(R))): Avi-Itzhak and Naor, Operations Research 11 (1963).
test('M/M/1 that stands still again and again: the mean sojourn is that of a queue with interruptions', () => {
  const [rate, mean, every, length] = [50, 0.01, 0.5, 0.05];
  const slower = 1 + length / every;
  const waits =
    ((rate * 2 * mean ** 2 * slower ** 2) / 2 + length ** 2 / every / (2 * slower)) / (1 - rate * mean * slower);
  const truth = (waits + mean * slower) * 1000;
  const scenario = scenarioFrom(`plimsoll: 1
services:
  q:
    replicas: 1
    workers: 1
    service_time: exponential 10ms
    queue: { limit: 1000000 }
    gc_pauses: { every: exponential ${every}s, length: constant ${length}s }
clients: { users: { timeout: 10h } }
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
warm_up: 10s
duration: 300s
`);
  const { low, high, mean: measured } = replicated(10, (seed) => meanLatencyOf(measuredRun(scenario, seed)));
  assert.ok(high - low < 0.12 * truth && low <= truth && truth <= high, `${measured}: ${low} to ${high}, ${truth}`);
});

const fleet = (keys: string, faults = ''): string => `plimsoll: 1
services: { api: { replicas: 3, workers: 4, service_time: constant 10ms, ${keys} } }
demand: [{ closed: { users: 3 } }]
faults: [${faults}]
warm_up: 0s
duration: 20s
`;

/** When each replica began and ended its pauses. */
function pausesOf(text: string): readonly (readonly number[])[] {
  const scenario = scenarioFrom(text);
  const simulation = new Simulation(scenario, { seed: 1 });
  const at: number[][] = [[], [], []];
  simulation.trace = (kind, subject, now) => {
    if (eventNames[kind] === 'gcPause') at[subject]?.push(now);
  };
  for (const line of simulation.play(baselineOf(scenario))) void line;
  return at;
}

test('pauses are as long and as far apart as they are drawn, and replicas do not pause in step', () => {
  const at = pausesOf(fleet('gc_pauses: { every: constant 1s, length: constant 250ms }'));
  for (const times of at) {
    const [first = Infinity] = times;
    assert.ok(first < 1e9, `${first}`);
    assert.deepEqual(
      times,
      Array.from({ length: times.length }, (_, index) => first + 1.25e9 * (index >> 1) + 0.25e9 * (index % 2)),
    );
  }
  assert.equal(new Set(at.map(([first]) => first)).size, 3);
});

test('one replica more pauses on a stream of its own', () => {
  const keys = 'gc_pauses: { every: exponential 1s, length: log-normal 20ms 200ms }';
  assert.deepEqual(pausesOf(fleet(keys)).slice(0, 2), pausesOf(fleet(keys).replace('3, w', '2, w')).slice(0, 2));
});

test('nothing is done in a pause, whether it is timed or computed', () => {
  // Four workers of 10 ms; one processor, one after the other; or all together, so that it is idle while all are served.
  for (const [keys, usual] of [
    ['', 400],
    [', cpu_time: 10ms', 100],
    [', cpu_time: 10ms, cpu_scheduling: shared', 80],
  ] as const) {
    const text = fleet(`gc_pauses: { every: constant 400ms, length: constant 100ms }${keys}`)
      .replace('replicas: 3', 'replicas: 1')
      .replace('users: 3', 'users: 4');
    const { ledger } = measuredRun(scenarioFrom(text), 1);
    assert.ok(Math.abs(ledger.answered / 20 - 0.8 * usual) < 0.01 * usual, `${keys}: ${ledger.answered / 20}`);
  }
});

test('a replica that is killed in its pause is up when it is started again, and does not hear of the end of that pause', () => {
  const keys = 'gc_pauses: { every: constant 30s, length: constant 2s }';
  const begins = Math.ceil((pausesOf(fleet(keys))[0]?.[0] ?? 0) / 1e6);
  const text = fleet(keys, `{ at: ${begins + 10}ms, for: 10ms, kill: api-1 }`)
    .replace('replicas: 3', 'replicas: 1')
    .replace('duration: 20s', `duration: ${begins + 5000}ms`);
  const { finished = 0 } = replicaOf(measuredRun(scenarioFrom(text), 1), 'api-1');
  // Three users, 10 ms each time; a tenth of a second is lost.
  assert.ok(finished > ((begins + 5000 - 150) / 10) * 3, `${finished} in ${begins + 5000} ms`);
});

test('nobody hears of a failure either while the process stands still', () => {
  const keys = 'gc_pauses: { every: constant 400ms, length: constant 100ms }';
  const text = fleet(keys, '{ fail: { replica: api-1, share: 1, after: 30ms } }').replace('replicas: 3', 'replicas: 1');
  const scenario = scenarioFrom(text);
  const simulation = new Simulation(scenario, { seed: 1 });
  let pausesSince: number | undefined;
  simulation.trace = (kind, _, now) => {
    if (eventNames[kind] === 'gcPause') pausesSince = pausesSince === undefined ? now : undefined;
  };
  let heard = 0;
  simulation.world.books.listener = (_group, _station, _kind, _dueAt, now) => {
    heard += 1;
    // What failed right before is still on its way.
    assert.ok(now - (pausesSince ?? now) <= 200e3, `${now}`);
  };
  for (const line of simulation.play(baselineOf(scenario))) void line;
  assert.ok(heard > 1000);
});

test('whoever scrapes waits for a short pause, and a tick that ends in one is told all the same', () => {
  const { tick } = measuredRun(scenarioFrom(fleet('gc_pauses: { every: constant 1ms, length: constant 15s }')), 1);
  for (const replica of tick.replicas) {
    assert.equal(replica.state, 'up');
    assert.ok(replica.busy_workers_mean !== undefined);
  }
});
