// The worlds held against each other. All scenarios: `npm run bench:twins`; here one short one, and the judge itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinScenarios, parseScenario, type Scenario } from '../scenario.ts';
import type { Figure } from './figures.ts';
import { figuresOf } from './figures.ts';
import { replicate, seedsFrom } from './replications.ts';
import { labRecord, usualLag } from './testing/lab-record.ts';
import { twinsOf } from './twins.ts';

const short = ['warm_up=1s', 'duration=4s'];

function healthy(): Scenario {
  const text = builtinScenarios.find(({ name }) => name === 'healthy')?.text ?? assert.fail('healthy is built in');
  const parsed = parseScenario(text, 'healthy', short);
  return 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
}

test('four seconds of the healthy fleet: lab and simulator agree in every figure', async (context) => {
  const record = await labRecord('healthy', 1, short);
  if (usualLag(record) > 5e6) {
    context.skip('this machine is too busy to measure on: its generator was usually more than 5 ms late');
    return;
  }
  const phase = record.phases[0] ?? assert.fail('the lab recorded no phase');
  const sim = seedsFrom(1, 12).map((seed) => replicate(healthy(), seed));
  const strays = twinsOf(figuresOf(phase).figures, sim).filter(({ agrees }) => !agrees);
  assert.deepEqual(strays, []);
});

test('a lab that is a tenth faster, or holds its requests elsewhere, is told by the figure that strays', () => {
  const sim = seedsFrom(1, 12).map((seed) => replicate(healthy(), seed));
  const straying = (change: (figure: Figure) => number): readonly string[] => {
    const figures = sim[0]?.figures ?? assert.fail('a run');
    const lab = figures.map((figure) => ({ ...figure, value: change(figure) }));
    return twinsOf(lab, sim)
      .filter(({ agrees }) => !agrees)
      .map(({ figure }) => figure);
  };
  assert.deepEqual(
    straying(({ value }) => value),
    [],
  );
  assert.deepEqual(
    straying(({ name, value }) => (name === 'throughput' ? value * 1.1 : value)),
    ['throughput'],
  );
  assert.deepEqual(
    straying(({ name, value }) => (name === 'in flight at api-3' ? value + 0.2 : value)),
    ['in flight at api-3'],
  );
  assert.deepEqual(
    straying(({ name, value }) => (name === 'p99' ? value * 2 : value)),
    ['p99'],
  );
});
