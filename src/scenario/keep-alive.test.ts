import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { firstKeepAlive, formatProblem, onlyImagined, parseScenario, unimagined } from '../scenario.ts';

const withClients = (keys: string): string =>
  `plimsoll: 1\nservices: { api: {} }\nclients: { users: { ${keys} } }\ndemand: [{ closed: { users: 4 } }]\n`;

test('first connections end evenly over one life, the last of them with it', () => {
  const first = [0, 1, 2, 3].map((place) => firstKeepAlive({ requests: 100, lifetime: seconds(60) }, place, 4));
  assert.deepEqual(
    first.map(({ requests }) => requests),
    [25, 50, 75, 100],
  );
  assert.deepEqual(
    first.map(({ lifetime }) => lifetime),
    [15, 30, 45, 60].map(seconds),
  );
});

test('a connection carries at least one request, and what is not limited stays so', () => {
  assert.deepEqual(firstKeepAlive({ requests: 1, lifetime: undefined }, 0, 1000), { requests: 1, lifetime: undefined });
  assert.equal(firstKeepAlive({ requests: undefined, lifetime: seconds(1) }, 0, 2).requests, undefined);
});

test('a connection may have a number of requests, a length of life or both, and not neither', () => {
  const parsed = parseScenario(withClients('keep_alive: { requests: 1000, lifetime: 60s }'), 'my.yaml');
  assert.ok('scenario' in parsed);
  assert.deepEqual(parsed.scenario.topology.clients[0]?.keepAlive, { requests: 1000, lifetime: seconds(60) });
  const wrong = parseScenario(withClients('keep_alive: {}'), 'my.yaml');
  assert.ok('problems' in wrong);
  assert.deepEqual(wrong.problems.map(formatProblem), [
    'my.yaml:3:33: clients.users.keep_alive: expected requests, lifetime or both, found neither',
  ]);
});

test('imagined time says that new connections cost nothing there, unless they are placed anew', () => {
  const left = (keys: string): readonly string[] => {
    const parsed = parseScenario(withClients(keys), 'my.yaml');
    return 'scenario' in parsed ? unimagined(parsed.scenario) : assert.fail('expected a scenario');
  };
  assert.deepEqual(left('keep_alive: { requests: 10 }'), ['keep_alive of clients that are not pinned']);
  assert.deepEqual(left('keep_alive: { requests: 10 }, pinned: true'), []);
});

test('pinned is of users who keep a connection, from a list or behind a gateway, and shared connections are of those', () => {
  const problemsOf = (clients: string, demand = 'closed: { users: 4 }'): readonly string[] => {
    const text = `plimsoll: 1\nservices: { api: {} }\ngateway: {}\nclients: { users: { ${clients} } }\ndemand: [{ ${demand} }]\n`;
    const parsed = parseScenario(text, 'my.yaml');
    return 'problems' in parsed ? parsed.problems.map(formatProblem) : [];
  };
  assert.deepEqual(problemsOf('pinned: true, users_per_connection: 5'), []);
  assert.deepEqual(problemsOf('pinned: true, via: forwarder'), [
    'my.yaml:4:21: clients.users.pinned: a forwarder places each request: expected via: registry, or gateway, for pinned connections',
  ]);
  assert.deepEqual(problemsOf('users_per_connection: 5'), [
    'my.yaml:4:21: clients.users.users_per_connection: users share a connection that they keep: expected pinned: true beside it',
  ]);
  assert.deepEqual(problemsOf('pinned: true', 'open: { rate: 10/s }'), [
    'my.yaml:4:21: clients.users.pinned: users keep connections, and an open demand has none: expected a closed demand of these clients',
  ]);
});

test('the lab refuses a balancer of connections with the reason', () => {
  const reasonsOf = (clients: string): readonly string[] => {
    const text = `plimsoll: 1\nservices: { api: {} }\ngateway: {}\nclients: { users: { ${clients} } }\ndemand: [{ closed: { users: 4 } }]\n`;
    const parsed = parseScenario(text, 'my.yaml');
    return 'scenario' in parsed ? onlyImagined(parsed.scenario) : assert.fail('expected a scenario');
  };
  assert.deepEqual(reasonsOf('pinned: true'), ['a gateway that balances connections']);
  assert.deepEqual(reasonsOf('pinned: true, via: registry, keep_alive: { requests: 5 }'), []);
  assert.deepEqual(reasonsOf('pinned: true, via: registry, users_per_connection: 5'), ['users who share a connection']);
});
