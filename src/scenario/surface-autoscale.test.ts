import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../base.ts';
import { formatProblem, onlyImagined, type Parsed, parseScenario } from '../scenario.ts';

const parsed = (service: string): Parsed =>
  parseScenario(`plimsoll: 1\nservices:\n  api: { ${service} }\ndemand: [{ closed: { users: 8 } }]\n`, 'my.yaml');

function check(service: string, expected: readonly string[]): void {
  const found = parsed(service);
  assert.deepEqual('problems' in found ? found.problems.map(formatProblem) : [], expected);
}

test('an autoscaler has the defaults of Kubernetes, and is nothing that a lab can play', () => {
  const found = parsed('autoscale: { max: 10 }');
  assert.ok('scenario' in found);
  assert.deepEqual(found.scenario.topology.services[0]?.autoscale, {
    min: 1,
    max: 10,
    metric: 'workers',
    target: 0.7,
    every: seconds(15),
    tolerance: 0.1,
    startLag: seconds(30),
    scaleDownAfter: seconds(300),
  });
  assert.deepEqual(onlyImagined(found.scenario), ['replicas of api that come and go']);
});

test('bounds that contradict each other or the service are told', () => {
  check('autoscale: { min: 4, max: 3 }', [
    'my.yaml:3:21: services.api.autoscale: min is above max: expected min ≤ max',
  ]);
  check('autoscale: { min: 5, max: 9 }', [
    'my.yaml:3:8: services.api.replicas: api begins with 4 replicas: expected 5 to 9, as autoscale has it',
  ]);
  check('replicas: 12, autoscale: { max: 9 }', [
    'my.yaml:3:20: services.api.replicas: api begins with 12 replicas: expected 1 to 9, as autoscale has it',
  ]);
  check('autoscale: { max: 9, target: 0% }', [
    'my.yaml:3:39: services.api.autoscale.target: expected a target above 0, found 0',
  ]);
  check('autoscale: { max: 9, metric: cpu }', [
    'my.yaml:3:39: services.api.autoscale.metric: requests of api need no processor time: expected cpu_time, or metric: workers',
  ]);
  check('cpu_time: 5ms, autoscale: { max: 9, metric: cpu }', []);
});

test('a target that full replicas hardly exceed is warned about, at the edge of the tolerance', () => {
  const warnings = (target: string): readonly string[] => {
    const found = parsed(`autoscale: { max: 9, target: ${target} }`);
    return 'scenario' in found ? found.warnings.map(({ path }) => path) : assert.fail();
  };
  assert.deepEqual(warnings('90%'), []);
  assert.deepEqual(warnings('91%'), ['services.api.autoscale.target']);
});
