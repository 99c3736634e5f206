import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../../base.ts';
import { constant, formatProblem, parseScenario, type Scenario } from '../../scenario.ts';
import { type Change, changed, changeText } from './changes.ts';

function scenarioOf(service: string, more = ''): Scenario {
  const text = `plimsoll: 1\nservices: { api: { ${service} } }\n${more}\ndemand: [{ open: { rate: 10/s } }]\n`;
  const parsed = parseScenario(text, 'fleet.yaml');
  return 'scenario' in parsed ? parsed.scenario : assert.fail(parsed.problems.map(formatProblem).join('\n'));
}

function check(scenario: Scenario, change: Change): Scenario {
  const other = changed(scenario, change);
  return typeof other === 'string' ? assert.fail(other) : other;
}

test('a network with a delay or with losses is put where there was none, and keeps what else it had', () => {
  const plain = scenarioOf('');
  assert.deepEqual(check(plain, { kind: 'network-loss', share: 0.01 }).network, {
    delay: constant(ms(0)),
    loss: 0.01,
    faults: [],
  });
  const own = scenarioOf(
    '',
    'network: { between_zones: exponential 4ms, loss: 1% }\nfaults: [{ partition: { of: api-1 } }]',
  );
  assert.deepEqual(check(own, { kind: 'network-delay', delay: ms(2) }).network, {
    delay: constant(ms(2)),
    betweenZones: constant(ms(2)),
    loss: 0.01,
    faults: own.network?.faults,
  });
  assert.equal(changeText({ kind: 'network-delay', delay: ms(2) }), 'messages take 2.00 ms each way');
  assert.equal(changeText({ kind: 'network-loss', share: 0.01 }), '1 % of the messages are lost');
});

test('an autoscaler gets another bound above, never below the one beneath, and only where there is one', () => {
  const fleet = scenarioOf('replicas: 6, autoscale: { min: 3, max: 8 }');
  const of = (max: number): readonly (number | undefined)[] => {
    const [service] = check(fleet, { kind: 'autoscale-max', max }).topology.services;
    return [service?.replicas, service?.autoscale?.min, service?.autoscale?.max];
  };
  assert.deepEqual(of(20), [6, 3, 20]);
  assert.deepEqual(of(4), [4, 3, 4]);
  assert.deepEqual(of(1), [3, 3, 3]);
  assert.equal(changed(scenarioOf(''), { kind: 'autoscale-max', max: 4 }), 'no service has an autoscaler');
});

test('with fewer replicas, what goes wrong with those that are left is left', () => {
  const faults = `faults:
  - { at: 1s, kill: api-4 }
  - { at: 1s, link: { replica: api-4, loss: 1% } }
  - { at: 1s, link: { replica: api-2, loss: 1% } }
  - { at: 2s, partition: { of: api } }`;
  const fewer = check(scenarioOf('', faults), { kind: 'replicas', replicas: 3 });
  assert.deepEqual(fewer.faults, []);
  assert.deepEqual(
    fewer.network?.faults.map(({ kind, at }) => [kind, at]),
    [
      ['link', seconds(1)],
      ['partition', seconds(2)],
    ],
  );
});
