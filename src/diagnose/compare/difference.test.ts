// Differences between sets of runs against theory: how often an interval holds the truth, and how often equal sides differ.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice } from '../../base.ts';
import { binomialAtMost, normalQuantile } from '../../stats.ts';
import { chanceOf, differenceOf, intervalOf, type RunValue } from './difference.ts';
import { effectOf, type FigureKind } from './effect.ts';

const seed = 20_261_130;
const die = dice(seed, 'differences');
const normal = (): number => normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, die.next())));

/** A-B-B-A, `rounds` times. `drift` is added from run to run. */
function sides(rounds: number, effect: number, drift: number): readonly [RunValue[], RunValue[]] {
  const found: [RunValue[], RunValue[]] = [[], []];
  for (let order = 0; order < rounds * 4; order++) {
    const side = order % 4 === 0 || order % 4 === 3 ? 0 : 1;
    found[side].push({ value: 10 + normal() + side * effect + drift * order, error: undefined, order });
  }
  return found;
}

/** Whether so many of so many is what this probability gives, at one in a million to either side. */
function expectShare(count: number, of: number, probability: number): void {
  assert.ok(
    binomialAtMost(count, of, probability) > 1e-6,
    `${count} of ${of} is too few for ${probability}, seed ${seed}`,
  );
  assert.ok(
    1 - binomialAtMost(count - 1, of, probability) > 1e-6,
    `${count} of ${of} is too many for ${probability}, seed ${seed}`,
  );
}

test('the 95 % interval holds the effect in 95 % of all comparisons, with a drift and without', () => {
  for (const drift of [0, 0.7]) {
    let held = 0;
    for (let index = 0; index < 2000; index++) {
      const difference = differenceOf(...sides(2, 1.5, drift));
      assert.ok(difference !== undefined);
      assert.equal(difference.basis, 'runs with drift');
      const { low, high } = intervalOf(difference, 0.95);
      if (low <= 1.5 && 1.5 <= high) held += 1;
    }
    expectShare(held, 2000, 0.95);
  }
});

test('equal sides look worse at a level of 1 % in one of a hundred comparisons', () => {
  let worse = 0;
  for (let index = 0; index < 5000; index++) {
    const difference = differenceOf(...sides(2, 0, 0));
    if (difference !== undefined && chanceOf(difference, 1) < 0.01) worse += 1;
  }
  expectShare(worse, 5000, 0.01);
});

test('a base before a candidate cannot be told from a drift, so the drift is not taken out', () => {
  const runs = Array.from({ length: 8 }, (_, order): RunValue => ({
    value: order + normal(),
    error: undefined,
    order,
  }));
  assert.equal(differenceOf(runs.slice(0, 4), runs.slice(4))?.basis, 'runs');
});

test('runs that agree by chance do not make the error smaller than their own seconds say', () => {
  const run = (value: number): RunValue => ({ value, error: 0.5, order: undefined });
  const difference = differenceOf([run(1), run(1)], [run(1), run(1)]);
  assert.ok(difference !== undefined && Math.abs(difference.error - Math.hypot(0.5, 0.5) / Math.SQRT2) < 1e-12);
});

test('one run a side has the error of its seconds, and without them there is no difference', () => {
  const known = differenceOf([{ value: 1, error: 3, order: 0 }], [{ value: 3, error: 4, order: 1 }]);
  assert.deepEqual(known, { estimate: 2, error: 5, degrees: 10, basis: 'inside one run' });
  const alone: RunValue = { value: 1, error: undefined, order: 0 };
  assert.equal(differenceOf([alone], [alone]), undefined);
  assert.equal(differenceOf([], [alone]), undefined);
});

const latency: FigureKind = {
  name: 'p99',
  unit: 'nanoseconds',
  role: 'gate',
  better: 'less',
  scale: 'ratio',
  smallest: 0.05,
};
const runs = (...values: readonly number[]): RunValue[] =>
  values.map((value) => ({ value, error: undefined, order: undefined }));
const findingOf = (kind: FigureKind, base: readonly number[], candidate: readonly number[]): string | undefined =>
  effectOf(kind, runs(...base), runs(...candidate), 0.002)?.finding;

test('an effect is worse, better, the same or not settled, on the side that is bad for the figure', () => {
  const quiet = [100, 100.2, 99.9, 100.1];
  const more = quiet.map((value) => value * 1.1);
  const throughput: FigureKind = { ...latency, name: 'throughput', better: 'more' };
  assert.equal(findingOf(latency, quiet, more), 'worse');
  assert.equal(findingOf(throughput, quiet, more), 'better');
  assert.equal(findingOf(throughput, more, quiet), 'worse');
  assert.equal(findingOf(latency, quiet, [100.1, 100, 100.2, 99.9]), 'same');
  assert.equal(findingOf(latency, [80, 120, 95, 110], [90, 130, 100, 105]), 'unsettled');
});

test('what is certain but smaller than what matters is no harm', () => {
  const quiet = [100, 100.1, 99.9, 100];
  assert.equal(
    findingOf(
      latency,
      quiet,
      quiet.map((value) => value * 1.04),
    ),
    'same',
  );
  assert.equal(
    findingOf(
      latency,
      quiet,
      quiet.map((value) => value * 1.06),
    ),
    'worse',
  );
});

test('an unsettled effect says how many runs would settle it, and a times value of zero is left out', () => {
  const found = effectOf(latency, runs(80, 120, 95, 110), runs(90, 130, 100, 105), 0.002);
  assert.ok(found?.runsNeeded !== undefined && found.runsNeeded > 4, String(found?.runsNeeded));
  assert.equal(effectOf(latency, runs(0, 0), runs(1, 1), 0.002), undefined);
});
