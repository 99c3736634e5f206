// What a service says of its processor and of its pauses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, ns, seconds } from '../base.ts';
import { formatProblem, onlyImagined, parseScenario, type Scenario } from '../scenario.ts';

const withService = (keys: string): string =>
  `plimsoll: 1\nservices: { api: { ${keys} } }\ndemand: [{ closed: { users: 4 } }]\n`;

function scenarioOf(keys: string): Scenario {
  const parsed = parseScenario(withService(keys), 'my.yaml');
  return 'scenario' in parsed ? parsed.scenario : assert.fail(parsed.problems.map(formatProblem).join('\n'));
}

const serviceOf = (keys: string): Scenario['topology']['services'][number] | undefined =>
  scenarioOf(keys).topology.services[0];

function problemsOf(keys: string): readonly string[] {
  const parsed = parseScenario(withService(keys), 'my.yaml');
  return ('problems' in parsed ? parsed.problems : parsed.warnings).map(formatProblem);
}

test('processor time is a duration or a distribution, none without the key', () => {
  assert.deepEqual(serviceOf('workers: 2')?.cpuTime, { kind: 'constant', value: ns(0) });
  assert.deepEqual(serviceOf('cpu_time: 5ms')?.cpuTime, { kind: 'constant', value: ms(5) });
  assert.deepEqual(serviceOf('cpu_time: exponential 5ms')?.cpuTime, { kind: 'exponential', mean: ms(5) });
  assert.deepEqual(problemsOf('cpu_time: exponential'), [
    'my.yaml:2:30: services.api.cpu_time: expected a duration such as 5ms, or a distribution such as exponential 20ms, constant 5ms, uniform 5ms 15ms or log-normal 20ms 120ms (median and p99), found exponential',
  ]);
});

test('requests share cores where they share the processor, and only in imagined time', () => {
  const shared = 'cpu_time: 5ms, cpu_scheduling: shared, cores: 4';
  assert.deepEqual([serviceOf(shared)?.cpuScheduling, serviceOf(shared)?.cores], ['shared', 4]);
  assert.deepEqual(onlyImagined(scenarioOf(shared)), ['a processor of api that its requests share']);
  assert.deepEqual(onlyImagined(scenarioOf('cpu_time: 5ms, cpu_scheduling: fifo, cores: 1')), []);
  assert.deepEqual(problemsOf('cpu_time: 5ms, cores: 4'), [
    'my.yaml:2:35: services.api.cores: one thread uses one core: expected cpu_scheduling: shared, or no cores',
  ]);
  assert.deepEqual(problemsOf('cpu_scheduling: shared'), [
    'my.yaml:2:20: services.api.cpu_scheduling: requests of api share a processor and need none of it: cpu_time says how much each needs',
  ]);
});

test('pauses have a distance and a length, and there is something between two of them', () => {
  assert.deepEqual(serviceOf('gc_pauses: { every: exponential 2s, length: constant 50ms }')?.gcPauses, {
    every: { kind: 'exponential', mean: seconds(2) },
    length: { kind: 'constant', value: ms(50) },
  });
  assert.deepEqual(problemsOf('gc_pauses: { every: constant 0s, length: constant 50ms }'), [
    'my.yaml:2:40: services.api.gc_pauses.every: expected more than 0s between two',
  ]);
});
