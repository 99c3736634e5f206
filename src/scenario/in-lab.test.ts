import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inMs } from '../base.ts';
import { builtinScenarios, onlyImagined, parseForLab, type Parsed, parseScenario } from '../scenario.ts';

const plain = `plimsoll: 1
services:
  api: {}
gateway: {}
demand:
  - closed: { users: 8 }
`;

test('every built-in scenario can be played by real processes on the scale that it states', () => {
  for (const { name, text } of builtinScenarios) {
    const parsed = parseForLab(text, name);
    assert.ok('scenario' in parsed);
    assert.deepEqual(onlyImagined(parsed.scenario), [], name);
  }
});

test('on the scale of the lab a scenario has the settings that it states, and a person has the last word', () => {
  const scaled = `${plain}in_lab: { demand.0.closed.users: 7, duration: 2s, services.api.service_time: constant 5ms }\n`;
  const users = (parsed: Parsed): number => {
    assert.ok('scenario' in parsed, JSON.stringify(parsed));
    const [demand] = parsed.scenario.demand;
    return demand?.kind === 'closed' ? demand.users : assert.fail('closed');
  };
  assert.equal(users(parseScenario(scaled, 'my.yaml')), users(parseScenario(plain, 'my.yaml')));
  const inLab = parseForLab(scaled, 'my.yaml');
  assert.equal(users(inLab), 7);
  assert.ok('scenario' in inLab && inMs(inLab.scenario.duration) === 2000);
  assert.equal(users(parseForLab(scaled, 'my.yaml', ['demand.0.closed.users=9'])), 9);
  assert.deepEqual(parseForLab(plain, 'my.yaml'), parseScenario(plain, 'my.yaml'));
  const wrong = parseForLab(`${plain}in_lab: { demand.0.closed.user: 7 }\n`, 'my.yaml');
  assert.ok('problems' in wrong && /--set demand\.0\.closed\.user=7/.test(wrong.problems[0]?.file ?? ''));
});

test('one copy is the service itself', () => {
  const parsed = parseScenario(plain.replace('api: {}', 'api: { copies: 1 }'), 'my.yaml');
  assert.ok('scenario' in parsed && parsed.scenario.topology.services[0]?.name === 'api');
});
