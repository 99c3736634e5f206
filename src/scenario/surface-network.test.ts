import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, ns, seconds } from '../base.ts';
import { formatProblem, parseScenario, type Scenario } from '../scenario.ts';

/** A scenario with nothing wrong, to which a test adds its own. */
const plain = `plimsoll: 1
services:
  api: {}
gateway: {}
demand:
  - closed: { users: 8 }
`;

/** Compares every problem of `text` with `expected`. */
function check(text: string, expected: readonly string[]): void {
  const parsed = parseScenario(text, 'my.yaml');
  assert.deepEqual('problems' in parsed ? parsed.problems.map(formatProblem) : [], expected);
}

function scenarioOf(text: string): Scenario {
  const parsed = parseScenario(text, 'my.yaml');
  return 'scenario' in parsed ? parsed.scenario : assert.fail(parsed.problems.map(formatProblem).join('\n'));
}

test('faults of the network stand apart, and bring a network that is otherwise as if there were none', () => {
  const { faults, network } = scenarioOf(`${plain}faults:
  - { at: 1s, kill: api-1 }
  - { at: 1s, for: 2s, partition: { of: api-1, from: users } }
  - { at: 2s, link: { replica: api-2, delay: 50ms, loss: 2% } }
`);
  assert.deepEqual(
    faults.map(({ kind }) => kind),
    ['kill'],
  );
  assert.deepEqual(network, {
    delay: { kind: 'constant', value: ns(0) },
    loss: 0,
    faults: [
      { at: seconds(1), for: seconds(2), kind: 'partition', of: 'api-1', from: 'users' },
      { at: seconds(2), for: undefined, kind: 'link', replica: 'api-2', delay: ms(50), loss: 0.02 },
    ],
  });
  assert.equal(scenarioOf(plain).network, undefined);
  const own = scenarioOf(`${plain}network: { between_zones: exponential 2ms, loss: 0.1% }\n`).network;
  assert.deepEqual(own, {
    delay: { kind: 'constant', value: ns(500_000) },
    betweenZones: { kind: 'exponential', mean: ms(2) },
    loss: 0.001,
    faults: [],
  });
});

test('a partition is of something that is there', () => {
  check(
    `${plain.replace('api: {}', 'api: { zones: [east, west] }')}faults:
  - { partition: { of: east, from: west } }
  - { partition: { of: gateway } }
  - { partition: { of: api-4, from: users } }
  - { partition: { of: api-5 } }
  - { partition: { of: api, from: nroth } }
  - { link: { replica: web-1 } }
`,
    [
      "my.yaml:11:24: faults.3.partition.of: unknown side of a partition 'api-5': expected one of api, users, gateway, east, west. Did you mean api?",
      "my.yaml:12:35: faults.4.partition.from: unknown side of a partition 'nroth': expected one of api, users, gateway, east, west.",
      'my.yaml:13:24: faults.5.link.replica: no replica web-1: web is neither a service nor a dependency.',
    ],
  );
});

test('clients behind a gateway stand in a zone where there is a network to which that matters', () => {
  const zoned = plain.replace('demand:', 'clients: { users: { zone: east } }\ndemand:');
  check(zoned, [
    'my.yaml:5:21: clients.users.zone: these clients go through the gateway: expected via: registry, for zone is about the list of replicas',
  ]);
  assert.equal(scenarioOf(`${zoned}network: {}\n`).topology.clients[0]?.zone, 'east');
});
