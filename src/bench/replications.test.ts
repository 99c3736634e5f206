// Intervals over replications, against theory and against themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baselineOf, parseScenario, type Scenario } from '../scenario.ts';
import { replicateAll } from './replicate-all.ts';
import { type FigureInterval, intervalsOf, predictionsOf, replicate, seedsFrom, settled } from './replications.ts';

function scenarioFrom(text: string): Scenario {
  const parsed = parseScenario(text, 'test.yaml');
  return 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
}

/** M/M/1 at 80 %, 1 ms: the sojourn is exponential with mean 5 ms, so its p99 is 5·ln 100 = 23.03 ms. */
const queue = (seconds: number): Scenario =>
  scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 1, service_time: exponential 1ms, queue: { limit: 1000000 } } }
clients: { users: { timeout: 1h } }
demand: [{ open: { rate: 800/s } }]
warm_up: 1s
duration: ${seconds}s
`);

const named = (figures: readonly FigureInterval[], name: string): FigureInterval =>
  figures.find((figure) => figure.name === name) ?? assert.fail(`no ${name}`);

test('twenty runs of M/M/1: throughput, median and 99th percentile hold the truth in their intervals', () => {
  const figures = intervalsOf(seedsFrom(1, 20).map((seed) => replicate(queue(60), seed)));
  for (const [name, truth, width] of [
    ['throughput', 800, 5],
    ['p50', 5e6 * Math.log(2), 0.4e6],
    ['p99', 5e6 * Math.log(100), 4e6],
  ] as const) {
    const { low, high } = named(figures, name);
    assert.ok(low <= truth && truth <= high, `${name}: ${low} to ${high}, truth ${truth}`);
    assert.ok(high - low < width, `${name}: ${high - low} wide`);
  }
});

// Of 60 intervals of 95 %, three miss on average; more than eight do so once in two hundred times. The shares are exact here:
// the runs are long enough for their means to be about normal.
test('of sixty intervals for the throughput at most eight miss the truth', () => {
  let missed = 0;
  for (let trial = 0; trial < 60; trial++) {
    const runs = seedsFrom(1000 + trial * 10, 6).map((seed) => replicate(queue(4), seed));
    const { low, high } = named(intervalsOf(runs), 'throughput');
    if (low > 800 || high < 800) missed += 1;
  }
  assert.ok(missed <= 8, `${missed} of 60`);
});

test('where one further run lies is wider than where the mean does, by the root of the number of runs and one', () => {
  const runs = seedsFrom(1, 24).map((seed) => replicate(queue(4), seed));
  const mean = named(intervalsOf(runs), 'throughput');
  const run = named(predictionsOf(runs), 'throughput');
  assert.ok(Math.abs((run.high - run.low) / (mean.high - mean.low) - 5) < 1e-9);
});

test('threads change nothing: the same runs in the same order', async () => {
  const jobs = seedsFrom(7, 5).map((seed) => ({ scenario: queue(2), seed }));
  assert.deepEqual(await replicateAll(jobs, 2), await replicateAll(jobs, 1));
});

test('a pile that grows slowly is cut off; a fleet below its knee settles at once; what ends on the way is left alone', () => {
  const pile = (more: string): Scenario =>
    scenarioFrom(`plimsoll: 1
services: { api: { replicas: 4, workers: 4, service_time: exponential 20ms } }
gateway: { timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ closed: { users: 200${more.includes('think') ? ', think: 1s' : ''} } }]
faults: [{ slow: { replica: api-3, factor: 1.15 }${more.includes('ends') ? ', for: 5s' : ''} }]
warm_up: 0s
duration: 60s
`);
  const growing = settled(pile(''), 1).arrangement.warmUp;
  assert.ok(growing >= 1.5e9 && growing < 30e9, `${growing / 1e9} s`);
  assert.ok(settled(pile('think'), 1).arrangement.warmUp < 3e9);
  assert.deepEqual(settled(pile('ends'), 1).arrangement, baselineOf(pile('ends')));
});
