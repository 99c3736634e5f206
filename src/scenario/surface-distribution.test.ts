import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { parseScenario } from './parse.ts';
import { constant } from './sampler.ts';

test('a think time is a duration, or a distribution in either form', () => {
  const thinkOf = (text: string): unknown => {
    const parsed = parseScenario(
      `plimsoll: 1\nservices: { api: {} }\ndemand: [{ closed: { users: 8, think: ${text} } }]\n`,
      'my.yaml',
    );
    assert.ok('scenario' in parsed);
    const [users] = parsed.scenario.demand;
    return users?.kind === 'closed' ? users.think : undefined;
  };
  assert.deepEqual(thinkOf('250ms'), constant(ms(250)));
  assert.deepEqual(thinkOf('exponential 10s'), { kind: 'exponential', mean: seconds(10) });
  assert.deepEqual(thinkOf('{ distribution: uniform, min: 1s, max: 3s }'), {
    kind: 'uniform',
    min: seconds(1),
    max: seconds(3),
  });
});
