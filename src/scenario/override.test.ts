import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { builtinScenarios, parseScenario, type Scenario, withOverrides } from '../scenario.ts';

function builtin(name: string): Scenario {
  const found = builtinScenarios.find((each) => each.name === name) ?? assert.fail(`no scenario ${name}`);
  const parsed = parseScenario(found.text, name);
  return 'scenario' in parsed ? parsed.scenario : assert.fail('a built-in scenario parses');
}

test('another replica is slow, by another factor', () => {
  const convoy = builtin('convoy');
  const changed = withOverrides(convoy, { slowReplica: 'api-4', slowFactor: 1.3 });
  assert.deepEqual(changed.faults, [{ ...convoy.faults[0], replica: 'api-4', factor: 1.3 }]);
  assert.deepEqual(withOverrides(convoy, { slowFactor: 1.3 }).faults, [{ ...convoy.faults[0], factor: 1.3 }]);
});

test('a scenario without a slow replica gets one from the start', () => {
  const [fault, ...others] = withOverrides(builtin('healthy'), { slowReplica: 'api-1', slowFactor: 2 }).faults;
  assert.deepEqual(fault, { at: 0, for: undefined, kind: 'slow', replica: 'api-1', factor: 2 });
  assert.deepEqual(others, []);
});

test('users go to closed demands, a rate to open ones', () => {
  const [closed] = withOverrides(builtin('convoy'), { users: 7, ratePerSecond: 9 }).demand;
  assert.equal(closed?.kind === 'closed' && closed.users, 7);
  const [open] = withOverrides(builtin('overload'), { users: 7, ratePerSecond: 9 }).demand;
  assert.equal(open?.kind === 'open' && open.ratePerSecond, 9);
});

test('policy, warm-up and duration are replaced; nothing else is, and the first scenario stays', () => {
  const convoy = builtin('convoy');
  const before = structuredClone(convoy);
  const changed = withOverrides(convoy, { policy: 'least-request', warmUp: seconds(1), duration: seconds(2) });
  assert.equal(changed.topology.gateway?.policy, 'least-request');
  assert.deepEqual([changed.warmUp, changed.duration], [seconds(1), seconds(2)]);
  assert.deepEqual(
    withOverrides(changed, { warmUp: convoy.warmUp, duration: convoy.duration, policy: 'round-robin' }),
    convoy,
  );
  assert.deepEqual(convoy, before);
});

test('a policy without a gateway is a mistake of the program', () => {
  assert.throws(() => withOverrides(builtin('pick-first'), { policy: 'random' }), /setting of the gateway/);
});
