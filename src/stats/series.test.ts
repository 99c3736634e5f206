// Tests against theory: how often an interval holds the truth is binomial, and a count that would come once in a million runs
// fails.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dice, type Dice } from '../base.ts';
import { bootstrapInterval } from './bootstrap.ts';
import { changePoints, placeReach } from './change-points.ts';
import { binomialAtMost } from './distributions.ts';
import { batchLengthMin, batchMeans, meanInterval, neighbourCorrelation } from './intervals.ts';
import { meanOf, varianceOf } from './moments.ts';
import { medianOf } from './quantile.ts';
import { trendOf } from './trend.ts';
import { warmUpCut } from './warm-up.ts';

const close = (actual: number | undefined, expected: number, tolerance = 1e-9): void =>
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance * Math.max(1e-3, Math.abs(expected)),
    `${actual}, expected ${expected}`,
  );

/** Runs trials and fails when so few successes would be a one in a million case if each had this chance. */
function assertCoverage(trials: number, chance: number, succeeds: (die: Dice) => boolean): void {
  let successes = 0;
  for (let seed = 0; seed < trials; seed++) if (succeeds(dice(seed, 'coverage'))) successes += 1;
  assert.ok(binomialAtMost(successes, trials, chance) > 1e-6, `${successes} of ${trials} at a chance of ${chance}`);
}

const draws = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);
const holds = (interval: { low: number; high: number } | undefined, truth: number): boolean =>
  interval !== undefined && interval.low <= truth && truth <= interval.high;

test("Student's interval of a mean", () => {
  const values = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
  const interval = meanInterval(values);
  close(interval?.mean, 20.82);
  close(interval?.low, 19.26670165245124);
  close(interval?.high, 22.373298347548754);
  assert.equal(meanInterval([5]), undefined);
});

test('the interval of a mean holds the truth as often as it says, also of few values', () => {
  assertCoverage(1000, 0.95, (die) => holds(meanInterval(draws(5, () => die.normal())), 0));
});

/** Waiting times of customers one after another in an M/M/1 queue that starts with `backlog` of work (Lindley's recurrence). */
function waits(die: Dice, utilisation: number, count: number, backlog = 0): number[] {
  let wait = backlog;
  return draws(count, () => {
    const now = wait;
    wait = Math.max(0, wait + die.exponential(utilisation) - die.exponential(1));
    return now;
  });
}

test('batch means of a long enough run of a queue hold the theory and are trusted', () => {
  // Utilisation 0.5: the mean wait is ρ/(μ − λ) = 0.5/(1/0.5 − 1) = 0.5 in units where the mean service is 0.5.
  assertCoverage(60, 0.93, (die) => {
    const interval = batchMeans(waits(die, 0.5, 20_000));
    return holds(interval, 0.5);
  });
});

test('of two hundred queues at each of three loads the interval holds the truth in nine of ten where batches are long enough, and not where they are a tenth of that', () => {
  const covered = (utilisation: number, batchLength: number): number => {
    // Service 1 ÷ λ·ρ: with arrivals once in a unit the mean wait is ρ² ÷ (1 − ρ).
    const truth = utilisation ** 2 / (1 - utilisation);
    const seeds = Array.from({ length: 200 }, (_, seed) => seed);
    return seeds.filter((seed) => {
      const die = dice(seed, `gate ${utilisation} ${batchLength}`);
      // The start is forgotten first.
      return holds(batchMeans(waits(die, utilisation, 21 * batchLength).slice(batchLength)), truth);
    }).length;
  };
  const all = (times: number): number =>
    [0.5, 0.8, 0.9]
      .map((utilisation) => covered(utilisation, Math.ceil(times * batchLengthMin(utilisation))))
      .reduce((sum, count) => sum + count, 0);
  const [enough, tenth] = [all(1), all(0.1)];
  assert.ok(enough >= 540 && tenth < 510, `${enough} and ${tenth} of 600`);
  assert.equal(batchLengthMin(1), Infinity);
});

test('batches too short for the memory of a queue are not trusted', () => {
  let trusted = 0;
  for (let seed = 0; seed < 50; seed++) {
    if (batchMeans(waits(dice(seed, 'short'), 0.95, 2000))?.trusted === true) trusted += 1;
  }
  // Independent batches would be trusted 47 or 48 times of 50.
  assert.ok(trusted < 40, `${trusted} of 50`);
  assertCoverage(200, 0.95, (die) => batchMeans(draws(2000, () => die.exponential(1)))?.trusted === true);
});

test('what does not fill a batch is left out at the beginning', () => {
  const means = batchMeans([999, 1, 2, 3, 4], { batches: 2 });
  assert.deepEqual([means?.mean, means?.batchLength], [2.5, 2]);
  assert.equal(batchMeans([1, 2, 3], { batches: 20 }), undefined);
});

test('the correlation of neighbours', () => {
  assert.equal(neighbourCorrelation([1, 1, 1]), 0);
  close(neighbourCorrelation([1, -1, 1, -1, 1, -1, 1, -1]), -7 / 8);
});

test('the bootstrap holds a median of skewed values as often as it says', () => {
  assertCoverage(300, 0.93, (die) => {
    const values = draws(40, () => die.exponential(20));
    const options = { resamples: 400, confidence: 0.95, dice: die };
    return holds(
      bootstrapInterval(values, (sample) => medianOf(sample) ?? 0, options),
      20 * Math.LN2,
    );
  });
});

test('the bootstrap of a mean comes near the interval of the textbook', () => {
  const die = dice(4, 'bootstrap');
  const values = draws(200, () => 10 + die.normal());
  const textbook = meanInterval(values);
  const interval = bootstrapInterval(values, (sample) => meanOf(sample) ?? 0, {
    resamples: 4000,
    confidence: 0.95,
    dice: die,
  });
  // The ends of 4,000 draws are themselves uncertain by about 3 % of the interval's length.
  const length = (textbook?.high ?? 0) - (textbook?.low ?? 0);
  assert.ok(Math.abs((interval?.low ?? 0) - (textbook?.low ?? 0)) < 0.1 * length);
  assert.ok(Math.abs((interval?.high ?? 0) - (textbook?.high ?? 0)) < 0.1 * length);
  assert.equal(
    bootstrapInterval([1], () => 0, { resamples: 10, confidence: 0.95, dice: die }),
    undefined,
  );
});

test('the corrected ends for a skewed sample are those of SciPy', () => {
  // With 200,000 draws SciPy gives 4.3 and 20.7 or 20.9, by its seed; the plain percentiles would give 3.5 and 16.5.
  const options = { resamples: 20_000, confidence: 0.95, dice: dice(6, 'bootstrap') };
  const interval = bootstrapInterval([1, 2, 2, 3, 4, 5, 7, 9, 14, 40], (sample) => meanOf(sample) ?? 0, options);
  close(interval?.low, 4.3, 0.02);
  close(interval?.high, 20.8, 0.02);
});

test('a bootstrap of values that do not vary is a point', () => {
  const options = { resamples: 100, confidence: 0.95, dice: dice(1, 'bootstrap') };
  assert.deepEqual(
    bootstrapInterval([7, 7, 7], (sample) => meanOf(sample) ?? 0, options),
    { estimate: 7, low: 7, high: 7 },
  );
});

test('a queue that starts with a backlog is cut where the backlog is gone', () => {
  // Backlog 200 at utilisation 0.8: it drains by 0.2 a customer, so theory says 800 customers, and then a mean wait of 3.2.
  const cuts: number[] = [];
  const means: number[] = [];
  for (let seed = 0; seed < 30; seed++) {
    const series = waits(dice(seed, 'warm-up'), 0.8, 40_000, 160);
    const result = warmUpCut(series) ?? assert.fail('the series is long');
    assert.equal(result.settled, true);
    cuts.push(result.cut);
    means.push(result.mean);
  }
  const cut = medianOf(cuts) ?? 0;
  assert.ok(cut > 600 && cut < 1400, `median cut ${cut}`);
  // Thirty means with their own spread: within four standard errors of the theory.
  const error = Math.sqrt((varianceOf(means) ?? 0) / means.length);
  assert.ok(Math.abs((meanOf(means) ?? 0) - 3.2) < 4 * error, `${meanOf(means)} ± ${error}`);
});

test('a series that falls to its level at one place is cut there, to the value', () => {
  const series = [...Array<number>(50).fill(9), ...Array<number>(103).fill(2)];
  assert.deepEqual(warmUpCut(series), { cut: 50, mean: 2, settled: true });
});

test('a series that goes on rising has not settled', () => {
  const series = Array.from({ length: 200 }, (_, index) => index);
  assert.equal(warmUpCut(series)?.settled, false);
  assert.equal(warmUpCut(series)?.cut, 100);
});

test('a steady series is hardly cut, and a short one not at all', () => {
  const die = dice(9, 'steady');
  const result = warmUpCut(draws(1000, () => die.normal()));
  assert.ok(result !== undefined && result.settled && result.cut < 300, `${result?.cut}`);
  assert.equal(warmUpCut([1, 2, 3, 4, 5, 6, 7, 8, 9]), undefined);
});

/** All divisions, the slow obvious way: the best last segment for each end. */
function bestByTrial(series: readonly number[], sigma: number, segmentMin: number): readonly number[] {
  const penalty = 3 * Math.log(series.length);
  const cost = (from: number, to: number): number => {
    const segment = series.slice(from, to);
    return ((varianceOf(segment) ?? 0) * (segment.length - 1)) / sigma ** 2;
  };
  const best: { readonly cost: number; readonly places: readonly number[] }[] = [{ cost: -penalty, places: [] }];
  for (let end = 1; end <= series.length; end++) {
    let least = { cost: Infinity, places: best[0]?.places ?? [] };
    for (let from = 0; from + segmentMin <= end; from++) {
      const before = best[from];
      if (before === undefined) continue;
      const total = before.cost + cost(from, end) + penalty;
      if (total < least.cost) least = { cost: total, places: from === 0 ? [] : [...before.places, from] };
    }
    best.push(least);
  }
  return best[series.length]?.places ?? [];
}

test('the fast search for changes finds what the slow one finds', () => {
  const segment = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: -4, max: 4 }));
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.integer({ min: 1, max: 4 }),
      (segments, seed, segmentMin) => {
        const die = dice(seed, 'changes');
        const series = segments.flatMap(([length, level]) => draws(length, () => level * 2 + die.normal()));
        const found = changePoints(series, { sigma: 1, segmentMin }).map(({ at }) => at);
        assert.deepEqual(found, series.length < 2 * segmentMin ? [] : bestByTrial(series, 1, segmentMin));
      },
    ),
    { numRuns: 300 },
  );
});

test('a step is found at its place, with both levels', () => {
  const series = [...Array<number>(40).fill(10), ...Array<number>(30).fill(14)];
  const die = dice(2, 'step');
  const noisy = series.map((value) => value + 0.5 * die.normal());
  const [change, ...more] = changePoints(noisy);
  assert.equal(more.length, 0);
  assert.equal(change?.at, 40);
  close(change?.before, 10, 0.03);
  close(change?.after, 14, 0.03);
  assert.ok(holds(change, 40) && (change?.high ?? 99) - (change?.low ?? 0) <= 4);
  assert.equal(changePoints(series)[0]?.at, 40);
});

test('several changes each have the levels of their own segments', () => {
  const series = [10, 14, 8].flatMap((level) => Array<number>(20).fill(level));
  const die = dice(3, 'steps');
  const changes = changePoints(series.map((value) => value + 0.3 * die.normal()));
  assert.deepEqual(
    changes.map(({ at, before, after }) => [at, Math.round(before), Math.round(after)]),
    [
      [20, 10, 14],
      [40, 14, 8],
    ],
  );
});

test('the interval for a place holds it as often as it says', () => {
  assertCoverage(300, 0.95, (die) => {
    const series = draws(100, () => die.normal()).map((value, index) => value + (index < 60 ? 10 : 11.5));
    const found = changePoints(series, { sigma: 1 });
    // A trial without the one change says nothing about the interval for its place.
    return found.length !== 1 || holds(found[0], 60);
  });
});

test('noise alone has hardly ever a change', () => {
  assertCoverage(
    200,
    0.97,
    (die) =>
      changePoints(
        draws(120, () => die.normal()),
        { sigma: 1 },
      ).length === 0,
  );
  // The noise is taken from the series itself, and is as uncertain as that is long.
  assertCoverage(200, 0.95, (die) => changePoints(draws(120, () => 40 + 7 * die.normal())).length === 0);
  assertCoverage(200, 0.95, (die) => {
    const series = draws(60, () => 7 * die.normal()).map((value, index) => value + (index < 30 ? 0 : 14));
    return changePoints(series).length > 0;
  });
  assert.deepEqual(changePoints([5, 5, 5, 5, 5, 5, 5, 5]), []);
  assert.deepEqual(changePoints([1, 2]), []);
});

test('the reach of a place is that of the published table', () => {
  // Bai (Review of Economics and Statistics 79, 1997): 7.7, 11.0, 19.8 for 90, 95 and 99 %.
  close(placeReach(0.9), 7.7, 0.01);
  close(placeReach(0.95), 11, 0.01);
  close(placeReach(0.99), 19.8, 0.01);
});

test('the median slope does not mind a point that is nonsense', () => {
  const heights = [1.2, 2.9, 5.1, 6.8, 40, 11.3, 12.8, 15.1, 17.2, 18.9];
  const trend = trendOf(heights.map((y, x) => ({ x, y })));
  close(trend?.slope, 2);
  close(trend?.intercept, 1.1);
  close(trend?.p, 0.00235752759579549);
  assert.ok(
    trend !== undefined && trend.low >= 1.8 && trend.low < 2 && trend.high > 2 && trend.high <= 2.3,
    JSON.stringify(trend),
  );
});

test('the interval of a slope holds the truth as often as it says, and no trend is called one as seldom', () => {
  const points = (die: Dice, slope: number) =>
    draws(25, () => die.normal()).map((noise, x) => ({ x, y: slope * x + noise }));
  assertCoverage(300, 0.95, (die) => holds(trendOf(points(die, 0.3)), 0.3));
  assertCoverage(300, 0.95, (die) => (trendOf(points(die, 0))?.p ?? 0) > 0.05);
});

test('two points, or all at one x, have no trend', () => {
  assert.equal(
    trendOf([
      { x: 1, y: 1 },
      { x: 2, y: 2 },
    ]),
    undefined,
  );
  assert.equal(
    trendOf([
      { x: 1, y: 1 },
      { x: 1, y: 2 },
      { x: 1, y: 3 },
    ]),
    undefined,
  );
});
