// Releases that are known to be worse, equal or only dearer, played in imagined time and judged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Comparison } from '../../diagnose.ts';
import type { RunRecord } from '../../record.ts';
import { parseObjective } from '../../scenario.ts';
import { imaginedRuns, storyBase, storyRelease } from '../testing/imagined-sides.ts';
import { compareRuns, type CompareOptions } from './compare.ts';
import { defaultSmallest } from './run-figures.ts';

function check(
  base: readonly RunRecord[],
  candidate: readonly RunRecord[],
  options: Partial<CompareOptions> = {},
): Comparison {
  const comparison = compareRuns(base, candidate, { smallest: defaultSmallest, objectives: [], ...options });
  assert.ok(typeof comparison !== 'string', 'there is something to compare');
  return comparison;
}

const findingOf = ({ effects }: Comparison, name: string): string | undefined =>
  effects.find((effect) => effect.name === name)?.finding;

const base = imaginedRuns('convoy', storyBase, [1, 2, 3, 4]);
const short = ['warm_up=2s', 'duration=8s'];

test('the release of the convoy story is rejected because its users now convoy behind the older machine', () => {
  // How full the fullest replica is varies most of all from run to run: four runs do not always settle it.
  const before = [...base, ...imaginedRuns('convoy', storyBase, [5, 6, 7, 8])];
  const after = imaginedRuns('convoy', [...storyBase, storyRelease], [11, 12, 13, 14, 15, 16, 17, 18]);
  const comparison = check(before, after);
  assert.equal(comparison.verdict, 'reject');
  const { mechanism, reasons, sentence } = comparison;
  assert.deepEqual([mechanism.base.pattern, mechanism.candidate.pattern, mechanism.moved], ['healthy', 'convoy', true]);
  assert.equal(mechanism.candidate.culprit, 'api-2');
  assert.match(sentence, /p99 \+\d+ %: convoy at api-2\.$/);
  for (const reason of [
    /^p99 \+/,
    /^the mechanism: convoy at api-2, healthy before/,
    /^fullest share \+/,
    /a closed loop over strict rotation makes the whole fleet wait for it/,
    /^what set it off: worker time \+(?:18|19|20|21)\.\d %/,
  ]) {
    assert.ok(
      reasons.some((one) => reason.test(one)),
      `${reason} in\n${reasons.join('\n')}`,
    );
  }
  assert.equal(findingOf(comparison, 'largest share'), 'same', 'every replica still gets as many requests');
});

test('the same release again is not rejected', () => {
  const comparison = check(base, imaginedRuns('convoy', storyBase, [21, 22, 23, 24]));
  assert.notEqual(comparison.verdict, 'reject', comparison.sentence);
  assert.equal(comparison.mechanism.moved, false);
});

test('equal sides are never rejected in twenty comparisons of a saturated fleet', () => {
  const settings = ['faults.0.slow.factor=1', ...short];
  for (let index = 0; index < 20; index++) {
    const seeds = [1, 2, 3].map((run) => 1000 + index * 10 + run);
    const others = seeds.map((seed) => seed + 5);
    const { verdict, sentence } = check(
      imaginedRuns('convoy', settings, seeds),
      imaginedRuns('convoy', settings, others),
    );
    assert.notEqual(verdict, 'reject', `seeds from ${seeds[0]}: ${sentence}`);
  }
});

test('a release that costs more and that nobody feels has a price, and is conditional', () => {
  const dearer = imaginedRuns('healthy', ['services.api.service_time=exponential 20ms'], [1, 2, 3, 4]);
  const wide = { all: 0.4, own: new Map([['worker time', 0.05]]) };
  const comparison = check(
    imaginedRuns('healthy', ['services.api.service_time=exponential 18ms'], [5, 6, 7, 8]),
    dearer,
    { smallest: wide },
  );
  assert.equal(comparison.verdict, 'conditional', comparison.sentence);
  assert.match(comparison.conditions.join('\n'), /the price, if it may be paid: worker time \+1\d\.\d %/);
});

test('enough quiet runs of the same sign it off', () => {
  const runs = (from: number): readonly RunRecord[] =>
    imaginedRuns(
      'healthy',
      [],
      Array.from({ length: 6 }, (_, index) => from + index),
    );
  const comparison = check(runs(1), runs(101), { smallest: { all: 0.15, own: new Map() } });
  assert.equal(comparison.verdict, 'sign off', [comparison.sentence, ...comparison.conditions].join('\n'));
});

test('an objective that held and holds no more rejects, one that never held does not', () => {
  const objective = parseObjective('http_req_duration', 'p(95)<150');
  assert.ok(typeof objective !== 'string');
  const worse = imaginedRuns('convoy', [...storyBase, storyRelease], [11, 12, 13, 14]);
  const unlikely = { all: 10, own: new Map<string, number>() };
  const rejected = check(base, worse, { objectives: [objective], smallest: unlikely });
  assert.equal(rejected.verdict, 'reject');
  assert.equal(rejected.objectives[0]?.finding, 'missed');
  const both = check(worse, worse.toReversed(), { objectives: [objective], smallest: unlikely });
  assert.equal(both.objectives[0]?.finding, 'missed before too');
  assert.equal(both.verdict, 'conditional');
});

test('one run a side is never signed off, and says that it needs turns', () => {
  const comparison = check(base.slice(0, 1), base.slice(1, 2), { smallest: { all: 3, own: new Map() } });
  assert.equal(comparison.verdict, 'conditional');
  assert.match(comparison.conditions.join('\n'), /A-B-B-A/);
});

test('another demand on one side is said, and keeps it from being signed off', () => {
  const comparison = check(
    base,
    imaginedRuns('convoy', [...storyBase, 'demand.0.closed.users=600'], [31, 32, 33, 34]),
    {
      smallest: { all: 3, own: new Map() },
    },
  );
  assert.equal(comparison.verdict, 'conditional');
  assert.match(comparison.doubts.join('\n'), /the demand is not the same on both sides: users 640 users .* 600 users/);
});

test('records without a judged second are refused with the side', () => {
  const empty = base.map((record) => ({ ...record, phases: [] }));
  const found = compareRuns(base, empty, { smallest: defaultSmallest, objectives: [] });
  assert.equal(found, 'the candidate has no measured second in any of its records');
});
