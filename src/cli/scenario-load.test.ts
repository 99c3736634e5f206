import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { parseScenario } from '../scenario.ts';
import { UsageError } from './exit.ts';
import type { LoadFlags } from './load-plan.ts';
import { scenarioLoad } from './scenario-load.ts';

const flags: LoadFlags = { threads: '1', replicaHeader: 'X-Who', speed: '1', seed: '7', protocol: 'h1' };
const text = `plimsoll: 1
services: { api: {} }
clients: { shoppers: { timeout: 1s, retry: { retries: 2 } }, batch: {} }
demand:
  - { clients: shoppers, closed: { users: 4, flow: [{ get: /, headers: { Host: shop.test } }] } }
  - { clients: batch, open: { rate: 50/s, stages: [{ over: 5s, to: 200/s }] } }
  - { clients: batch, open: { bursts: { size: 9, every: 3s } } }
connections: [{ clients: batch, held: 20, new: 5/s }]
objectives: { http_reqs: count>1 }
warm_up: 2s
duration: 30s
`;

function planned(change: Partial<LoadFlags> = {}, scenario = text) {
  const parsed = parseScenario(scenario, 'shop.yaml');
  assert.ok('scenario' in parsed);
  return scenarioLoad('http://127.0.0.1:8080/', { ...flags, ...change }, parsed.scenario);
}

test('each demand is a group at the address, with the timeout of its clients', () => {
  const { plan, shape, warmUp, lasts, open } = planned();
  assert.deepEqual(
    plan.groups.map(({ group, timeout, targets }) => [group, timeout, targets.map(({ port }) => port)]),
    [
      ['shoppers', seconds(1), [8080]],
      ['batch', seconds(10), [8080]],
      ['batch 2', seconds(10), [8080]],
    ],
  );
  assert.equal(
    shape,
    'the demand of shop: 4 shoppers in a closed loop, batch open at 50 → 200/s, poisson, batch in bursts of 9 every 3.00 s',
  );
  assert.deepEqual([warmUp, lasts, open], [seconds(2), seconds(30), true]);
  assert.deepEqual(plan.groups[0]?.demand.flow[0]?.headers, { host: '127.0.0.1:8080', Host: 'shop.test' });
});

test('clients ask again as the scenario says, and no flag says it otherwise', () => {
  const { groups } = planned().plan;
  assert.deepEqual(
    groups.map(({ retry }) => retry),
    [{ retries: 2, backOff: 0, budget: undefined }, undefined, undefined],
  );
  assert.throws(() => planned({ retries: '3' }), /--retries: the scenario says that/);
});

test('connections are closed as the scenario says, which is of HTTP/1.1', () => {
  const kept = text.replace('batch: {}', 'batch: { keep_alive: { requests: 100 } }');
  assert.deepEqual(
    planned({}, kept).plan.groups.map(({ keepAlive }) => keepAlive?.requests),
    [undefined, 100, 100],
  );
  assert.throws(() => planned({ protocol: 'h2c' }, kept), /keep_alive of clients is of connections of HTTP\/1.1/);
});

test('connections that are held and objectives come along, flags add to them', () => {
  const { plan } = planned({ objective: ['http_req_failed: rate<0.1'], timeout: '3s', connections: '50' });
  assert.deepEqual(
    plan.held?.map(({ group, held, newPerSecond, rampPerSecond }) => [group, held, newPerSecond, rampPerSecond]),
    [['batch', { from: 20 }, { from: 5 }, 2000]],
  );
  assert.deepEqual(
    plan.objectives?.map(({ metric }) => metric),
    ['http_reqs', 'http_req_failed'],
  );
  assert.deepEqual([plan.groups[1]?.timeout, plan.groups[1]?.connectionsMax], [seconds(3), 50]);
});

test('what the scenario says cannot be said again by a flag', () => {
  assert.throws(
    () => planned({ rate: '5', holdNew: '3' }),
    (error) => error instanceof UsageError && /^--rate: .*\n--hold-new: the scenario says that/.test(error.message),
  );
});
