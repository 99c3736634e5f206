// Load lines of fleets whose edges are known: by capacity, and by the rule that retries multiply.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseScenario, type Scenario } from '../scenario.ts';
import { type LoadLine, loadLine } from './load-line.ts';

/** Two replicas of four workers, 20 ms: 200/s each, so 200/s on a bad day. */
function fleet(clients: string, more = ''): Scenario {
  const parsed = parseScenario(
    `plimsoll: 1
name: fleet
services: { api: { replicas: 2, workers: 4, service_time: exponential 20ms, queue: { limit: 100000 }${more} } }
${more.includes('store') ? 'dependencies: { store: { workers: 8, service_time: exponential 1ms } }' : ''}
gateway: { timeout: 1h }
clients: { users: { timeout: 500ms${clients} } }
demand: [{ open: { rate: 150/s } }]
`,
    'fleet.yaml',
  );
  return 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
}

const lineOf = (scenario: Scenario): Promise<LoadLine> => loadLine(scenario, { seed: 1, workers: 1, certain: 6 });

// Half a second is ten service times: an M/M/4 queue at 93 % keeps 99 % of its requests below it.
test('without retries a fleet bears nearly what its replicas but one can do, and recovers as fast as its queue drains', async () => {
  const { fail, recover, capacity, against } = await lineOf(fleet(''));
  assert.equal(capacity, 200);
  assert.deepEqual(against, ['1 of 2 replicas of api']);
  assert.ok(fail.half > 175 && fail.half < 200, `${fail.half}`);
  // In the slow spell 15·(λ − 40) requests pile up, and 30 s later they must be gone: λ ≤ (30·200 + 15·40) ÷ 45 = 147/s. The
  // search stops within 2 % of where it began.
  assert.ok(Math.abs(recover.half - 147) < 8, `${recover.half}`);
  assert.ok(fail.safe <= fail.half && recover.safe <= recover.half);
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
  assert.deepEqual(slow.unbounded, []);
  assert.ok(slow.fail.half > 22 && slow.fail.half < 34, `${slow.fail.half}`);
  const endless = await lineOf(fleet('', ', calls: [{ to: store }]'));
  assert.deepEqual(endless.unbounded, ['api → store']);
});
