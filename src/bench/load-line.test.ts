// Load lines of fleets whose edges are known: by capacity, and by the rule that retries multiply.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../base.ts';
import { constant, parseScenario, type Scenario } from '../scenario.ts';
import { type Edge, type LoadLine, loadLine, type LoadLineProgress } from './load-line.ts';

/** Two replicas of four workers, 20 ms: 200/s each, so 200/s on a bad day. */
function fleet(clients: string, more = ''): Scenario {
  return scenarioFrom(`plimsoll: 1
name: fleet
services: { api: { replicas: 2, workers: 4, service_time: exponential 20ms, queue: { limit: 100000 }${more} } }
${more.includes('store') ? 'dependencies: { store: { workers: 8, service_time: exponential 1ms } }' : ''}
gateway: { timeout: 1h }
clients: { users: { timeout: 500ms${clients} } }
demand: [{ open: { rate: 150/s } }]
`);
}

function scenarioFrom(text: string): Scenario {
  const parsed = parseScenario(text, 'fleet.yaml');
  return 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
}

/** The whole of it: a search that nobody stopped. */
async function lineOf(scenario: Scenario): Promise<{ line: LoadLine; fail: Found; recover: Found }> {
  const line = await loadLine(scenario, { seed: 1, workers: 1, certain: 6 });
  return { line, fail: found(line.fail), recover: found(line.recover) };
}

interface Found {
  readonly safe: number;
  readonly half: number;
}

function found(edge: Edge | undefined): Found {
  assert.ok(edge?.safe !== undefined, 'both edges were searched to their end');
  assert.ok(edge.safe <= edge.half && edge.low <= edge.half && edge.half <= edge.high, JSON.stringify(edge));
  return { safe: edge.safe, half: edge.half };
}

// One replica of four workers and 20 ms is left: an M/M/4 queue whose rate of arrivals may come up to 200/s, and no further.
test('nobody has patience: a fleet sinks where its queue is not stable any more, whatever its workers or its service times', async () => {
  for (const [workers, time, capacity] of [
    [4, '20ms', 200],
    [1, '2ms', 500],
    [50, '500ms', 100],
  ] as const) {
    const settings = `queue: { limit: 100000 }`;
    const scenario = scenarioFrom(`plimsoll: 1
name: patient
services: { api: { replicas: 2, workers: ${workers}, service_time: exponential ${time}, ${settings} } }
gateway: { timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ open: { rate: 50/s } }]
`);
    const { line, fail } = await lineOf(scenario);
    assert.ok(Math.abs(line.capacity - capacity) < 1e-6, `${line.capacity}`);
    // One in a hundred left behind is 1 % above; the search ends within 2 %.
    assert.ok(Math.abs(fail.half / capacity - 1) < 0.035, `${workers} workers: ${fail.half} of ${capacity}`);
  }
});

// Half a second is ten service times: an M/M/4 queue at 93 % keeps 99 % of its requests below it.
test('without retries a fleet bears nearly what its replicas but one can do, and recovers as fast as its queue drains', async () => {
  const { line, fail, recover } = await lineOf(fleet(''));
  assert.deepEqual(line.against, ['1 of 2 replicas of api']);
  assert.ok(fail.half > 175 && fail.half < 200, `${fail.half}`);
  // In the slow spell 15·(λ − 40) requests pile up, and 30 s later they must be gone: λ ≤ (30·200 + 15·40) ÷ 45 = 147/s. The
  // search ends within 2 %.
  assert.ok(Math.abs(recover.half - 147) < 8, `${recover.half}`);
});

test('clients that ask four times come back only below a quarter of the capacity, and a budget lifts the line again', async () => {
  const stubborn = await lineOf(fleet(', retry: { retries: 3 }'));
  assert.ok(stubborn.fail.half > 160, `${stubborn.fail.half}`);
  assert.ok(stubborn.recover.half < 55 && stubborn.recover.half > 20, `${stubborn.recover.half}`);
  const frugal = await lineOf(fleet(', retry: { retries: 3, budget: 10% }'));
  assert.ok(frugal.recover.half > 2.5 * stubborn.recover.half, `${frugal.recover.half}`);
});

// A call that takes 98 ms on a bad day holds its worker: 4 ÷ (20 + 98) ms = 34/s.
test('a dependency at its timeout counts, and a call without one leaves no safe load at all', async () => {
  const slow = await lineOf(fleet('', ', calls: [{ to: store, timeout: 100ms }]'));
  assert.deepEqual(slow.line.unbounded, []);
  assert.ok(slow.fail.half > 22 && slow.fail.half < 34, `${slow.fail.half}`);
  const endless = await lineOf(fleet('', ', calls: [{ to: store }]'));
  assert.deepEqual(endless.line.unbounded, ['api → store']);
});

test('a dependency at its timeout answers in time over a network, too', async () => {
  const call = ', calls: [{ to: store, timeout: 60ms }]';
  const { fail } = await lineOf({ ...fleet('', call), network: { delay: constant(ms(2)), loss: 0, faults: [] } });
  // One replica of four workers that hold 20 + 58.8 ms each: 50.8/s.
  assert.ok(fail.half > 0.8 * 50.8 && fail.half < 51.5, JSON.stringify(fail));
});

test('where a processor is the limit, the line is its line', async () => {
  const { line, fail } = await lineOf(fleet('', ', cpu_time: 10ms, cpu_quota: 0.5'));
  assert.equal(line.capacity, 50);
  assert.ok(fail.half > 35 && fail.half < 52, `${fail.half}`);
});

test('of many copies one is searched, and all of them are told', async () => {
  const text = `plimsoll: 1
name: many
services: { shop: { copies: 30, replicas: 2, workers: 4, service_time: exponential 20ms } }
gateway: { timeout: 1h }
clients: { users: { service: shop, timeout: 500ms } }
demand: [{ clients: users, open: { rate: 3000/s } }]
`;
  const { line, fail } = await lineOf(scenarioFrom(text));
  assert.equal(line.copies, 30);
  assert.deepEqual(line.against, ['1 of 2 replicas of shop-1, in each of 30 services']);
  assert.ok(Math.abs((line.now ?? 0) - 3000) < 1e-6 && Math.abs(line.capacity - 6000) < 1e-6, JSON.stringify(line));
  assert.ok(fail.half > 30 * 175 && fail.half < 30 * 200, `${fail.half}`);
});

test('who stops the search gets what was found, and is told how far it got', async () => {
  const stop = new AbortController();
  const progress: LoadLineProgress[] = [];
  const line = await loadLine(fleet(''), {
    seed: 1,
    workers: 1,
    certain: 6,
    stop: stop.signal,
    onProgress: (at) => {
      progress.push(at);
      if (at.edge === 'recover' && progress.filter(({ edge }) => edge === 'recover').length === 2) stop.abort();
    },
  });
  assert.ok(line.fail.safe !== undefined && line.recover !== undefined && line.recover.safe === undefined);
  assert.ok(line.recover.low < line.recover.high && line.recover.high <= line.fail.half);
  assert.ok(progress.every(({ low, high }) => low <= high));
  await assert.rejects(
    loadLine(fleet(''), { seed: 1, workers: 1, stop: AbortSignal.abort(new Error('at once')) }),
    /at once/,
  );
});
