import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../base.ts';
import { measuredRun, scenarioFrom } from './measured-run.ts';
import { Gathering } from './walks.ts';

/** One replica that serves everybody in 10 ms, one after the other. */
const run = (demand: string) =>
  measuredRun(
    scenarioFrom(`plimsoll: 1
services: { api: { replicas: 1, workers: 1, service_time: constant 10ms } }
demand: [{ closed: { ${demand} } }]
warm_up: 11s
duration: 44s
`),
    1,
  );

test('after each step a user thinks as that step says', () => {
  const { ledger } = run('users: 1, think: 30ms, flow: [GET /a, { get: /b, think: 60ms }]');
  // 10 + 30 + 10 + 60 ms for two requests.
  assert.ok(Math.abs(ledger.planned - (2 * 44_000) / 110) <= 1, `${ledger.planned}`);
});

test('with a pacing a flow begins anew so long after its last beginning, or at once when that is over', () => {
  const paced = run('users: 1, think: 10ms, pacing: 200ms, flow: [GET /a, GET /b]');
  assert.ok(Math.abs(paced.ledger.planned - (2 * 44_000) / 200) <= 1, `${paced.ledger.planned}`);
  const late = run('users: 1, think: 10ms, pacing: 20ms, flow: [GET /a, GET /b]');
  assert.ok(Math.abs(late.ledger.planned - 44_000 / 20) <= 1, `${late.ledger.planned}`);
});

test('users who meet before a step take it together: the last of ten waits for the other nine', () => {
  const { latency } = run('users: 10, think: 500ms, flow: [{ get: /sale, rendezvous: { users: 10, timeout: 1m } }]');
  assert.ok(Math.abs((latency.mean ?? 0) - 55e6) < 1e6, `${latency.mean}`);
  assert.ok(Math.abs((latency.max ?? 0) - 100e6) < 1e6, `${latency.max}`);
  const alone = run('users: 10, think: 500ms, flow: [{ get: /sale }]');
  assert.ok((alone.latency.max ?? 0) < 11e6);
});

test('who waits for others goes with those who are there when the first has waited long enough', () => {
  const left: string[] = [];
  const expiries: number[] = [];
  const gathering = new Gathering(
    { users: 3, timeout: ms(200) },
    { schedulePass: (at) => expiries.push(at) },
    (user, now) => left.push(`${user} at ${now / 1e6}`),
  );
  gathering.join(1, 0);
  gathering.join(2, 50e6);
  gathering.join(3, 100e6);
  assert.deepEqual(left, ['1 at 100', '2 at 100', '3 at 100']);
  gathering.join(4, 150e6);
  gathering.join(5, 190e6);
  // The time of the first user of those who have left means nothing to these.
  gathering.pass(200e6);
  assert.equal(left.length, 3);
  gathering.pass(350e6);
  assert.deepEqual(left.slice(3), ['4 at 350', '5 at 350']);
  assert.deepEqual(expiries, [200e6, 350e6]);
});
