// Standings of changes whose effects are known, from figures made up for them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../base.ts';
import type { Replication } from '../replications.ts';
import { histogramFields, Histogram } from '../../stats.ts';
import { inRank, judge, type Measure, type Standing } from './rank.ts';

const latency = histogramFields(new Histogram());
const measure: Measure = { figure: 'throughput', unit: 'per-second', better: 'more', least: 5, because: 'of a test' };

function runs(throughput: (run: number) => number, failed: (run: number) => number = () => 0): readonly Replication[] {
  return Array.from({ length: 10 }, (_, run) => ({
    figures: [
      { name: 'throughput', unit: 'per-second', value: throughput(run) },
      { name: 'failed', unit: 'share', value: failed(run) },
    ],
    latency,
  }));
}

/** Each run has its own luck, which both alternatives meet. */
const luck = (run: number): number => 40 * dice(1, `luck ${run}`).normal();
const noise = (run: number): number => dice(2, `noise ${run}`).normal();
const base = runs((run) => 100 + luck(run));

const table: readonly (readonly [what: string, changed: readonly Replication[], standing: Standing])[] = [
  ['twenty more', runs((run) => 120 + luck(run) + noise(run)), 'helps'],
  ['twenty less', runs((run) => 80 + luck(run) + noise(run)), 'makes it worse'],
  ['the same', runs((run) => 100 + luck(run) + noise(run)), 'changes nothing'],
  ['two more, which nobody would notice', runs((run) => 102 + luck(run) + 0.1 * noise(run)), 'changes nothing'],
  ['other luck', runs((run) => 104 + luck(run + 100)), 'no effect seen'],
  [
    'twenty more, and half of it refused',
    runs(
      (run) => 120 + luck(run) + noise(run),
      () => 0.5,
    ),
    'makes it worse',
  ],
];

for (const [what, changed, standing] of table) {
  test(`${what}: ${standing}`, () => assert.equal(judge(measure, base, changed, 1)?.standing, standing));
}

test('the more is compared, the wider each interval', () => {
  const changed = runs((run) => 120 + luck(run) + noise(run));
  const width = (others: number): number => {
    const { difference } = judge(measure, base, changed, others) ?? assert.fail('judged');
    return difference.high - difference.low;
  };
  // Student's quantiles of 9 degrees of freedom at 97.5 % and 99.75 %: 2.262 and 3.690.
  assert.ok(Math.abs(width(10) / width(1) - 3.69 / 2.262) < 0.01);
});

test('what helps most comes first, then what does nothing, then what harms', () => {
  const judged = table.flatMap(([what, changed]) => {
    const judgement = judge(measure, base, changed, table.length);
    return judgement === undefined ? [] : [{ what, judgement }];
  });
  assert.deepEqual(
    inRank(judged, measure).map(({ judgement }) => judgement.standing),
    ['helps', 'changes nothing', 'changes nothing', 'no effect seen', 'makes it worse', 'makes it worse'],
  );
});
