import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measuredRun, replicaOf, scenarioFrom } from './measured-run.ts';

const rate = 200;

/** Every try times out after 20 ms. */
const shop = (retries: string) =>
  measuredRun(
    scenarioFrom(`plimsoll: 1
services:
  api:
    replicas: 1
    workers: 200
    service_time: constant 10ms
    calls: [{ to: store, timeout: 20ms, ${retries} }]
dependencies: { store: { workers: 100, service_time: constant 30ms } }
demand: [{ open: { rate: ${rate}/s } }]
duration: 20s
`),
    1,
  );

test('a wait before each further try is drawn below a ceiling that doubles, and holds the worker', () => {
  const run = shop('retries: 2, back_off: 40ms');
  const { mean = 0, max = 0 } = run.latency;
  const waits = mean - 70.2e6;
  // Uniform below 40 ms, then below 120 ms: 80 ms on average, 36.5 ms of spread, over 4,000 requests.
  assert.ok(Math.abs(waits - 80e6) < (4 * 36.5e6) / Math.sqrt(run.ledger.planned), `${waits / 1e6} ms`);
  assert.ok(max > 200e6 && max <= 230.2e6 * 1.01);
});

test('a budget of a tenth allows each call a tenth of a try more, and one a second besides', () => {
  const run = shop('retries: 2, budget: 10%');
  // The store serves every try to its end, for 30 ms.
  const asked = run.ledger.planned / 20;
  const tries = (replicaOf(run, 'store-1').busy_workers_mean ?? 0) / (asked * 0.03);
  assert.ok(Math.abs(tries - (1.1 + 1 / rate)) < 0.01, `${tries} tries a call`);
});
