// Fits and predictions. The record is one of the imagined convoy, whose truth is known.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '../../base.ts';
import { type RecordLine, recordOf, type RunRecord } from '../../record.ts';
import { baselineOf, builtinScenarios, distributionMean, parseScenario, type Scenario } from '../../scenario.ts';
import { simulate } from '../../sim.ts';
import { figureNamed, figuresOf } from '../figures.ts';
import { changed } from './changes.ts';
import { fitFleet, type FittedFleet } from './fit-fleet.ts';
import { whatIf, type WhatIf, whatIfScenario } from './what-if.ts';

function builtin(name: string, settings: readonly string[] = []): Scenario {
  const found = builtinScenarios.find((each) => each.name === name) ?? assert.fail(`no scenario ${name}`);
  const parsed = parseScenario(found.text, name, settings);
  return 'scenario' in parsed ? parsed.scenario : assert.fail(JSON.stringify(parsed.problems));
}

const problemOf = (result: unknown): string => (typeof result === 'string' ? result : assert.fail('a problem'));

/** The baseline, then the same fleet under least-request. */
function convoyRecord(seed: number): RunRecord {
  const scenario = builtin('convoy');
  const baseline = baselineOf(scenario);
  const swapped = { ...baseline, name: 'swap-policy', policy: 'least-request' as const, duration: seconds(24) };
  return recordOf([...simulate(scenario, { seed, phases: [{ arrangement: baseline }, { arrangement: swapped }] })]);
}

function fitted(record: RunRecord): FittedFleet {
  const fleet = fitFleet(record);
  return typeof fleet === 'string' ? assert.fail(fleet) : fleet;
}

test('a convoy is fitted: who is slow and by how much, who asks, how work scatters', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { scenario } = fitted(convoyRecord(seed));
    const [service] = scenario.topology.services;
    assert.equal(service?.replicas, 4);
    assert.equal(service?.workers, 4);
    assert.equal(service?.serviceTime.kind, 'exponential');
    const mean = service?.serviceTime.kind === 'exponential' ? service.serviceTime.mean / 1e6 : Number.NaN;
    // 12,000 exponential pieces of work: 0.9 % is one standard error, and three are allowed.
    assert.ok(Math.abs(mean / 20 - 1) < 0.027, `${mean} ms`);
    assert.equal(scenario.faults.length, 1, JSON.stringify(scenario.faults));
    const [fault] = scenario.faults;
    assert.ok(fault?.kind === 'slow' && fault.replica === 'api-2');
    assert.ok(Math.abs(fault.factor / 1.15 - 1) < 0.06, `${fault.factor}`);
    const [demand] = scenario.demand;
    assert.ok(demand?.kind === 'closed' && demand.users === 64 && distributionMean(demand.think) < 1e6);
  }
});

test('the fitted convoy does what was seen, and least-request then does what least-request did: within 5 %', async () => {
  for (const seed of [1, 2]) {
    const record = convoyRecord(seed);
    const result = await whatIf(record, fitted(record), {
      changes: [{ kind: 'policy', policy: 'least-request' }],
      replications: 12,
      workers: 1,
      seed: 100,
    });
    // Of eight figures at 95 % one may stray.
    assert.ok(result.fitness.filter(({ within }) => !within).length <= 1, JSON.stringify(result.fitness));
    const predicted = result.alternatives[1]?.figures.find(({ name }) => name === 'throughput');
    const phase = record.phases[1] ?? assert.fail('the swap is in the record');
    const measured = figureNamed(figuresOf(phase).figures, 'throughput') ?? Number.NaN;
    assert.ok(predicted !== undefined && Math.abs(predicted.value / measured - 1) < 0.05, `${measured}`);
    const difference = result.alternatives[1]?.differences?.find(({ name }) => name === 'throughput');
    assert.ok(difference !== undefined && difference.low > 30, JSON.stringify(difference));
  }
});

test('a record without service times, or without workers, is told why it cannot be fitted', () => {
  const lines: RecordLine[] = [...simulate(builtin('healthy'), { seed: 1 })];
  const without = lines.map((line) =>
    line.kind === 'tick'
      ? {
          ...line,
          replicas: line.replicas.map(({ id, finished }) => ({ id, ...(finished === undefined ? {} : { finished }) })),
        }
      : line,
  );
  assert.match(problemOf(fitFleet(recordOf(without))), /how long the workers of api work/);
});

const standings = (result: WhatIf): ReadonlyMap<string, string | undefined> =>
  new Map(result.alternatives.slice(1).map(({ title, judgement }) => [title, judgement?.standing]));

/** What the story says: a deadline below the outer one, a budget and bounded queues help; processors and longer waits do not. */
function holdsTheStory(result: WhatIf): void {
  const found = standings(result);
  const told = JSON.stringify([...found]);
  for (const title of ['calls give up after 200 ms', 'retry budget 10 %', 'at most 12 waiting in each']) {
    assert.equal(found.get(title), 'helps', `${title}: ${told}`);
  }
  for (const title of ['processors 2 times as fast', 'back-off 1.00 s']) {
    assert.ok(found.has(title) && found.get(title) !== 'helps', `${title}: ${told}`);
  }
  // As long as nobody was left to be asked, the queues emptied.
  assert.equal(found.get('health checks with workers of their own'), 'makes it worse', told);
}

test('no-healthy-upstream: the story alone proposes its fixes and ranks them', async () => {
  const result = await whatIfScenario(builtin('no-healthy-upstream'), {
    changes: [],
    replications: 12,
    workers: 1,
    seed: 1,
  });
  holdsTheStory(result);
  assert.equal(result.measure.figure, 'failed');
  assert.equal(result.alternatives[1]?.title, 'calls give up after 200 ms');
  const back = result.alternatives[1].figures.find(({ name }) => name === 'back after')?.value ?? Number.NaN;
  assert.ok(back < 5e9, `${back / 1e9} s`);
});

test('no-healthy-upstream: a record of it, whose fault nobody tells, ranks the same fixes', async () => {
  const scenario = builtin('no-healthy-upstream');
  const record = recordOf([...simulate(scenario, { seed: 2, phases: [{ arrangement: baselineOf(scenario) }] })]);
  const result = await whatIf(record, fitted(record), { changes: [], replications: 12, workers: 1, seed: 1 });
  assert.equal(result.refusal, undefined, JSON.stringify(result.fitness));
  holdsTheStory(result);
});

test('retry-storm: a retry budget and bounded queues bring it back, a longer back-off does not', async () => {
  const result = await whatIfScenario(builtin('retry-storm'), {
    changes: [
      { kind: 'back-off', backOff: seconds(0.2) },
      { kind: 'retry-budget', share: 0.1 },
      { kind: 'queue-limit', limit: 10 },
    ],
    replications: 4,
    workers: 1,
    seed: 1,
  });
  assert.deepEqual(
    [...standings(result)].filter(([title]) => title !== 'all of these'),
    [
      ['at most 10 waiting in each', 'helps'],
      ['retry budget 10 %', 'helps'],
      ['back-off 200 ms', 'changes nothing'],
    ],
  );
});

test('a fit that does not do what was seen predicts nothing, unless it is asked to', async () => {
  const record = convoyRecord(1);
  const fleet = fitted(record);
  // As if the record had hidden that half of the fleet is another's.
  const [service] = fleet.scenario.topology.services;
  const topology = { ...fleet.scenario.topology, services: service === undefined ? [] : [{ ...service, workers: 2 }] };
  const wrong = { ...fleet, scenario: { ...fleet.scenario, topology } };
  const options = { changes: [{ kind: 'users', users: 16 }], replications: 3, workers: 1, seed: 1 } as const;
  const refused = await whatIf(record, wrong, options);
  assert.match(refused.refusal ?? '', /does not do what was seen \(throughput\)/);
  assert.equal(refused.alternatives.length, 1);
  const anyway = await whatIf(record, wrong, { ...options, anyway: true });
  assert.equal(anyway.alternatives.length, 2);
});

test('who stops it gets the changes that were played', async () => {
  const stop = new AbortController();
  const result = await whatIfScenario(builtin('healthy'), {
    changes: [
      { kind: 'users', users: 16 },
      { kind: 'users', users: 32 },
    ],
    replications: 3,
    workers: 1,
    seed: 1,
    stop: stop.signal,
    onRun: (finished, of) => {
      assert.equal(of, 9);
      if (finished === 7) stop.abort();
    },
  });
  assert.deepEqual(
    result.alternatives.map(({ title }) => title),
    ['as it is', '16 users'],
  );
});

test('what cannot be changed says why', () => {
  const convoy = builtin('convoy');
  assert.equal(changed(convoy, { kind: 'retry-budget', share: 0.1 }), 'nobody is known to ask again');
  assert.equal(changed(convoy, { kind: 'call-timeout', timeout: seconds(1) }), 'no service calls another');
  assert.match(problemOf(changed(convoy, { kind: 'rate', ratePerSecond: 3 })), /closed/);
});
