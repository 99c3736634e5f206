import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { UsageError } from './exit.ts';
import { type LoadFlags, loadPlan } from './load-plan.ts';
import { constant } from '../scenario.ts';

const defaults: LoadFlags = {
  threads: '1',
  replicaHeader: 'X-Plimsoll-Replica',
  speed: '1',
  protocol: 'h1',
  seed: '7',
};
const address = 'http://127.0.0.1:8080/path?q=1';
const log = { name: 'access.log', text: log2('/a', 38) + log2('/b', 40) };

function log2(path: string, second: number): string {
  return `10.0.0.7 - - [30/Nov/2026:06:01:${second} +0000] "GET ${path} HTTP/1.1" 200 5\n`;
}

function problems(flags: Partial<LoadFlags>, at: string | undefined, file?: typeof log): string[] {
  try {
    loadPlan(at, { ...defaults, ...flags }, file);
  } catch (error) {
    if (error instanceof UsageError) return error.message.split('\n');
    throw error;
  }
  return [];
}

test('without a rate each connection is a user; with one the demand is open', () => {
  const closed = loadPlan(address, { ...defaults, connections: '2k', think: '50ms' }, undefined);
  assert.equal(closed.shape, '2000 connections, closed loop');
  const [group] = closed.plan.groups;
  assert.deepEqual(group?.demand.kind === 'closed' && [group.demand.users, group.demand.think], [
    2000,
    constant(ms(50)),
  ]);
  const open = loadPlan(address, { ...defaults, rate: '2k', arrivals: 'poisson' }, undefined);
  assert.equal(open.shape, '10 connections, open loop at 2000/s, poisson');
  assert.deepEqual([open.plan.groups[0]?.connectionsMin, open.plan.groups[0]?.connectionsMax], [10, 10]);
});

test('clients ask again as often as they are told, with a wait and a budget where there are any', () => {
  const retryOf = (flags: Partial<LoadFlags>) =>
    loadPlan(address, { ...defaults, ...flags }, undefined).plan.groups[0]?.retry;
  assert.equal(retryOf({}), undefined);
  assert.deepEqual(retryOf({ retries: '3' }), { retries: 3, backOff: 0, budget: undefined });
  assert.deepEqual(retryOf({ retries: '20', retryBackOff: '100ms', retryBudget: '10%' }), {
    retries: 20,
    backOff: ms(100),
    budget: 0.1,
  });
  assert.deepEqual(problems({ retries: '21', retryBackOff: 'soon', retryBudget: '10' }, address), [
    '--retries: found "21", expected 20 at most',
    '--retry-back-off: found "soon", expected a duration such as 30s, 500ms or 2m',
    '--retry-budget: found "10", expected a share such as 10%',
  ]);
  assert.deepEqual(problems({ retryBudget: '10%' }, address), [
    '--retry-budget needs --retries: how often a client asks again',
  ]);
});

test('method, body and headers make the request; a body alone is posted', () => {
  const { plan } = loadPlan(address, { ...defaults, body: 'x', header: ['Accept: text/html', 'a:b:c'] }, undefined);
  assert.deepEqual(plan.groups[0]?.demand.flow, [
    {
      method: 'POST',
      path: '/path?q=1',
      headers: { host: '127.0.0.1:8080', accept: 'text/html', a: 'b:c' },
      body: 'x',
    },
  ]);
});

test('https means TLS to its port', () => {
  const { plan } = loadPlan('https://shop.example/', { ...defaults, insecure: true }, undefined);
  assert.deepEqual(plan.groups[0]?.targets, [
    { id: 'shop.example', host: 'shop.example', port: 443, tls: { serverName: 'shop.example', insecure: true } },
  ]);
});

test('a file of requests is the flow, and says where to unless an address does', () => {
  const curl = { name: 'requests', text: "curl http://10.0.0.1:81/a -H 'x: 1'\ncurl http://10.0.0.1:81/b\n" };
  const named = loadPlan(undefined, { ...defaults, header: ['x: 2'] }, curl);
  assert.deepEqual(
    named.plan.groups[0]?.demand.flow.map(({ path, headers }) => [path, headers['x']]),
    [
      ['/a', '2'],
      ['/b', '2'],
    ],
  );
  assert.equal(named.plan.groups[0]?.targets[0]?.port, 81);
  assert.equal(loadPlan(address, defaults, curl).plan.groups[0]?.targets[0]?.port, 8080);
});

test('a log is played again when it was, or faster', () => {
  const { plan, lasts, shape } = loadPlan(address, { ...defaults, replay: true, speed: '4' }, log);
  const demand = plan.groups[0]?.demand;
  assert.deepEqual(demand?.kind === 'open' && demand.times, [ms(0), ms(500)]);
  assert.equal(lasts, ms(500));
  assert.match(shape, /2 requests played again over 500 ms at 4 times its speed/);
});

test('held connections are dials of their own', () => {
  const { plan } = loadPlan(address, { ...defaults, hold: '5k', holdNew: '20/s', holdRamp: '500' }, undefined);
  const [held] = plan.held ?? [];
  assert.deepEqual([held?.held.from, held?.newPerSecond?.from, held?.rampPerSecond], [5000, 20, 500]);
});

test('objectives are those of k6', () => {
  const { plan } = loadPlan(address, { ...defaults, objective: ['http_req_duration: p(95)<200'] }, undefined);
  assert.equal(plan.objectives?.[0]?.bound, 200);
  const narrow = loadPlan(
    address,
    { ...defaults, objective: ['http_req_failed{replica:api-2}: rate<0.5 over 5s or abort'] },
    undefined,
  );
  const [objective] = narrow.plan.objectives ?? [];
  assert.deepEqual(
    [objective?.filters, objective?.window, objective?.abortAfter],
    [[{ key: 'replica', value: 'api-2' }], seconds(5), seconds(0)],
  );
  assert.equal(plan.groups[0]?.timeout, seconds(2));
});

test('every mistake is told at once', () => {
  assert.deepEqual(
    problems(
      { connections: '1k5', threads: '0', rate: 'fast', timeout: '2 weeks', header: ['nonsense'], objective: ['x'] },
      'ftp://x',
    ),
    [
      'ftp://x: ftp is not supported; expected http or https',
      '--connections: found "1k5", expected a whole number such as 64 or 2k',
      '--threads: found "0", expected a whole number such as 64 or 2k',
      '--header: found "nonsense", expected "name: value"',
      '--rate: found "fast", expected so many a second, such as 500, 2k or 250/s',
      '--timeout: found "2 weeks", expected a duration such as 30s, 500ms or 2m',
      '--objective "x": expected a metric and an expression such as "http_req_duration: p(95)<200"',
    ],
  );
});

test('what does not go together is told', () => {
  assert.match(problems({ threads: '11' }, address).join(), /--connections 10 is less than --threads 11/);
  assert.match(problems({}, undefined).join(), /no address: give one such as/);
  assert.match(problems({ replay: true }, address).join(), /--replay needs requests with times/);
  assert.match(problems({ replay: true, rate: '5' }, address, log).join(), /--replay and --rate/);
  assert.match(problems({ holdNew: '5' }, address).join(), /--hold-new needs --hold/);
  assert.match(problems({}, undefined, { name: 'x', text: 'curl http://a/ http://b/' }).join(), /^x:1: two addresses/);
  assert.match(problems({}, undefined, { name: 'x', text: 'hello' }).join(), /^x: expected curl commands/);
  assert.match(problems({}, undefined, { name: 'x', text: 'curl a\ncurl b\n' }).join(), /names 2 servers/);
});

test('HTTP/2 has so many users on each connection; where it cannot be, the reason is told', () => {
  const { plan } = loadPlan(address, { ...defaults, protocol: 'http2', streams: '16' }, undefined);
  const [group] = plan.groups;
  assert.deepEqual(group?.http2, { streamsMax: 16 });
  assert.equal(group?.demand.kind === 'closed' && group.demand.users, 160);
  assert.match(problems({ protocol: 'h2' }, address).join(), /h2 is agreed on within TLS.*h2c/);
  assert.match(problems({ protocol: 'h2c' }, 'https://shop.example/').join(), /h2c is without TLS/);
  assert.match(problems({ streams: '16' }, address).join(), /--streams is of HTTP\/2/);
});

test('a rate moves through stages, which are the length of the run too', () => {
  const { plan, shape, lasts } = loadPlan(
    address,
    { ...defaults, rate: '100', stage: ['30s:2k', '0:50/s', '5:0'] },
    undefined,
  );
  const [group] = plan.groups;
  assert.deepEqual(group?.demand.kind === 'open' && group.demand.stages, [
    { over: seconds(30), toPerSecond: 2000 },
    { over: seconds(0), toPerSecond: 50 },
    { over: seconds(5), toPerSecond: 0 },
  ]);
  assert.deepEqual([shape, lasts], ['10 connections, open loop at 100 → 2000 → 50 → 0/s, constant', seconds(35)]);
  assert.match(problems({ stage: ['5s:1'] }, address).join(), /--stage needs --rate/);
  assert.match(problems({ rate: '1', stage: ['5s'] }, address).join(), /--stage: found "5s"/);
});

test('what h2load calls -m is no method', () => {
  assert.match(problems({ method: '32' }, address).join(), /found "32".*--streams 32/);
  assert.deepEqual(problems({ method: 'purge' }, address), []);
});

test('a name and a password in the address are sent, as a browser does', () => {
  const { plan } = loadPlan('http://me:p%40ss@127.0.0.1:8080/', defaults, undefined);
  assert.equal(plan.groups[0]?.demand.flow[0]?.headers['authorization'], 'Basic bWU6cEBzcw==');
});
