// Probabilities: of being below a value, of being above it, and which value has a given probability below it. Each tail has a
// function of its own, because 1 − p is nothing but rounding where p is nearly 1, and the far tail is where verdicts are made.

import { assert } from '../base.ts';
import { continuedFraction, gammaAbove, gammaBelow, logGamma } from './gamma-function.ts';

/** P(Z ≤ z) of the standard normal distribution. */
export function normalBelow(z: number): number {
  return normalAbove(-z);
}

/** P(Z > z) of the standard normal distribution. */
export function normalAbove(z: number): number {
  const half = gammaAbove(0.5, (z * z) / 2) / 2;
  return z >= 0 ? half : 0.5 + gammaBelow(0.5, (z * z) / 2) / 2;
}

/** The z that a standard normal variable is below with probability p. */
export function normalQuantile(p: number): number {
  assert(p >= 0 && p <= 1, 'a probability lies between 0 and 1');
  // By symmetry, so that small probabilities are looked up in the tail that knows them exactly.
  return p <= 0.5 ? 0 - whereFalls(p, normalAbove) : whereFalls(1 - p, normalAbove);
}

/** P(T ≤ t) of Student's distribution. */
export function studentBelow(t: number, degrees: number): number {
  return studentAbove(-t, degrees);
}

/** P(T > t) of Student's distribution. */
export function studentAbove(t: number, degrees: number): number {
  assert(degrees > 0, 'degrees of freedom are positive');
  if (degrees === Infinity) return normalAbove(t);
  const square = t * t;
  // I_x(d/2, 1/2) at x = d / (d + t²) is the probability of both tails. Near t = 0, where x is nearly 1, it is 1 − x that
  // keeps its digits.
  const tails =
    square < 1
      ? 1 - betaBelow(square / (degrees + square), 0.5, degrees / 2)
      : betaBelow(degrees / (degrees + square), degrees / 2, 0.5);
  return t >= 0 ? tails / 2 : 1 - tails / 2;
}

/** The t that a variable of Student's distribution is below with probability p. */
export function studentQuantile(p: number, degrees: number): number {
  assert(p >= 0 && p <= 1, 'a probability lies between 0 and 1');
  const above = (t: number): number => studentAbove(t, degrees);
  return p <= 0.5 ? 0 - whereFalls(p, above) : whereFalls(1 - p, above);
}

/** P(X > x) of the chi-square distribution. */
export function chiSquareAbove(x: number, degrees: number): number {
  assert(degrees > 0, 'degrees of freedom are positive');
  return gammaAbove(degrees / 2, x / 2);
}

/** P(X ≤ x) of the chi-square distribution. */
export function chiSquareBelow(x: number, degrees: number): number {
  assert(degrees > 0, 'degrees of freedom are positive');
  return gammaBelow(degrees / 2, x / 2);
}

/** P(N ≤ count) of the Poisson distribution. */
export function poissonAtMost(count: number, mean: number): number {
  return count < 0 ? 0 : gammaAbove(Math.floor(count) + 1, mean);
}

/** P(N ≤ count) of the binomial distribution: `trials` tries that each succeed with probability `chance`. */
export function binomialAtMost(count: number, trials: number, chance: number): number {
  if (count < 0) return 0;
  if (count >= trials) return 1;
  const whole = Math.floor(count);
  return betaBelow(1 - chance, trials - whole, whole + 1);
}

/** The largest probability with which so few of so many trials would succeed in `chance` of all repetitions: 0 of 300 bound it at
 * 0.994 % with a chance of 0.05. Clopper and Pearson, The use of confidence or fiducial limits (Biometrika 26, 1934). */
export function binomialUpperBound(count: number, trials: number, chance = 0.05): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (binomialAtMost(count, trials, middle) > chance) low = middle;
    else high = middle;
  }
  return high;
}

/** I_x(a, b): the probability that a beta variable is at most x. https://dlmf.nist.gov/8.17 */
export function betaBelow(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side of the mean; the other side is its mirror image.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b));
  return (
    front /
    (a *
      continuedFraction(
        1,
        (n) => betaNumerator(n, x, a, b),
        () => 1,
      ))
  );
}

/** https://dlmf.nist.gov/8.17.E22 and E23. */
function betaNumerator(n: number, x: number, a: number, b: number): number {
  const m = Math.floor(n / 2);
  if (n % 2 === 0) return (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
  return (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
}

/** Kolmogorov's distribution: P(√n D > x) for large n. */
export function kolmogorovAbove(x: number): number {
  if (x <= 0) return 1;
  // Two forms of one theta function; each needs a handful of terms on its side of 1.
  return x < 1 ? 1 - kolmogorovBelowSmall(x) : kolmogorovAboveLarge(x);
}

function kolmogorovBelowSmall(x: number): number {
  let sum = 0;
  for (let k = 1; k <= 19; k += 2) sum += Math.exp(-(k * k * Math.PI * Math.PI) / (8 * x * x));
  return (Math.sqrt(2 * Math.PI) / x) * sum;
}

function kolmogorovAboveLarge(x: number): number {
  let sum = 0;
  for (let k = 1; k <= 10; k++) sum += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * x * x);
  return sum;
}

/**
 * Where a falling tail, symmetric about 0, comes down to p ≤ 1/2. By halving: it cannot fail, and nobody asks for it often
 * enough to notice its 60 looks.
 */
function whereFalls(p: number, above: (x: number) => number): number {
  if (p <= 0) return Infinity;
  let low = 0;
  let high = 1;
  while (above(high) > p) {
    low = high;
    high *= 2;
    if (high > 1e300) return Infinity;
  }
  while (true) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (above(middle) > p) low = middle;
    else high = middle;
  }
}
