import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measuredRun, replicaOf, scenarioFrom, throughputOf } from './measured-run.ts';

const run = (order: string, rate: number, timeout = '1h', limit = 1_000_000) =>
  measuredRun(
    scenarioFrom(`plimsoll: 1
services: { api: { replicas: 1, workers: 4, service_time: exponential 20ms, queue: { limit: ${limit}, order: ${order} } } }
gateway: { timeout: 1h }
clients: { users: { timeout: ${timeout} } }
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
warm_up: 10s
duration: 400s
`),
    1,
  );

test('the order of the queue changes who waits and not how many: the mean is the same, the median is not', () => {
  const first = run('fifo', 180);
  const last = run('lifo', 180);
  const inside = (one: typeof first): number => replicaOf(one, 'api-1').in_flight_mean ?? Number.NaN;
  // Work is drawn in the order in which it begins, so the busy periods are the very same.
  assert.ok(Math.abs(inside(last) / inside(first) - 1) < 0.001, `${inside(first)} and ${inside(last)}`);
  const median = (one: typeof first): number => one.latency.quantile(0.5)?.value ?? Number.NaN;
  assert.ok(median(last) < 0.75 * median(first), `${median(first) / 1e6} and ${median(last) / 1e6} ms`);
});

test('under overload the newest first still answers somebody in time, the oldest first nobody', () => {
  // 200/s are the capacity, 300/s are asked, and clients wait half a second.
  assert.ok(throughputOf(run('fifo', 300, '500ms')) < 5);
  assert.ok(throughputOf(run('lifo', 300, '500ms')) > 100);
});

test('controlled delay keeps the queue short under overload, and refuses hardly anybody when there is room', () => {
  const over = run('codel', 300, '500ms');
  assert.ok(throughputOf(over) > 185, `${throughputOf(over)}/s of 200/s`);
  assert.ok((over.latency.quantile(0.99)?.value ?? Infinity) < 250e6);
  const under = run('codel', 100, '500ms');
  assert.ok(under.ledger.failed < 0.005 * under.ledger.planned, `${under.ledger.failed} of ${under.ledger.planned}`);
});
