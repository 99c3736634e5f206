// Statistics are held against theory. Each interval is at 4.5 standard errors or the chi-square quantile at 1 − 10^-5, and
// the seeds are fixed: a correct generator would fail one of these about once in 100,000 choices of seed, and then always.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { dice, firstState } from './chance.ts';

const draws = 100_000;
const standardErrors = 4.5;

function sample(count: number, draw: () => number): number[] {
  return Array.from({ length: count }, draw);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Asserts a mean against `expected`, knowing the deviation of one value. */
function checkMean(values: readonly number[], expected: number, deviation: number, what: string): void {
  const error = (standardErrors * deviation) / Math.sqrt(values.length);
  const observed = mean(values);
  assert.ok(Math.abs(observed - expected) <= error, `${what}: ${observed}, expected ${expected} ± ${error}`);
}

/** Pearson's statistic of counts that should be equal. */
function chiSquare(counts: readonly number[]): number {
  const expected = mean(counts);
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

/** Chi-square quantile at 1 − 10^-5 by Wilson and Hilferty's cube (within 1 % from 2 degrees of freedom on). */
function chiSquareLimit(degrees: number): number {
  const normalQuantile = 4.2649;
  const share = 2 / (9 * degrees);
  return degrees * (1 - share + normalQuantile * Math.sqrt(share)) ** 3;
}

function countInto(bins: number, values: readonly number[]): number[] {
  const counts = sample(bins, () => 0);
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Correlation of two equally long series of uniform draws; its standard error under independence is 1/√n. */
function correlation(left: readonly number[], right: readonly number[]): number {
  return 12 * mean(left.map((value, index) => (value - 0.5) * ((right[index] ?? 0) - 0.5)));
}

test('equal seeds and names give equal sequences', () => {
  const left = dice(7, 'arrivals');
  const right = dice(7, 'arrivals');
  assert.deepEqual(
    sample(100, () => left.next()),
    sample(100, () => right.next()),
  );
});

test('a sequence is the same on every machine and in every release: these are its first values', () => {
  const arrivals = dice(1, 'arrivals');
  assert.deepEqual(
    sample(4, () => arrivals.below(1_000_000)),
    [493_023, 557_847, 39_757, 656_422],
  );
});

test('draw for draw the same as another implementation of the generator', () => {
  for (const name of ['arrivals', 'service/api-1', '']) {
    const other = xoroshiro128plusFromState(firstState(5, name));
    const ours = dice(5, name);
    for (let draw = 0; draw < 10_000; draw++) assert.equal(ours.next(), (other.next() >>> 0) / 2 ** 32);
  }
});

test('another seed, another name, or the high half of a seed gives another sequence', () => {
  const first = (seed: number, name: string): number => dice(seed, name).next();
  const seeds = [0, 1, 2, 3, 1 + 2 ** 32, 2 ** 33, 2 ** 53 - 1];
  const names = ['', 'a', 'b', 'c', 'ab', 'ba', 'api-1', 'api-2', 'bpi-1'];
  const values = seeds.flatMap((seed) => names.map((name) => first(seed, name)));
  assert.equal(new Set(values).size, values.length);
});

test('what one stream draws does not depend on what another has drawn', () => {
  const alone = dice(3, 'service');
  const expected = sample(50, () => alone.next());
  const service = dice(3, 'service');
  const other = dice(3, 'other');
  const mixed = sample(50, () => {
    other.next();
    other.normal();
    return service.next();
  });
  assert.deepEqual(mixed, expected);
});

test('streams of one seed are uncorrelated, and so are neighbouring seeds of one name', () => {
  const limit = standardErrors / Math.sqrt(draws);
  const pairs: [string, number, string, number][] = [
    ['api-1', 1, 'api-2', 1],
    ['api-1', 1, 'api-1', 2],
    ['a', 0, 'b', 0],
    ['arrivals', 5, 'arrivals', 5 + 2 ** 32],
  ];
  for (const [leftName, leftSeed, rightName, rightSeed] of pairs) {
    const left = dice(leftSeed, leftName);
    const right = dice(rightSeed, rightName);
    const observed = correlation(
      sample(draws, () => left.next()),
      sample(draws, () => right.next()),
    );
    assert.ok(Math.abs(observed) <= limit, `${leftName}/${leftSeed} with ${rightName}/${rightSeed}: r = ${observed}`);
  }
});

test('the first draws of neighbouring seeds are uniform and unrelated', () => {
  const firsts = sample(draws, () => 0).map((_, seed) => dice(seed, 'first').next());
  const counts = countInto(
    64,
    firsts.map((value) => Math.floor(value * 64)),
  );
  assert.ok(chiSquare(counts) <= chiSquareLimit(63), `chi-square ${chiSquare(counts)}`);
  const observed = correlation(firsts.slice(1), firsts.slice(0, -1));
  assert.ok(Math.abs(observed) <= standardErrors / Math.sqrt(draws), `neighbours: r = ${observed}`);
});

test('next is uniform on [0, 1): mean 1/2, variance 1/12', () => {
  const uniform = dice(11, 'uniform');
  const values = sample(draws, () => uniform.next());
  assert.ok(values.every((value) => value >= 0 && value < 1));
  checkMean(values, 1 / 2, Math.sqrt(1 / 12), 'mean');
  // The square of a centred uniform has mean 1/12 and variance 1/80 − 1/144 = 1/180.
  const squares = values.map((value) => (value - 0.5) ** 2);
  checkMean(squares, 1 / 12, Math.sqrt(1 / 180), 'variance');
});

test('below falls on every side equally often', () => {
  for (const bound of [2, 3, 4, 7, 10, 100, 1000]) {
    const die = dice(13, `die of ${bound}`);
    const counts = countInto(
      bound,
      sample(draws, () => die.below(bound)),
    );
    assert.equal(counts.length, bound, 'nothing outside');
    const observed = chiSquare(counts);
    assert.ok(observed <= chiSquareLimit(bound - 1), `${bound} sides: chi-square ${observed}`);
  }
});

test('below takes what one draw can tell apart and no more', () => {
  const die = dice(1, 'die');
  assert.equal(die.below(1), 0);
  assert.ok(Number.isInteger(die.below(2 ** 32)));
  for (const bound of [0, -1, 1.5, Number.NaN, 2 ** 32 + 1]) {
    assert.throws(() => die.below(bound), { name: 'AssertionError' }, String(bound));
  }
});

test('exponential has the given mean, deviates as much, and forgets how long it has lasted', () => {
  const stream = dice(17, 'service times');
  const values = sample(draws, () => stream.exponential(20));
  assert.ok(values.every((value) => value >= 0));
  checkMean(values, 20, 20, 'mean');
  // (x − m)² of an exponential has mean m² and fourth central moment 9 m⁴, so a deviation of √8 m².
  const squares = values.map((value) => (value - 20) ** 2);
  checkMean(squares, 400, Math.sqrt(8) * 400, 'variance');
  // Memoryless: the share that outlasts one mean is 1/e.
  const outlasting = values.map((value) => (value > 20 ? 1 : 0));
  checkMean(outlasting, Math.exp(-1), Math.sqrt(Math.exp(-1) * (1 - Math.exp(-1))), 'beyond the mean');
  assert.equal(stream.exponential(0), 0);
  assert.throws(() => stream.exponential(-1), { name: 'AssertionError' });
});

test('exponential draws follow the curve everywhere: the largest distance to it, and every two hundred and fifty-sixth of it', () => {
  const count = 400_000;
  const stream = dice(23, 'shape');
  const values = sample(count, () => stream.exponential(1)).toSorted((one, other) => one - other);
  const distance = values.reduce((most, value, index) => {
    const expected = -Math.expm1(-value);
    return Math.max(most, expected - index / count, (index + 1) / count - expected);
  }, 0);
  // Kolmogorov's limit: P(√n D > x) is 2 e^(−2x²), which is 10^-5 at 2.47.
  assert.ok(distance * Math.sqrt(count) <= 2.47, `Kolmogorov and Smirnov: ${distance * Math.sqrt(count)}`);
  const parts = 256;
  const counts = countInto(
    parts,
    values.map((value) => Math.floor(-Math.expm1(-value) * parts)),
  );
  assert.ok(chiSquare(counts) <= chiSquareLimit(parts - 1), `chi-square ${chiSquare(counts)}`);
});

test('the tail of exponential draws is as long as it should be, and continues beyond where the layers end', () => {
  const count = 2_000_000;
  const stream = dice(29, 'tail');
  const values = sample(count, () => stream.exponential(1));
  for (const from of [4, 7, 7.697, 7.698, 8, 10]) {
    const share = Math.exp(-from);
    const beyond = values.map((value) => (value > from ? 1 : 0));
    checkMean(beyond, share, Math.sqrt(share * (1 - share)), `beyond ${from}`);
  }
  // The third moment is 6 and the sixth 720, so one cube deviates by √(720 − 36).
  const cubes = values.map((value) => value ** 3);
  checkMean(cubes, 6, Math.sqrt(720 - 36), 'third moment');
});

test('an exponential draw tells nothing of the next', () => {
  const stream = dice(31, 'pairs');
  const values = sample(draws, () => stream.exponential(1));
  const products = values.slice(1).map((value, index) => (value - 1) * ((values[index] ?? 0) - 1));
  checkMean(products, 0, 1, 'covariance of neighbours');
  // What is small is where a draw's bits would show in the next one's: every pair of eighths equally often.
  const eighth = (value: number): number => Math.floor(-Math.expm1(-value) * 8);
  const counts = countInto(
    64,
    values.slice(1).map((value, index) => 8 * eighth(value) + eighth(values[index] ?? 0)),
  );
  assert.ok(chiSquare(counts) <= chiSquareLimit(63), `chi-square ${chiSquare(counts)}`);
});

test('normal has mean 0, deviation 1, and the right share beyond two deviations', () => {
  const stream = dice(19, 'normal');
  const values = sample(draws, () => stream.normal());
  checkMean(values, 0, 1, 'mean');
  const squares = values.map((value) => value ** 2);
  checkMean(squares, 1, Math.SQRT2, 'variance');
  const beyond = values.map((value) => (Math.abs(value) > 2 ? 1 : 0));
  checkMean(beyond, 0.0455, Math.sqrt(0.0455 * 0.9545), 'beyond two deviations');
});

test('a seed is a whole number from 0 up to 2^53', () => {
  for (const seed of [-1, 0.5, Number.NaN, 2 ** 53]) {
    assert.throws(() => dice(seed, 'any'), { name: 'AssertionError' }, String(seed));
  }
  assert.ok(dice(0, '').next() < 1);
});
