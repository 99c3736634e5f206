import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../base.ts';
import { backlogs, backlogThreshold, type Steps, stepsByReplica } from './backlog.ts';
import type { SeenRequest } from './seen.ts';

function request(startMs: number, endMs: number, replica: string): SeenRequest {
  return {
    startMs,
    endMs,
    handedMs: startMs,
    replica,
    attempts: 1,
    client: undefined,
    service: undefined,
    status: 200,
    error: undefined,
    stepMs: 1,
  };
}

/** A replica with `workers` and exponential work of `mean` ms, asked by Poisson arrivals of `rate` per ms. */
function station(
  replica: string,
  workers: number,
  mean: number,
  rate: number,
  milliseconds: number,
  seed: number,
): SeenRequest[] {
  const die = dice(seed, replica);
  const free = Array.from({ length: workers }, () => 0);
  const requests: SeenRequest[] = [];
  for (let at = die.exponential(1 / rate); at < milliseconds; at += die.exponential(1 / rate)) {
    const worker = free.indexOf(Math.min(...free));
    const end = Math.max(at, free[worker] ?? 0) + die.exponential(mean);
    free[worker] = end;
    requests.push(request(at, end, replica));
  }
  return requests;
}

function stepsOf(requests: readonly SeenRequest[], replica: string): Steps {
  return stepsByReplica(requests, [replica]).get(replica) ?? assert.fail('a replica that is named has steps');
}

const spans = { origin: 0, length: 1000, count: 200 };

function capacity(requests: readonly SeenRequest[], replica: string, threshold: number): number {
  const found = backlogs(stepsOf(requests, replica), threshold, spans);
  const finished = found.reduce((sum, one) => sum + one.finished, 0);
  return finished / (found.reduce((sum, one) => sum + one.milliseconds, 0) / 1000);
}

test('with more inside than workers, answers leave at the capacity, whatever the load', () => {
  // Capacity 4 ÷ 20 ms = 200/s; a count of n answers is off by 1/√n, four times that is allowed.
  for (const [rate, seed] of [
    [0.17, 1],
    [0.19, 2],
    [0.195, 3],
  ] as const) {
    const requests = station('a', 4, 20, rate, 200_000, seed);
    const found = capacity(requests, 'a', 6);
    assert.ok(Math.abs(found / 200 - 1) < 4 / Math.sqrt(10_000), `seed ${seed}: ${found}/s`);
  }
});

test('a threshold below the pool makes it look slower, never faster', () => {
  const requests = station('a', 16, 80, 0.15, 200_000, 4);
  assert.ok(capacity(requests, 'a', 4) < 190);
  assert.ok(capacity(requests, 'a', 20) > capacity(requests, 'a', 4));
});

test('the threshold is as high as the least loaded replica allows, and at least 3', () => {
  const busy = station('a', 4, 20, 0.195, 100_000, 5);
  const idle = station('b', 4, 20, 0.05, 100_000, 6);
  assert.equal(backlogThreshold(stepsByReplica([...busy, ...idle], ['a', 'b']).values()), 3);
  const both = [...busy, ...station('b', 4, 20, 0.19, 100_000, 7)];
  assert.ok(backlogThreshold(stepsByReplica(both, ['a', 'b']).values()) > 6);
});

test('time and answers fall into the spans in which they happen', () => {
  const requests = [request(500, 2500, 'a'), request(600, 2600, 'a'), request(700, 1200, 'a')];
  assert.deepEqual(backlogs(stepsOf(requests, 'a'), 3, { origin: 0, length: 1000, count: 3 }), [
    { milliseconds: 300, finished: 0 },
    { milliseconds: 200, finished: 1 },
    { milliseconds: 0, finished: 0 },
  ]);
});
