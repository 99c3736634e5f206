// How many replications an error takes, against the root law and against the truth.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baselineOf, parseScenario } from '../scenario.ts';
import { replicateUntil } from './replicate-until.ts';
import { intervalsOf } from './replications.ts';

/** M/M/1 at 50 %, 1 ms: the sojourn is exponential with mean 2 ms. */
const parsed = parseScenario(
  `plimsoll: 1
services: { q: { replicas: 1, workers: 1, service_time: exponential 1ms, queue: { limit: 1000000 } } }
clients: { users: { timeout: 1h } }
demand: [{ open: { rate: 500/s } }]
warm_up: 1s
duration: 2s
`,
  'queue.yaml',
);
const scenario = 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
const options = { scenario, arrangement: baselineOf(scenario), seed: 1, workers: 1, most: 400 };

test('it goes on until throughput and quantiles are as exact as asked, and holds the truth then', async () => {
  const { replications, reached } = await replicateUntil({ ...options, relativeError: 0.04 });
  assert.ok(reached <= 0.04 && replications.length > 10 && replications.length < 400, `${replications.length}`);
  const median = intervalsOf(replications).find(({ name }) => name === 'p50') ?? assert.fail('a median');
  const truth = 2e6 * Math.log(2);
  assert.ok(median.low < truth && truth < median.high, JSON.stringify(median));
});

test('half the error takes about four times as many; what is exact enough at once takes ten', async () => {
  const rough = await replicateUntil({ ...options, relativeError: 0.08 });
  const fine = await replicateUntil({ ...options, relativeError: 0.04 });
  // The needed number is itself known to some 30 %, and rounds of ten make it coarse.
  const ratio = fine.replications.length / rough.replications.length;
  assert.ok(ratio > 2 && ratio < 8, `${rough.replications.length}, then ${fine.replications.length}`);
  assert.equal((await replicateUntil({ ...options, relativeError: 10 })).replications.length, 10);
});

test('the most is never passed, and what was reached is told', async () => {
  const { replications, reached, figure } = await replicateUntil({ ...options, relativeError: 0.0001, most: 23 });
  assert.equal(replications.length, 23);
  assert.ok(reached > 0.0001 && figure === 'p99', `${figure} ${reached}`);
});

test('who stops it gets whole rounds', async () => {
  const stop = new AbortController();
  const onRun = (finished: number): void => {
    if (finished === 15) stop.abort();
  };
  const { replications } = await replicateUntil({ ...options, relativeError: 0.0001, stop: stop.signal, onRun });
  assert.equal(replications.length, 10);
});
