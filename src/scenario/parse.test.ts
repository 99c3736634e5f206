import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inMs, ms, ns, seconds } from '../base.ts';
import { builtinScenarios, formatProblem, parseScenario, type Scenario } from '../scenario.ts';
import { constant } from './sampler.ts';

/** A scenario with nothing wrong, to which a test adds its own. */
const plain = `plimsoll: 1
services:
  api: {}
gateway: {}
demand:
  - closed: { users: 8 }
`;

/** Parses `text` and compares every problem, as a terminal shows them, with `expected`. */
function check(text: string, expected: readonly string[], settings: readonly string[] = []): void {
  const parsed = parseScenario(text, 'my.yaml', settings);
  const problems = 'problems' in parsed ? parsed.problems.map(formatProblem) : [];
  assert.deepEqual(problems, expected);
}

function scenarioOf(text: string, settings: readonly string[] = []): Scenario {
  const parsed = parseScenario(text, 'my.yaml', settings);
  if ('problems' in parsed) assert.fail(parsed.problems.map(formatProblem).join('\n'));
  return parsed.scenario;
}

function warningsOf(text: string): readonly string[] {
  const parsed = parseScenario(text, 'my.yaml');
  return 'problems' in parsed ? assert.fail('expected a scenario') : parsed.warnings.map(formatProblem);
}

// What is right.

test('six lines are a scenario, and every default is in it', () => {
  const { name, topology, demand, warmUp, duration } = scenarioOf(plain);
  assert.equal(name, 'my');
  assert.equal(topology.services[0]?.replicas, 4);
  assert.deepEqual(topology.services[0]?.serviceTime, { kind: 'exponential', mean: ms(20) });
  assert.equal(topology.gateway?.policy, 'round-robin');
  assert.deepEqual(topology.clients, [
    { name: 'users', service: 'api', via: 'gateway', choice: 'round-robin', timeout: seconds(10) },
  ]);
  const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
  assert.deepEqual(demand, [{ kind: 'closed', clients: 'users', users: 8, think: constant(ns(0)), flow }]);
  assert.equal(warmUp, seconds(3));
  assert.equal(duration, seconds(15));
});

test('without a gateway the default group goes by the registry', () => {
  const { topology } = scenarioOf(plain.replace('gateway: {}\n', ''));
  assert.equal(topology.gateway, undefined);
  assert.equal(topology.clients[0]?.via, 'registry');
});

test('a service time may be a line of text or a mapping', () => {
  const of = (text: string) =>
    scenarioOf(plain.replace('api: {}', `api: { service_time: ${text} }`)).topology.services[0];
  assert.deepEqual(of('exponential 20ms')?.serviceTime, of('{ distribution: exponential, mean: 20ms }')?.serviceTime);
  assert.deepEqual(of('constant 5ms')?.serviceTime, { kind: 'constant', value: ms(5) });
  assert.deepEqual(of('uniform 5ms 15ms')?.serviceTime, { kind: 'uniform', min: ms(5), max: ms(15) });
  assert.deepEqual(of('log-normal 20ms 120ms')?.serviceTime, { kind: 'log-normal', median: ms(20), p99: ms(120) });
});

test('faults are read in either form', () => {
  const { faults } = scenarioOf(`${plain}faults:
  - { at: 1s, for: 2s, stop: api-3 }
  - { at: 1s, for: 2s, stop: { replica: api-3 } }
  - { at: 3s, burn: { replica: api-1, share: 30% } }
  - { at: 3s, burn: { replica: api-1, share: 0.3 } }
  - { slow: { replica: api-2, factor: 1.15 } }
`);
  assert.deepEqual(faults[0], faults[1]);
  assert.deepEqual(faults[2], faults[3]);
  assert.deepEqual(faults[4], { at: ns(0), for: undefined, kind: 'slow', replica: 'api-2', factor: 1.15 });
});

test('steps are read in either form, with bodies by text and by size', () => {
  const { demand } = scenarioOf(
    plain.replace('users: 8', "users: 8, flow: ['GET /a', { get: /a }, { post: /b, body: { size: 2KiB } }]"),
  );
  assert.deepEqual(demand[0]?.flow[0], demand[0]?.flow[1]);
  assert.equal(demand[0]?.flow[2]?.method, 'POST');
  assert.equal(demand[0]?.flow[2]?.body?.length, 2048);
});

test("objectives are read in k6's grammar", () => {
  const { objectives } = scenarioOf(`${plain}objectives:
  http_req_duration: ['p(95)<200', 'avg <= 50']
  http_req_failed: rate<0.01
`);
  const parts = objectives.map(({ metric, aggregate, percentile, operator, bound }) => ({
    metric,
    aggregate,
    percentile,
    operator,
    bound,
  }));
  assert.deepEqual(parts, [
    { metric: 'http_req_duration', aggregate: 'p', percentile: 95, operator: '<', bound: 200 },
    { metric: 'http_req_duration', aggregate: 'avg', percentile: undefined, operator: '<=', bound: 50 },
    { metric: 'http_req_failed', aggregate: 'rate', percentile: undefined, operator: '<', bound: 0.01 },
  ]);
});

test('objectives are narrowed, held over windows and made to end the load, in the long form of k6 too', () => {
  const { objectives } = scenarioOf(`${plain}objectives:
  http_req_duration{group:users, replica:api-2}: p(95)<200 over 10s
  http_req_failed:
    - rate<0.5 or abort
    - { threshold: rate<0.1, abortOnFail: true, delayAbortEval: 30s }
    - { threshold: rate<0.2 }
`);
  assert.deepEqual(objectives[0]?.filters, [
    { key: 'group', value: 'users' },
    { key: 'replica', value: 'api-2' },
  ]);
  assert.deepEqual(
    objectives.map(({ window, abortAfter }) => [window, abortAfter]),
    [
      [seconds(10), undefined],
      [undefined, seconds(0)],
      [undefined, seconds(30)],
      [undefined, undefined],
    ],
  );
});

test('open rates move through stages, or come in bursts', () => {
  const { demand } = scenarioOf(`plimsoll: 1
services: { api: {} }
demand:
  - open: { rate: 10/s, stages: [{ over: 30s, to: 100/s }, { over: 0s, to: 0/s }] }
  - open: { bursts: { size: 50, every: 5s } }
`);
  const [staged, bursty] = demand;
  assert.ok(staged?.kind === 'open' && bursty?.kind === 'open');
  assert.deepEqual(staged.stages, [
    { over: seconds(30), toPerSecond: 100 },
    { over: seconds(0), toPerSecond: 0 },
  ]);
  assert.deepEqual(
    [bursty.bursts, bursty.ratePerSecond, bursty.arrivals],
    [{ size: 50, every: seconds(5) }, 10, 'constant'],
  );
});

test('users remember, pace themselves and gather', () => {
  const { demand } = scenarioOf(`plimsoll: 1
services: { api: {} }
demand:
  - closed:
      users: 4
      pacing: 10s
      cookies: true
      flow:
        - post: /login
          extract: { token: { json: session.token }, trace: { header: X-Trace }, id: { between: ['id="', '"'] } }
          think: 2s
        - { get: '/cart/\${token}', rendezvous: { users: 2 } }
`);
  const [users] = demand;
  assert.ok(users?.kind === 'closed');
  assert.deepEqual([users.pacing, users.cookies], [seconds(10), true]);
  assert.deepEqual(users.flow[0]?.extract, [
    { variable: 'token', from: 'json', path: 'session.token' },
    { variable: 'trace', from: 'header', header: 'X-Trace' },
    { variable: 'id', from: 'text', after: 'id="', before: '"' },
  ]);
  assert.deepEqual(users.flow[0]?.think, constant(seconds(2)));
  assert.deepEqual(users.flow[1]?.rendezvous, { users: 2, timeout: seconds(10) });
});

test('connections are held by three dials, which may move', () => {
  const { connections } = scenarioOf(`${plain}connections:
  - { held: 100, new: 5/s }
  - { held: { from: 0, stages: [{ over: 10s, to: 1000 }] }, new: { from: 0/s, stages: [{ over: 10s, to: 50/s }] }, opening: 100/s }
`);
  assert.deepEqual(connections, [
    { clients: 'users', held: { from: 100 }, openingPerSecond: 2000, newPerSecond: { from: 5 } },
    {
      clients: 'users',
      held: { from: 0, stages: [{ over: seconds(10), to: 1000 }] },
      openingPerSecond: 100,
      newPerSecond: { from: 0, stages: [{ over: seconds(10), to: 50 }] },
    },
  ]);
});

test('what only users can do, what nobody has read and what can never gather is told', () => {
  check(
    `plimsoll: 1
services: { api: {} }
demand:
  - open: { rate: 1/s, flow: [{ get: /, think: 1s, extract: { a: { header: b } } }] }
  - closed:
      users: 3
      flow:
        - { get: '/\${tokn}', extract: { token: { json: id } } }
        - { get: '/\${user}/\${tokn}', rendezvous: { users: 4 } }
  - open: { bursts: { size: 1, every: 1s }, stages: [{ over: 1s, to: 1/s }] }
`,
    [
      'my.yaml:4:41: demand.0.open.flow.0.think: think is of users: expected a closed demand, or a step without it',
      'my.yaml:4:52: demand.0.open.flow.0.extract: extract is of users: expected a closed demand, or a step without it',
      'my.yaml:8:11: demand.1.closed.flow.0: no earlier step extracts tokn: expected one of user, iteration.',
      'my.yaml:9:11: demand.1.closed.flow.1: no earlier step extracts tokn: expected one of user, iteration, token. Did you mean token?',
      'my.yaml:9:59: demand.1.closed.flow.1.rendezvous.users: there are 3 users, so that 4 never gather: expected 3 or fewer',
      'my.yaml:10:53: demand.2.open.stages: bursts have no stages: expected one of the two',
    ],
  );
});

test('a path with a space in it would be two words of a request line', () => {
  check(plain.replace('users: 8', "users: 8, flow: [{ get: '/a b' }]"), [
    "my.yaml:6:39: demand.0.closed.flow.0.get: expected a path that begins with / and has no space (write %20), found '/a b'",
  ]);
});

test('anchors, aliases and merge keys work, also from a key of one’s own', () => {
  const { topology } = scenarioOf(`plimsoll: 1
x-base: &base { replicas: 2, workers: 8 }
services:
  api: { <<: *base, workers: 6 }
  web: *base
clients: { users: { service: web } }
demand: [{ closed: { users: 1 } }]
`);
  assert.deepEqual(
    topology.services.map(({ replicas, workers }) => [replicas, workers]),
    [
      [2, 6],
      [2, 8],
    ],
  );
});

test('each built-in scenario parses, without a warning where none is its subject, and expects its cause', () => {
  const warned = new Map([
    ['no-healthy-upstream', ['services.api.calls.0']],
    ['retry-storm', ['clients.callers']],
  ]);
  // Most are named for their cause, some for what one sees of it.
  const causes = new Map([
    ['no-healthy-upstream', 'worker-pool-exhaustion'],
    ['retry-storm', 'metastable-retry'],
    ['black-hole', 'fast-fail-blackhole'],
    ['throttled', 'cpu-throttling'],
    ['zone-skew', 'zone-imbalance'],
    ['internet-scale', 'healthy'],
  ]);
  for (const { name, text } of builtinScenarios) {
    const parsed = parseScenario(text, `${name}.yaml`);
    if ('problems' in parsed) assert.fail(parsed.problems.map(formatProblem).join('\n'));
    assert.deepEqual(
      parsed.warnings.map(({ path }) => path),
      warned.get(name) ?? [],
    );
    assert.equal(parsed.scenario.name, name);
    assert.equal(parsed.scenario.expect, causes.get(name) ?? name);
    assert.notEqual(parsed.scenario.about, '');
  }
});

test('what is read can be written and read again', () => {
  for (const { name, text } of builtinScenarios) {
    const once = scenarioOf(text);
    const again = scenarioOf(text, [`name=${name}`]);
    assert.deepEqual(again, once);
  }
});

// What is wrong.

test('an empty file, a list and a text are not scenarios', () => {
  const expected = ['my.yaml:1:1: expected a mapping that begins with plimsoll: 1'];
  check('', expected);
  check('- a\n', expected);
  check('hello\n', expected);
});

test('a missing part is told where it should be', () => {
  check('plimsoll: 1\nservices: { api: {} }\n', [
    'my.yaml:1:1: demand: the key demand is missing: expected a list with a closed or open demand',
  ]);
  check('services: {}\ndemand: []\n', [
    'my.yaml:1:1: plimsoll: the key plimsoll is missing: expected 1, the version of this format',
    'my.yaml:1:11: services: expected at least one service, found none',
    'my.yaml:2:9: demand: expected at least one demand, found a list',
  ]);
  check(plain.replace('plimsoll: 1', 'plimsoll: 2'), [
    'my.yaml:1:11: plimsoll: expected 1, the version of this format, found 2',
  ]);
});

test('an unknown key is told at the key, with the one that was meant', () => {
  check(plain.replace('api: {}', 'api: { replcas: 3 }'), [
    "my.yaml:3:10: services.api.replcas: unknown key 'replcas': expected one of replicas, workers, service_time, cpu_time, queue, cpu_quota, cpu_scheduling, cores, calls, health_shares_pool, cold_start, gc_pauses, zones, autoscale, copies. Did you mean replicas?",
  ]);
  check(`${plain}warmUp: 3s\n`, [
    "my.yaml:7:1: warmUp: unknown key 'warmUp': expected one of plimsoll, name, about, services, dependencies, network, gateway, clients, demand, connections, faults, objectives, warm_up, duration, in_lab, expect. Did you mean warm_up?",
  ]);
});

test('an unknown word is told with the one that was meant', () => {
  check(plain.replace('gateway: {}', 'gateway: { policy: least-requests }'), [
    "my.yaml:4:20: gateway.policy: expected one of round-robin, random, least-request, found 'least-requests'. Did you mean least-request?",
  ]);
  check(plain.replace('gateway: {}', 'gateway: { policy: fair }'), [
    "my.yaml:4:20: gateway.policy: expected one of round-robin, random, least-request, found 'fair'",
  ]);
});

test('numbers out of range are told from both sides', () => {
  check(plain.replace('users: 8', 'users: 1'), []);
  check(plain.replace('users: 8', 'users: 0'), [
    'my.yaml:6:22: demand.0.closed.users: expected a whole number from 1 to 10000000, found 0',
  ]);
  check(plain.replace('users: 8', 'users: 2.5'), [
    'my.yaml:6:22: demand.0.closed.users: expected a whole number from 1 to 10000000, found 2.5',
  ]);
  check(plain.replace('users: 8', 'users: many'), [
    "my.yaml:6:22: demand.0.closed.users: expected a whole number from 1 to 10000000, found 'many'",
  ]);
});

test('a duration needs its unit, and a timeout more than nothing', () => {
  check(plain.replace('gateway: {}', 'gateway: { timeout: 5 }'), [
    'my.yaml:4:21: gateway.timeout: expected a duration above 0, such as 250ms or 1.5s, found 5',
  ]);
  check(plain.replace('gateway: {}', 'gateway: { timeout: 0s }'), [
    'my.yaml:4:21: gateway.timeout: expected a duration above 0, such as 250ms or 1.5s, found 0s',
  ]);
  check(plain.replace('users: 8', 'users: 8, think: 0s'), []);
  check(plain.replace('users: 8', 'users: 8, think: -1s'), [
    'my.yaml:6:32: demand.0.closed.think: expected a duration such as 5ms, or a distribution such as exponential 20ms, constant 5ms, uniform 5ms 15ms or log-normal 20ms 120ms (median and p99), found -1s',
  ]);
});

test('a rate needs its unit, and more than nothing', () => {
  check(plain.replace('closed: { users: 8 }', 'open: { rate: 240 }'), [
    'my.yaml:6:19: demand.0.open.rate: expected a rate above 0, such as 240/s or 90/min, found 240',
  ]);
  check(plain.replace('closed: { users: 8 }', 'open: { rate: 0/s }'), [
    'my.yaml:6:19: demand.0.open.rate: expected a rate above 0, such as 240/s or 90/min, found 0/s',
  ]);
});

test('one of several keys is asked for, not two and not none', () => {
  check(plain.replace('closed: { users: 8 }', '{}'), [
    'my.yaml:6:5: demand.0: expected exactly one of closed, open, found none of them',
  ]);
  check(plain.replace('- closed: { users: 8 }', '- { closed: { users: 8 }, open: { rate: 1/s } }'), [
    'my.yaml:6:5: demand.0: expected exactly one of closed, open, found closed and open',
  ]);
  check(`${plain}faults:\n  - { at: 1s, stop: api-1, kill: api-1 }\n`, [
    'my.yaml:8:5: faults.0: expected exactly one of slow, stop, resume, kill, restart, burn, pause, fail, partition, link, found stop and kill',
  ]);
});

test('a service time is told wrong in the form in which it was written', () => {
  const wrong = (text: string) => plain.replace('api: {}', `api: { service_time: ${text} }`);
  const known =
    'a distribution such as exponential 20ms, constant 5ms, uniform 5ms 15ms or log-normal 20ms 120ms (median and p99)';
  check(wrong('exponental 20ms'), [
    `my.yaml:3:24: services.api.service_time: expected ${known}, found exponental 20ms`,
  ]);
  check(wrong('20ms'), [`my.yaml:3:24: services.api.service_time: expected ${known}, found 20ms`]);
  check(wrong('7'), [`my.yaml:3:24: services.api.service_time: expected ${known}, found 7`]);
  check(wrong('{ distribution: expo, mean: 3ms }'), [
    "my.yaml:3:40: services.api.service_time.distribution: expected one of constant, exponential, uniform, log-normal, found 'expo'",
  ]);
  check(wrong('{ distribution: exponential, mean: 3 }'), [
    'my.yaml:3:59: services.api.service_time.mean: expected a duration above 0, such as 250ms or 1.5s, found 3',
  ]);
  check(wrong('uniform 15ms 5ms'), ['my.yaml:3:24: services.api.service_time: max is below min: expected min ≤ max']);
  check(wrong('log-normal 5ms 5ms'), [
    'my.yaml:3:24: services.api.service_time: p99 is not above the median: expected median < p99',
  ]);
});

test('a fault needs a replica that exists, before the end', () => {
  check(`${plain}faults:\n  - { at: 17s, stop: api-4 }\n`, []);
  check(`${plain}faults:\n  - { at: 18s, stop: api-5 }\n`, [
    'my.yaml:8:11: faults.0.at: the run ends at 18.0 s (warm_up and duration together): expected an earlier time, found 18.0 s',
    'my.yaml:8:22: faults.0.stop: no replica api-5: api has 4 replicas, api-1 to api-4',
  ]);
  check(`${plain}faults:\n  - slow: { replica: aip-2, factor: 2 }\n  - kill: api-0\n`, [
    'my.yaml:8:22: faults.0.slow.replica: no replica aip-2: aip is neither a service nor a dependency. Did you mean api-2?',
    'my.yaml:9:11: faults.1.kill: no replica api-0: api has 4 replicas, api-1 to api-4',
  ]);
  check(`${plain}faults:\n  - { at: 1s, for: 1s, restart: api-1 }\n`, [
    'my.yaml:8:15: faults.0.for: restart does not last: expected no such key, it happens once',
  ]);
});

test('clients, services and the gateway they name must exist', () => {
  const registry = plain.replace('gateway: {}\n', '');
  check(`${registry}clients:\n  users: { service: ap, via: gateway }\n`, [
    "my.yaml:7:21: clients.users.service: unknown service 'ap': expected one of api. Did you mean api?",
    'my.yaml:7:30: clients.users.via: there is no gateway: expected a section gateway (gateway: {} takes every default), or via: registry',
  ]);
  check(plain.replace('- closed', '- clients: user\n    closed'), [
    "my.yaml:6:14: demand.0.clients: unknown client group 'user': expected one of users. Did you mean users?",
  ]);
});

test('with several services or groups, one must be named', () => {
  const two = plain.replace('api: {}', 'api: {}\n  web: {}');
  check(two, [
    'my.yaml:1:1: the key clients is missing: there are several services, expected a group that says which one it asks',
  ]);
  check(`${two}clients: { a: {}, b: { service: web } }\n`, [
    'my.yaml:7:5: demand.0: the key clients is missing: there are several groups, expected one of a, b',
    'my.yaml:8:12: clients.a: the key service is missing: there are several services, expected one of api, web',
  ]);
});

test('calls lead somewhere, and not in a circle', () => {
  const calls = (text: string) =>
    plain.replace('api: {}', text).replace('demand', 'clients: { users: { service: a } }\ndemand');
  check(calls('a: { calls: [{ to: stor, timeout: 1s }] }\ndependencies: { store: {} }'), [
    "my.yaml:3:22: services.a.calls.0.to: unknown dependency or service 'stor': expected one of store, a. Did you mean store?",
  ]);
  check(calls('a: { calls: [{ to: b }] }\n  b: { calls: [{ to: a }] }'), [
    'my.yaml:3:22: services.a.calls.0.to: calls go in a circle: a → b → a',
    'my.yaml:4:22: services.b.calls.0.to: calls go in a circle: b → a → b',
  ]);
  check(calls('a: { calls: [{ to: a }] }'), ['my.yaml:3:22: services.a.calls.0.to: calls go in a circle: a → a']);
  check(calls('a: {}\ndependencies: { a: {} }'), [
    'my.yaml:4:17: dependencies.a: a is a service already: expected another name',
  ]);
});

test('names are plain, because they become ids', () => {
  check(plain.replace('api: {}', 'My_API: {}'), [
    "my.yaml:3:3: services.My_API: expected a name of lower-case letters, digits and hyphens that begins with a letter, found 'My_API'",
  ]);
});

test('objectives that k6 would not take are told with one that it would', () => {
  check(
    `${plain}objectives:
  http_req_duraton: p(95)<200
  http_req_failed: ['rate<0.01', 'p(95)<1']
  http_req_duration: ['p<200', 'p(101)<1', 'avg(3)<1', 'p(95)<200ms']
`,
    [
      "my.yaml:8:21: objectives.http_req_duraton: unknown metric 'http_req_duraton': expected one of http_req_duration, http_req_failed, http_reqs. Did you mean http_req_duration?",
      "my.yaml:9:34: objectives.http_req_failed.1: http_req_failed has no 'p': expected one of rate, as in rate<0.01",
      "my.yaml:10:23: objectives.http_req_duration.0: p needs its percentile: expected an expression such as p(95)<200, found 'p<200'",
      'my.yaml:10:32: objectives.http_req_duration.1: expected a percentile from 0 to 100, found 101',
      "my.yaml:10:44: objectives.http_req_duration.2: avg takes no argument: expected an expression such as avg<200, found 'avg(3)<1'",
      "my.yaml:10:56: objectives.http_req_duration.3: expected an expression such as p(95)<200, found 'p(95)<200ms'",
    ],
  );
});

test('mistakes of every kind are told at once, in reading order', () => {
  check(
    `plimsoll: 1
services:
  api: { workers: none, queue: { abandoned: droped } }
demand:
  - clients: user
    closed: { users: 0 }
faults:
  - stop: api-9
`,
    [
      "my.yaml:3:19: services.api.workers: expected a whole number from 1 to 100000, found 'none'",
      "my.yaml:3:45: services.api.queue.abandoned: expected one of served, dropped, found 'droped'. Did you mean dropped?",
      "my.yaml:5:14: demand.0.clients: unknown client group 'user': expected one of users. Did you mean users?",
      'my.yaml:6:22: demand.0.closed.users: expected a whole number from 1 to 10000000, found 0',
      'my.yaml:8:11: faults.0.stop: no replica api-9: api has 4 replicas, api-1 to api-4',
    ],
  );
});

// What is not even YAML.

test('broken YAML is told with its place', () => {
  check('plimsoll: 1\nplimsoll: 1\n', [
    'my.yaml:2:1: the key plimsoll stands here a second time: expected each key once',
  ]);
  check('plimsoll: 1\nservices:\n\tapi: {}\n', ['my.yaml:3:1: found a tab in the indentation: YAML expects spaces']);
  check(`${plain}---\n${plain}`, ['my.yaml:7:1: found a second document (---): expected one a file']);
  check('plimsoll: [1\n', [
    'my.yaml:2:1: not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ]);
  check(`${plain}x-a: *nobody\n`, ['my.yaml:7:6: the alias *nobody has no anchor: expected &nobody before it']);
});

test('a bomb of aliases is refused', () => {
  const level = (name: string, of: string) => `x-${name}: &${name} [${Array(12).fill(`*${of}`).join(', ')}]\n`;
  const bomb = `x-a: &a [1]\n${level('b', 'a')}${level('c', 'b')}${level('d', 'c')}${level('e', 'd')}${plain}`;
  check(bomb, ['my.yaml:1:1: the aliases expand to too much: expected fewer than 1000']);
});

// Settings.

test('a setting replaces a value, adds a key, and extends a list by one', () => {
  const scenario = scenarioOf(plain, [
    'demand.0.closed.users=16',
    'services.api.queue.limit=7',
    'faults.0={ slow: { replica: api-2, factor: 1.3 } }',
    'faults.0.slow.factor=1.4',
  ]);
  assert.equal(scenario.demand[0]?.kind === 'closed' && scenario.demand[0].users, 16);
  assert.equal(scenario.topology.services[0]?.queue.limit, 7);
  assert.equal(scenario.faults[0]?.kind === 'slow' && scenario.faults[0].factor, 1.4);
});

test('a setting in one use of an anchor leaves the other alone', () => {
  const text = plain.replace('api: {}', 'api: &a { workers: 2 }\n  web: *a');
  const scenario = scenarioOf(`${text}clients: { users: { service: api } }\n`, ['services.web.workers=3']);
  assert.deepEqual(
    scenario.topology.services.map((service) => service.workers),
    [2, 3],
  );
});

test('a wrong setting is told with the setting as its place', () => {
  check(
    plain,
    [
      "--set demand.0.closed.users=no:1:23: demand.0.closed.users: expected a whole number from 1 to 10000000, found 'no'",
    ],
    ['demand.0.closed.users=no'],
  );
  check(
    plain,
    [
      "--set gateway.polcy=random:1:1: gateway.polcy: unknown key 'polcy': expected one of policy, timeout, connect_timeout, retries, count, zones, health. Did you mean policy?",
    ],
    ['gateway.polcy=random'],
  );
  check(plain, ["--set users:1:1: expected path=value such as faults.0.slow.factor=1.3, found 'users'"], ['users']);
  check(
    plain,
    [
      "--set demand.3.closed.users=2:1:1: demand.3.closed.users: demand is a list of 1: expected an index from 0, found '3'",
    ],
    ['demand.3.closed.users=2'],
  );
  check(
    plain,
    [
      '--set demand.0.closed.users.x=2:1:1: demand.0.closed.users.x: demand.0.closed.users is 8, which has nothing inside',
    ],
    ['demand.0.closed.users.x=2'],
  );
});

// Advice.

test('what is legal and probably not meant is a warning', () => {
  assert.deepEqual(warningsOf(plain), []);
  assert.deepEqual(warningsOf(plain.replace('gateway: {}', 'gateway: { timeout: 10s }')), [
    "my.yaml:1:1: clients.users: the gateway's timeout 10.0 s is not below the clients' 10.0 s: the clients give up first and never see its answer",
  ]);
  assert.deepEqual(
    warningsOf(
      plain.replace(
        'api: {}',
        'api:\n    calls: [{ to: store }, { to: store, timeout: 4s, retries: 1 }]\ndependencies: { store: {}, spare: {} }',
      ),
    ),
    [
      'my.yaml:4:13: services.api.calls.0: the call to store has no timeout: when store stalls, it holds every worker',
      "my.yaml:4:28: services.api.calls.1: all attempts of the call to store may take 8.00 s, which is not below the gateway's timeout 8.00 s",
      'my.yaml:5:28: dependencies.spare: no service calls spare',
    ],
  );
  const patient = '{ to: store, timeout: 2s, retries: 2, back_off: 1s }';
  assert.deepEqual(
    warningsOf(plain.replace('api: {}', `api: { calls: [${patient}] }\ndependencies: { store: {} }`)),
    [
      "my.yaml:3:18: services.api.calls.0: all attempts of the call to store may take 10.0 s, which is not below the gateway's timeout 8.00 s",
    ],
    'three tries of 2 s, and waits of at most 1 s and 3 s',
  );
  assert.deepEqual(warningsOf(`${plain}faults: [{ slow: { replica: api-1, factor: 1 } }]\n`), [
    'my.yaml:7:44: faults.0.slow.factor: a factor of 1 changes nothing',
  ]);
});

test('times are whole nanoseconds and units are understood', () => {
  const { warmUp } = scenarioOf(`${plain}warm_up: 1m500ms\n`);
  assert.equal(inMs(warmUp), 60_500);
});
