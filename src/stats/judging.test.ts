// Reference values without another source are SciPy's for the same numbers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dice } from '../base.ts';
import { binomialAtMost } from './distributions.ts';
import { benjaminiHochbergAdjusted, holmAdjusted } from './many-tests.ts';
import { symmetryTest, symmetryTests } from './symmetry.ts';
import { kolmogorovTest, mannWhitneyTest, midranks, permutationTest, welchTest } from './two-samples.ts';
import { coefficientOfVariation, giniIndex, jainIndex, maxOverMean } from './unevenness.ts';
import { dispersionTest, uniformityTest } from './uniformity.ts';

const close = (actual: number | undefined, expected: number, tolerance = 1e-9): void =>
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance * Math.max(1e-3, Math.abs(expected)),
    `${actual}, expected ${expected}`,
  );

/** Fails when so many successes of so many trials would be a one in a million case at this chance. */
function assertBinomial(successes: number, trials: number, chance: number): void {
  const below = binomialAtMost(successes, trials, chance);
  const above = 1 - binomialAtMost(successes - 1, trials, chance);
  assert.ok(below > 1e-6 && above > 1e-6, `${successes} of ${trials} at a chance of ${chance}`);
}

test('the measures of unevenness agree on equal shares and on one that has all', () => {
  assert.deepEqual([jainIndex([5, 5, 5, 5]), giniIndex([5, 5, 5, 5]), coefficientOfVariation([5, 5, 5, 5])], [1, 0, 0]);
  assert.equal(maxOverMean([5, 5, 5, 5]), 1);
  close(jainIndex([8, 0, 0, 0]), 1 / 4);
  close(giniIndex([8, 0, 0, 0]), 3 / 4);
  close(coefficientOfVariation([8, 0, 0, 0]), Math.sqrt(3));
  close(maxOverMean([8, 0, 0, 0]), 4);
});

test('Gini is half the mean difference of all pairs over the mean', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 20 }), (amounts) => {
      const total = amounts.reduce((sum, amount) => sum + amount, 0);
      const differences = amounts.flatMap((one) => amounts.map((other) => Math.abs(one - other)));
      const expected = differences.reduce((sum, difference) => sum + difference, 0) / (2 * amounts.length * total);
      if (total === 0) assert.equal(giniIndex(amounts), undefined);
      else close(giniIndex(amounts), expected, 1e-9);
    }),
  );
});

test('nothing spread has no unevenness', () => {
  assert.deepEqual([jainIndex([]), jainIndex([0, 0]), giniIndex([0]), maxOverMean([])], Array(4).fill(undefined));
});

test('chi-square against equal shares and against given ones', () => {
  const equal = uniformityTest([16, 18, 16, 14, 12, 12]);
  assert.deepEqual([equal?.statistic, equal?.degrees], [2, 5]);
  close(equal?.pMoreUneven, 0.8491450360846096);
  const weighted = uniformityTest([30, 10, 20], [3, 1, 1]);
  close(weighted?.statistic, 6.666666666666666);
  close(weighted?.pMoreUneven, 0.0356739933472524);
  close(weighted?.largestDeviation, 20 / 12 - 1);
  assert.equal(uniformityTest([10]), undefined);
  assert.equal(uniformityTest([0, 0]), undefined);
});

test('fair dice are seldom called uneven, taking turns is called too even', () => {
  const die = dice(3, 'uniformity');
  let uneven = 0;
  for (let trial = 0; trial < 1000; trial++) {
    const counts = [0, 0, 0, 0];
    for (let throwing = 0; throwing < 400; throwing++) {
      const place = die.below(4);
      counts[place] = (counts[place] ?? 0) + 1;
    }
    if ((uniformityTest(counts)?.pMoreUneven ?? 1) < 0.05) uneven += 1;
  }
  assertBinomial(uneven, 1000, 0.05);
  assert.ok((uniformityTest([101, 100, 100, 100])?.pMoreEven ?? 1) < 1e-3);
});

test('the index of dispersion tells a clock, chance and bursts apart', () => {
  const counts = [3, 5, 4, 6, 2, 5, 4, 4, 7, 3, 5, 4, 6, 3, 4, 5, 4, 2, 5, 4];
  close(dispersionTest(counts)?.index, 7.470588235294118 / 19);
  assert.ok((dispersionTest(counts)?.pMoreRegular ?? 1) < 0.01);
  assert.ok((dispersionTest([0, 30, 0, 0, 28, 0, 1, 0, 33])?.pMoreBursty ?? 1) < 1e-12);
  assert.equal(dispersionTest([4]), undefined);
});

const first = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
const second = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4];
const tied1 = [1, 2, 2, 3, 3, 3, 4, 5, 5, 9];
const tied2 = [3, 4, 4, 5, 5, 6, 7, 7, 8];

test("Welch's test", () => {
  const result = welchTest(first, second);
  close(result?.t, 2.8529548701715215);
  close(result?.degrees, 27.88730398842012);
  close(result?.p, 0.008071938172194903);
  close(result?.low, 0.7986439248746979);
  close(result?.high, 4.868022741791966);
  assert.equal(welchTest([1], [2, 3]), undefined);
  assert.equal(welchTest([1, 1], [1, 1]), undefined);
});

test('the Mann–Whitney test, with and without ties', () => {
  const plain = mannWhitneyTest(first, second);
  assert.equal(plain?.u, 179.5);
  close(plain?.p, 0.005788641486744119);
  close(plain?.superiority, 179.5 / 225);
  const tied = mannWhitneyTest(tied1, tied2);
  assert.equal(tied?.u, 69.5);
  close(tied?.p, 0.04744257939372924);
  assert.equal(mannWhitneyTest([2, 2], [2, 2, 2]), undefined);
  assert.equal(mannWhitneyTest([], [2]), undefined);
});

test('equal values share the mean of their ranks', () => {
  assert.deepEqual(midranks([30, 10, 20, 10]), { ranks: [4, 1.5, 3, 1.5], ties: 6 });
});

test('the Kolmogorov–Smirnov test, with and without ties', () => {
  const plain = kolmogorovTest(first, second);
  close(plain?.distance, 0.5333333333333333);
  close(plain?.p, 0.016786481071967625);
  const tied = kolmogorovTest(tied1, tied2);
  close(tied?.distance, 0.4888888888888889);
  close(tied?.p, 0.14365902214021908);
  assert.equal(kolmogorovTest([1, 2], [1, 2])?.distance, 0);
  assert.equal(kolmogorovTest([], [1]), undefined);
});

test('the permutation test comes to what counting all deals gives', () => {
  // Of the 20 ways to deal six values into threes, only the observed one and its mirror image are as far apart.
  const p = permutationTest([1, 2, 3], [10, 11, 12], { permutations: 20_000, dice: dice(5, 'deals') });
  assertBinomial(Math.round(p * 20_001) - 1, 20_000, 0.1);
});

test('the observed deal is one of the deals, so that no p is 0', () => {
  const options = { permutations: 9, dice: dice(1, 'deals') };
  assert.equal(permutationTest([1, 1], [1, 1], options), 1);
  const far = permutationTest(Array<number>(20).fill(0), Array<number>(20).fill(1), options);
  assert.equal(far, 0.1);
});

test('tests of samples that do not differ say so as often as they should', () => {
  const die = dice(8, 'level');
  const sample = (): number[] => Array.from({ length: 20 }, () => die.exponential(20));
  const rejections = { welch: 0, mannWhitney: 0, kolmogorov: 0, permutation: 0 };
  const trials = 500;
  for (let trial = 0; trial < trials; trial++) {
    const [one, other] = [sample(), sample()];
    if ((welchTest(one, other)?.p ?? 1) < 0.05) rejections.welch += 1;
    if ((mannWhitneyTest(one, other)?.p ?? 1) < 0.05) rejections.mannWhitney += 1;
    if ((kolmogorovTest(one, other)?.p ?? 1) < 0.05) rejections.kolmogorov += 1;
    if (permutationTest(one, other, { permutations: 99, dice: die }) <= 0.05) rejections.permutation += 1;
  }
  assertBinomial(rejections.mannWhitney, trials, 0.05);
  assertBinomial(rejections.permutation, trials, 0.05);
  // Welch's is made for bell shapes and the other for large samples: both may say yes more seldom, not more often.
  assert.ok(rejections.welch <= 45 && rejections.kolmogorov <= 45, JSON.stringify(rejections));
});

test('many tests: Holm and Benjamini–Hochberg', () => {
  const ps = [0.01, 0.04, 0.03, 0.005, 0.5, 0.03];
  const expected = [0.03, 0.048, 0.045, 0.03, 0.5, 0.045];
  benjaminiHochbergAdjusted(ps).forEach((p, index) => close(p, expected[index] ?? 0));
  // By hand: 0.005·6, 0.01·5, 0.03·4, then never less than the one before.
  const holm = [0.05, 0.12, 0.12, 0.03, 0.5, 0.12];
  holmAdjusted(ps).forEach((p, index) => close(p, holm[index] ?? 0));
  assert.deepEqual(holmAdjusted([]), []);
  assert.deepEqual(holmAdjusted([0.9, 0.9]), [1, 1]);
});

test('adjusting keeps the order and never lowers', () => {
  const ps = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(ps, (raw) => {
      for (const adjusted of [holmAdjusted(raw), benjaminiHochbergAdjusted(raw)]) {
        raw.forEach((p, one) => {
          assert.ok((adjusted[one] ?? 0) >= p * (1 - 1e-12) && (adjusted[one] ?? 0) <= 1);
          raw.forEach((q, other) => {
            if (p < q) assert.ok((adjusted[one] ?? 0) <= (adjusted[other] ?? 0) + 1e-12);
          });
        });
      }
    }),
  );
});

/** A fleet's ticks: each replica a normal value around its own mean. */
function ticks(seed: number, means: readonly number[], deviation: number, count = 24): readonly (readonly number[])[] {
  const die = dice(seed, 'ticks');
  return Array.from({ length: count }, () => means.map((mean) => mean + deviation * die.normal()));
}

test('one replica that stands out is found, whichever it is and in whichever direction', () => {
  const options = { dice: dice(1, 'symmetry') };
  const above = symmetryTest(ticks(1, [6, 6, 44, 8], 3), options);
  assert.equal(above?.outlier, 2);
  assert.ok((above?.p ?? 1) <= 0.002);
  close(above?.ratio, 44 / (20 / 3), 0.1);
  const below = symmetryTest(ticks(2, [100, 20, 100, 100], 10), options);
  assert.equal(below?.outlier, 1);
  assert.ok((below?.p ?? 1) <= 0.002 && (below?.ratio ?? 1) < 0.3);
});

test('a fleet of equals is accused once in twenty times at 5 %', () => {
  let accused = 0;
  for (let seed = 0; seed < 300; seed++) {
    const result = symmetryTest(ticks(seed, [16, 16, 16, 16], 5), { dice: dice(seed, 'symmetry'), deals: 99 });
    if ((result?.p ?? 1) <= 0.05) accused += 1;
  }
  assertBinomial(accused, 300, 0.05);
});

test('a convoy skews what is in flight and the time, and leaves the rate alone', () => {
  const tests = symmetryTests(
    {
      rate: ticks(3, [180, 180, 180, 180], 4),
      inFlight: ticks(4, [8, 6, 44, 7], 4),
      time: ticks(5, [44, 33, 244, 39], 20),
    },
    { dice: dice(2, 'symmetry') },
  );
  assert.ok((tests.get('rate')?.p ?? 0) > 0.05);
  assert.ok((tests.get('inFlight')?.p ?? 1) < 0.01);
  assert.ok((tests.get('time')?.p ?? 1) < 0.01);
  assert.equal(tests.get('inFlight')?.outlier, 2);
});

test('symmetry is no question for one replica, one row, or nothing at all', () => {
  const options = { dice: dice(1, 'symmetry') };
  assert.equal(symmetryTest([[1], [2], [3]], options), undefined);
  assert.equal(symmetryTest([[1, 2]], options), undefined);
  assert.equal(
    symmetryTest(
      [
        [0, 0],
        [0, 0],
      ],
      options,
    ),
    undefined,
  );
});
