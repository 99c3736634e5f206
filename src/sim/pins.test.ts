import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baselineOf } from '../scenario.ts';
import { balancerByName } from '../policy.ts';
import { Gate } from './gate.ts';
import { scenarioFrom } from './measured-run.ts';
import { Pins } from './pins.ts';
import { Simulation } from './simulation.ts';

interface Setting {
  readonly users: number;
  readonly clients: string;
  readonly policy?: string;
  readonly replicas?: number;
  readonly seconds: number;
  readonly faults?: string;
  readonly service?: string;
}

/** Users who think a second behind a balancer of connections. */
const pinned = ({
  users,
  clients,
  policy = 'round-robin',
  replicas = 4,
  seconds,
  faults = '',
  service = 'constant 1ms',
}: Setting): string => `plimsoll: 1
services: { api: { replicas: ${replicas}, workers: 1000, service_time: ${service} } }
gateway: { policy: ${policy} }
clients: { users: { pinned: true, ${clients} } }
demand: [{ closed: { users: ${users}, think: 1s } }]
faults: [${faults}]
warm_up: 0s
duration: ${seconds}s
`;

/** Requests that each replica answered in each second. `act` may change the world while it runs. */
function answeredBy(text: string, act?: (simulation: Simulation) => void): readonly (readonly number[])[] {
  const scenario = scenarioFrom(text);
  const simulation = new Simulation(scenario, { seed: 1 });
  act?.(simulation);
  return [...simulation.play(baselineOf(scenario))].flatMap((line) =>
    line.kind === 'tick' ? [line.replicas.map(({ finished = 0 }) => finished)] : [],
  );
}

/** Counts of one second: each is off by one at most, for a user's second is 1.001 s. */
function near(second: readonly number[] | undefined, expected: readonly number[], tolerance = 1): void {
  const isNear = second?.every((count, place) => Math.abs(count - (expected[place] ?? 0)) <= tolerance);
  assert.ok(isNear === true && second?.length === expected.length, `${second?.join(' ')}, not ${expected.join(' ')}`);
}

const addReplicaAt =
  (seconds: number, count: number) =>
  ({ world }: Simulation): void =>
    world.plan(seconds * 1e9, () => world.setReplicas('api', count));

test('connections are spread when they are opened, and a replica that comes later gets none of them', () => {
  const answered = answeredBy(pinned({ users: 400, clients: '', seconds: 60 }), addReplicaAt(10, 5));
  for (const second of answered.slice(0, 9)) near(second, [100, 100, 100, 100]);
  for (const second of answered.slice(10)) near(second, [100, 100, 100, 100, 0]);
});

// Connections of constant life L whose ages are spread evenly: in a time t a share t/L of them is opened anew, and of these the new one of K
// replicas gets one in K. So its share is t/(K·L) until t = L, and 1/K from then on.
test('with connections that end, the new replica gets its share in a straight line over one life', () => {
  const [users, life, added] = [1000, 40, 10];
  const text = pinned({ users, clients: `keep_alive: { lifetime: ${life}s }`, seconds: 70 });
  const answered = answeredBy(text, addReplicaAt(added, 5));
  answered.slice(added).forEach((second, place) => {
    // A connection is closed when it is used next: up to a second late.
    const share = (time: number): number => Math.min(1, Math.max(0, time / life)) / 5;
    const measured = (second[4] ?? 0) / users;
    assert.ok(measured >= share(place - 1) - 0.003 && measured <= share(place + 1) + 0.003, `${place} s: ${measured}`);
  });
  near(answered.at(-1), [200, 200, 200, 200, 200]);
});

test('a limit of requests is a life of as many requests', () => {
  const users = 1000;
  const text = pinned({ users, clients: 'keep_alive: { requests: 20 }', seconds: 40 });
  const answered = answeredBy(text, addReplicaAt(10, 5));
  answered.slice(10).forEach((second, place) => {
    const share = (requests: number): number => Math.min(1, Math.max(0, requests / 20)) / 5;
    const measured = (second[4] ?? 0) / users;
    assert.ok(measured >= share(place - 1) - 0.003 && measured <= share(place + 1) + 0.003, `${place} s: ${measured}`);
  });
});

test('a connection that carries one request only is no pin at all', () => {
  const text = pinned({ users: 100, clients: 'keep_alive: { requests: 1 }', seconds: 20 });
  const answered = answeredBy(text, addReplicaAt(10, 5));
  near(answered[8], [25, 25, 25, 25]);
  near(answered[15], [20, 20, 20, 20, 20]);
});

test('who was killed comes back to nobody, and least connections would give it all that are opened', () => {
  const faults = '{ at: 10s, for: 1s, kill: api-1 }';
  const setting = { users: 400, replicas: 4, faults, seconds: 60 };
  const left = answeredBy(pinned({ ...setting, clients: '' })).at(-1);
  // Its hundred users are spread over the other three, but for those who were refused last and tried it again.
  near(left, [0, 133, 133, 133], 8);
  // Least connections of what is open: each that is closed anywhere is opened at the one that has fewest, so that it is full again when a
  // quarter of all have been opened anew, a quarter of a life later; dice and turns take all of it.
  const recycled = answeredBy(
    pinned({ ...setting, policy: 'least-request', clients: 'keep_alive: { lifetime: 40s }' }),
  );
  near(recycled[23], [100, 100, 100, 100], 2);
});

test('least connections counts what is open, not what is asked', () => {
  // Replica 1 is ten times slower: a balancer of requests would see more inside it and give it less. This one does not look.
  const text = pinned({
    users: 400,
    clients: 'keep_alive: { lifetime: 3s }',
    policy: 'least-request',
    service: 'constant 50ms',
    faults: '{ slow: { replica: api-1, factor: 10 } }',
    seconds: 20,
  });
  const answered = answeredBy(text).slice(-6);
  const means = [0, 1, 2, 3].map((place) => answered.reduce((sum, second) => sum + (second[place] ?? 0), 0) / 6);
  // Each replica has a hundred users: one request each 1.05 s, and each 1.5 s at the slow one.
  near(means, [100 / 1.5, 100 / 1.05, 100 / 1.05, 100 / 1.05], 2);
});

test('users who share a connection are at one replica', () => {
  // Four connections of twenty-five users over three replicas: one replica has two.
  const answered = answeredBy(pinned({ users: 100, clients: 'users_per_connection: 25', replicas: 3, seconds: 5 }));
  assert.deepEqual(answered.at(-1), [50, 25, 25]);
  // When it breaks they open one together, and not one each.
  const faults = '{ at: 2s, for: 30s, kill: api-2 }';
  const after = answeredBy(
    pinned({ users: 100, clients: 'users_per_connection: 25', replicas: 3, seconds: 12, faults }),
  );
  const last = after.at(-1) ?? [];
  assert.deepEqual(
    last.map((count) => Math.round(count / 25)).toSorted((a, b) => a - b),
    [0, 2, 2],
  );
});

test('a user that waits no longer opens another connection, unless it shares it', () => {
  const setting = { users: 40, replicas: 4, faults: '{ at: 2s, for: 60s, stop: api-3 }', seconds: 20 };
  const alone = answeredBy(pinned({ ...setting, clients: 'timeout: 500ms' })).at(-1);
  assert.ok((alone ?? []).reduce((sum, count) => sum + count, 0) >= 38, `${alone?.join(' ')}`);
  const shared = answeredBy(pinned({ ...setting, clients: 'timeout: 500ms, users_per_connection: 2' }));
  near(shared.at(-1), [10, 10, 0, 10]);
});

test('what one phase has open is closed when the next begins, and counts no more', () => {
  const scenario = scenarioFrom(pinned({ users: 400, clients: '', policy: 'least-request', seconds: 5 }));
  const simulation = new Simulation(scenario, { seed: 1 });
  const last = (replicas: number, policy: 'least-request' | undefined): readonly number[] | undefined =>
    [...simulation.play({ ...baselineOf(scenario), replicas: { api: replicas }, policy })]
      .flatMap((line) => (line.kind === 'tick' ? [line.replicas.map(({ finished = 0 }) => finished)] : []))
      .at(-1);
  near(last(4, 'least-request'), [100, 100, 100, 100]);
  // A balancer that counted the old ones would fill the new replica first.
  near(last(5, undefined), [80, 80, 80, 80, 80]);
});

test('when a shared connection breaks, those who hear of it later do not break the next one', () => {
  const { world } = new Simulation(scenarioFrom(pinned({ users: 2, clients: '', seconds: 1 })), { seed: 1 });
  const balancers = [balancerByName('round-robin', { seed: 1 })];
  const gate = new Gate({ kind: 'connections', balancers, retries: 0, budget: undefined }, 0);
  gate.setStations(world.fleet.stations, () => true, 0);
  const pins = new Pins({ users: 2, usersPerConnection: 2, keepAlive: undefined }, gate);
  const first = pins.endpointFor(0, 0) ?? assert.fail('somebody is fit');
  assert.equal(pins.endpointFor(1, 0), first);
  pins.broke(0, first, 1);
  const second = pins.endpointFor(0, 1);
  assert.notEqual(second, first);
  pins.broke(1, first, 2);
  assert.equal(pins.endpointFor(1, 2), second);
});
