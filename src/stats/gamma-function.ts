// The gamma function and the two halves of its integral, from which come the normal, chi-square, gamma and Poisson
// distributions. Written from the series in the NIST Digital Library of Mathematical Functions, chapters 5 and 8; relative
// error below 1e-13 for shapes up to 1,000, growing with the shape (1e-10 at 10^6), because e^(a ln x − x) loses digits there.

import { assert } from '../base.ts';

/** Terms of a series or a fraction after which something is wrong: shapes of 10^6 need some thousands. */
const termsMax = 100_000;
const epsilon = 2 ** -53;

/** ln Γ(x), x > 0. */
export function logGamma(x: number): number {
  assert(x > 0, 'the logarithm of the gamma function is asked for a positive number');
  // Γ(x) = Γ(x + n) / (x (x + 1) … (x + n − 1)): up to where Stirling's series is exact to the last digit.
  let product = 1;
  let shifted = x;
  while (shifted < 16) {
    product *= shifted;
    shifted += 1;
  }
  return stirling(shifted) - Math.log(product);
}

/** https://dlmf.nist.gov/5.11.E1, with the first eight Bernoulli terms. */
function stirling(x: number): number {
  const inverse = 1 / x;
  const square = inverse * inverse;
  let sum = 0;
  for (const coefficient of stirlingCoefficients) sum = sum * square + coefficient;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + sum * inverse;
}

/** B(2k) / (2k (2k − 1)), k = 8 … 1. */
const stirlingCoefficients: readonly number[] = [
  -3617 / 122400,
  1 / 156,
  -691 / 360360,
  1 / 1188,
  -1 / 1680,
  1 / 1260,
  -1 / 360,
  1 / 12,
];

/** P(a, x): the probability that a gamma variable of shape `a` and scale 1 is at most x. */
export function gammaBelow(a: number, x: number): number {
  if (x <= 0) return 0;
  return x < a + 1 ? lowerSeries(a, x) : 1 - upperFraction(a, x);
}

/** Q(a, x) = 1 − P(a, x), exact in the far tail where the difference would be nothing but rounding. */
export function gammaAbove(a: number, x: number): number {
  if (x <= 0) return 1;
  return x < a + 1 ? 1 - lowerSeries(a, x) : upperFraction(a, x);
}

/** x^a e^−x / Γ(a). */
const gammaFront = (a: number, x: number): number => Math.exp(a * Math.log(x) - x - logGamma(a));

/** https://dlmf.nist.gov/8.7.E1, normalised: 1/a + x/(a(a+1)) + x²/(a(a+1)(a+2)) + … */
function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < termsMax; n++) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * epsilon) return sum * gammaFront(a, x);
  }
  assert(false, 'the series of the incomplete gamma function converges');
}

/** https://dlmf.nist.gov/8.9.E2: 1/(x+1−a− 1(1−a)/(x+3−a− 2(2−a)/(x+5−a− …))). */
function upperFraction(a: number, x: number): number {
  if (x === Infinity) return 0;
  const value = continuedFraction(
    x + 1 - a,
    (n) => n * (a - n),
    (n) => x + 1 - a + 2 * n,
  );
  return gammaFront(a, x) / value;
}

/**
 * b0 + a1/(b1 + a2/(b2 + …)) by the method of Lentz as Thompson and Barnett put it right (J. Comput. Phys. 64, 1986): from
 * the front, as the ratio of two recurrences, neither of which may touch zero.
 */
export function continuedFraction(b0: number, a: (n: number) => number, b: (n: number) => number): number {
  const tiny = 1e-300;
  let value = b0 === 0 ? tiny : b0;
  let numerator = value;
  let denominator = 0;
  for (let n = 1; n < termsMax; n++) {
    denominator = b(n) + a(n) * denominator;
    numerator = b(n) + a(n) / numerator;
    denominator = 1 / (denominator === 0 ? tiny : denominator);
    if (numerator === 0) numerator = tiny;
    const step = numerator * denominator;
    value *= step;
    if (Math.abs(step - 1) < 4 * epsilon) return value;
  }
  assert(false, 'the continued fraction converges');
}
