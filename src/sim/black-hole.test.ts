// A replica that answers errors at once looks idle, so whoever sends to the least busy sends to it. Shares from an independent
// simulation (one run each): 600/s, four replicas of four workers, 20 ms exponential, one of them failing in 1 ms.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measuredRun, replicaOf, scenarioFrom } from './measured-run.ts';

function shareOfTheFailing(policy: string, demand: string): { readonly share: number; readonly rate: number } {
  const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 4, workers: 4, service_time: exponential 20ms } }
gateway: { policy: ${policy}, timeout: 1h }
clients: { users: { timeout: 2h } }
demand: [{ ${demand} }]
faults: [{ fail: { replica: api-2, after: 1ms } }]
warm_up: 5s
duration: 120s
`);
  const run = measuredRun(scenario, 1);
  const all = run.tick.replicas.reduce((sum, { finished }) => sum + (finished ?? 0), 0);
  const bad = replicaOf(run, 'api-2').finished ?? 0;
  assert.equal(replicaOf(run, 'api-2').errors?.['status-5xx'], bad, 'everything that it answers is an error');
  return { share: bad / all, rate: all / 120 };
}

test('round robin gives a failing replica its quarter, and no more', () => {
  const { share } = shareOfTheFailing('round-robin', 'open: { rate: 600/s }');
  assert.ok(Math.abs(share - 0.25) < 0.001, `${share}`);
});

test('least-request sends two thirds of 600/s into the hole', () => {
  const { share } = shareOfTheFailing('least-request', 'open: { rate: 600/s }');
  assert.ok(Math.abs(share - 0.675) < 0.03, `${share}`);
});

// Closed and saturated, each replica takes what it can: c_bad ÷ Σ c = 4000 ÷ 4600, at one worker's turn of 1 ms each.
test('closed users are swallowed by it: seven eighths fail, and the test looks six times faster', () => {
  const { share, rate } = shareOfTheFailing('least-request', 'closed: { users: 16 }');
  assert.ok(share > 0.8 && share < 0.97, `${share}`);
  assert.ok(rate > 3 * 800, `${rate} a second of a fleet that can do 800`);
});
