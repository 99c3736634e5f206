// Verdicts on imagined runs, conducted with their experiments as a real one would be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordLine } from '../record.ts';
import { builtinScenarios, parseScenario, type Scenario, withOverrides } from '../scenario.ts';
import { conduct, type RunResult } from './conduct.ts';
import { simWorld } from './sim-world.ts';

function builtin(name: string, settings: readonly string[] = []): Scenario {
  const found = builtinScenarios.find((each) => each.name === name) ?? assert.fail(`no scenario ${name}`);
  const parsed = parseScenario(found.text, name, settings);
  return 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
}

function run(scenario: Scenario, seed: number, stop: AbortSignal = new AbortController().signal): Promise<RunResult> {
  return conduct({
    id: `sim-${seed}`,
    scenario,
    world: simWorld({ scenario, seed }),
    seed,
    startedAt: '1970-01-01T00:00:00Z',
    environment: { plimsoll: 'test' },
    experiments: 'auto',
    tell: () => {},
    stop,
  });
}

const culprits: Readonly<Record<string, string | undefined>> = { convoy: 'api-2', 'slow-replica': 'api-3' };

/** The whole of it takes half a minute a run. */
const smaller: Readonly<Record<string, readonly string[]>> = {
  'internet-scale': ['services.shop.copies=90', 'demand.0.closed.users=135000', 'warm_up=4s', 'duration=16s'],
};

for (const { name } of builtinScenarios.filter(({ text }) => /^expect: /m.test(text))) {
  test(`${name}, three seeds, in imagined time: the verdict is the one that the scenario expects`, async () => {
    const scenario = builtin(name, smaller[name]);
    for (let seed = 1; seed <= 3; seed++) {
      const { diagnosis, interrupted } = await run(scenario, seed);
      assert.equal(interrupted, false);
      assert.equal(diagnosis.verdict.pattern, scenario.expect, `seed ${seed}`);
      if (culprits[name] !== undefined) assert.equal(diagnosis.verdict.culprit, culprits[name], `seed ${seed}`);
    }
  });
}

test('a convoy is told on whichever replica is slow from 5 % on, and below the knee nobody is accused', async () => {
  const convoy = builtin('convoy');
  for (const [index, slowFactor] of [1.05, 1.1, 1.2, 1.3, 1.5].entries()) {
    const slowReplica = `api-${1 + (index % 4)}`;
    const above = await run(withOverrides(convoy, { slowReplica, slowFactor }), index);
    assert.equal(above.diagnosis.verdict.pattern, 'convoy', `${slowFactor}`);
    assert.equal(above.diagnosis.verdict.culprit, slowReplica, `${slowFactor}`);
    const below = await run(withOverrides(convoy, { slowReplica, slowFactor, users: 12 }), index);
    assert.equal(below.diagnosis.verdict.pattern, 'healthy', `${slowFactor}`);
  }
});

test('objectives are held against imagined latencies too', async () => {
  const settings = ["objectives={ http_req_duration: ['p(50)<100', 'p(99)<100'], http_req_failed: rate<0.01 }"];
  const { objectives } = await run(builtin('convoy', settings), 1);
  assert.deepEqual(
    objectives.map(({ expression, met }) => [expression, met]),
    [
      ['p(50)<100', true],
      ['p(99)<100', false],
      ['rate<0.01', true],
    ],
  );
});

test('a stop ends the phase at the next line, and what was recorded is judged', async () => {
  const { interrupted } = await run(builtin('convoy'), 1, AbortSignal.abort());
  assert.equal(interrupted, true);
});

/** Good answers in the ticks of the baseline, and how many replicas its gateway had. */
async function courseOf(name: string): Promise<readonly { readonly answered: number; readonly healthy: number }[]> {
  const lines: RecordLine[] = [];
  const scenario = builtin(name);
  await conduct({
    id: name,
    scenario,
    world: simWorld({ scenario, seed: 1 }),
    seed: 1,
    startedAt: '1970-01-01T00:00:00Z',
    environment: { plimsoll: 'test' },
    experiments: 'none',
    tell: (line) => lines.push(line),
    stop: new AbortController().signal,
  });
  return lines.flatMap((line) =>
    line.kind === 'tick'
      ? [{ answered: line.clients[0]?.answered ?? 0, healthy: line.gateway?.healthy ?? Number.NaN }]
      : [],
  );
}

test('no-healthy-upstream: a slow datastore empties the list of replicas, and retries keep it so long after it is itself again', async () => {
  const course = await courseOf('no-healthy-upstream');
  assert.ok((course[7]?.answered ?? 0) > 150 && course[7]?.healthy === 4);
  assert.deepEqual([course[12]?.answered, course[12]?.healthy], [0, 0]);
  const bad = course.slice(14).filter(({ answered }) => answered < 100).length;
  assert.ok(bad > 5, `${bad} bad seconds of ${course.length - 14}`);
});

test('eviction-cascade: one slow replica takes the others with it, and they are not back 12 s after it has recovered', async () => {
  const course = await courseOf('eviction-cascade');
  assert.equal(course[7]?.healthy, 4);
  const late = course.slice(18);
  assert.ok(Math.min(...late.map(({ healthy }) => healthy)) <= 1);
  assert.ok(late.every(({ healthy }) => healthy < 4));
});

test('retry-storm: ten seconds of slowness at 70 % load, and half a minute later nothing is served', async () => {
  const course = await courseOf('retry-storm');
  assert.ok((course[8]?.answered ?? 0) > 450);
  assert.ok(course.slice(50).every(({ answered }) => answered < 60));
});
