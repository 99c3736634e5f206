// Reference values are from 40-digit arithmetic (mpmath), those of Kolmogorov's distribution and of the quantiles from SciPy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  betaBelow,
  binomialAtMost,
  binomialUpperBound,
  chiSquareAbove,
  chiSquareBelow,
  kolmogorovAbove,
  normalAbove,
  normalBelow,
  normalQuantile,
  poissonAtMost,
  studentAbove,
  studentBelow,
  studentQuantile,
} from './distributions.ts';
import { logGamma } from './gamma-function.ts';

function close(actual: number, expected: number, what: string, tolerance = 1e-11): void {
  const error = Math.abs(actual - expected) / (expected === 0 ? 1 : Math.abs(expected));
  assert.ok(error <= tolerance, `${what}: ${actual}, expected ${expected}, off by ${error}`);
}

test('the logarithm of the gamma function has twelve digits and more', () => {
  const cases: readonly (readonly [x: number, value: number])[] = [
    [0.001, 6.907178885383853],
    [0.5, 0.5723649429247001],
    [1, 0],
    [1.5, -0.12078223763524522],
    [2, 0],
    [3.7, 1.4280723266653879],
    [15.99, 27.87186447594001],
    [100, 359.1342053695754],
    [12345.678, 103959.91990554606],
  ];
  for (const [x, value] of cases) close(logGamma(x), value, `ln Γ(${x})`, 1e-13);
});

test('the normal distribution is exact in the middle and in the far tail', () => {
  const cases: readonly (readonly [z: number, above: number])[] = [
    [-8, 0.9999999999999993],
    [-1.5, 0.9331927987311419],
    [-0.1, 0.539827837277029],
    [0, 0.5],
    [0.3, 0.3820885778110474],
    [1, 0.15865525393145705],
    [1.959963984540054, 0.025000000000000015],
    [3, 0.0013498980316300946],
    [6, 9.86587645037698e-10],
    [10, 7.619853024160525e-24],
    [30, 4.906713927148187e-198],
  ];
  for (const [z, above] of cases) {
    close(normalAbove(z), above, `above ${z}`);
    close(normalBelow(-z), above, `below ${-z}`);
  }
});

test("Student's distribution is exact for few, many and broken degrees of freedom", () => {
  const cases: readonly (readonly [t: number, degrees: number, above: number])[] = [
    [0, 5, 0.5],
    [0.01, 3, 0.496324555706426],
    [1, 1, 0.25],
    [2.228138852, 10, 0.024999999999418255],
    [-1.3, 4.7, 0.8731513520676949],
    [12.706204736, 1, 0.025000000000342328],
    [4, 100, 6.076182215038084e-5],
    [8, 30, 3.1329112378503795e-9],
    [60, 2.5, 2.577880575173425e-5],
  ];
  for (const [t, degrees, above] of cases) {
    close(studentAbove(t, degrees), above, `above ${t} with ${degrees}`);
    close(studentBelow(-t, degrees), above, `below ${-t} with ${degrees}`);
  }
  close(studentAbove(1.7, Infinity), normalAbove(1.7), 'without end, it is the normal one');
});

test('the chi-square distribution is exact from one degree of freedom to millions', () => {
  const cases: readonly (readonly [x: number, degrees: number, above: number])[] = [
    [3.841458820694124, 1, 0.05000000000000006],
    [0.01, 2, 0.9950124791926823],
    [10, 3, 0.018566135463043233],
    [100, 80, 0.06457036892113298],
    [1200, 1000, 1.2255942330622905e-5],
    [500, 3, 4.771672031912758e-108],
    [30, 60, 0.9995815503316723],
  ];
  for (const [x, degrees, above] of cases) close(chiSquareAbove(x, degrees), above, `above ${x} with ${degrees}`);
  close(chiSquareAbove(2.2e6, 2.2e6), 0.49987320781948263, 'above 2.2e6 with as many', 1e-8);
  close(chiSquareBelow(0.01, 2), 1 - 0.9950124791926823, 'below 0.01 with 2');
  assert.equal(chiSquareAbove(0, 4), 1);
});

test('counts: Poisson and binomial', () => {
  close(poissonAtMost(0, 1), 0.36787944117144233, 'none of 1');
  close(poissonAtMost(3, 2.5), 0.7575761331330659, '3 of 2.5');
  close(poissonAtMost(40, 60), 0.003982809502273006, '40 of 60');
  close(poissonAtMost(950, 1000), 0.05783629295532321, '950 of 1000');
  assert.equal(poissonAtMost(-1, 5), 0);
  close(binomialAtMost(3, 10, 0.5), 0.171875, '3 of 10');
  close(binomialAtMost(0, 20, 0.1), 0.1215766545905693, '0 of 20');
  close(binomialAtMost(90, 100, 0.95), 0.028188294163416106, '90 of 100');
  close(binomialAtMost(480, 1000, 0.5), 0.10872414660207047, '480 of 1000');
  assert.equal(binomialAtMost(10, 10, 0.5), 1);
});

test('nothing seen in n trials bounds the probability at 1 − 0.05^(1/n), everything at 1', () => {
  for (const trials of [1, 20, 300]) {
    close(binomialUpperBound(0, trials), 1 - 0.05 ** (1 / trials), `0 of ${trials}`);
  }
  assert.equal(binomialUpperBound(7, 7), 1);
  const bound = binomialUpperBound(3, 40, 0.1);
  close(binomialAtMost(3, 40, bound), 0.1, 'so few or fewer in a tenth of all repetitions');
});

test('the beta distribution', () => {
  close(betaBelow(0.3, 2, 5), 0.579825, '0.3');
  close(betaBelow(0.9, 0.5, 0.5), 0.7951672353008665, 'the arc sine');
  close(betaBelow(0.001, 10, 3), 6.5880055e-29, 'a far tail');
  close(betaBelow(0.5, 500, 520), 0.7345065771511532, 'large and narrow');
  assert.deepEqual([betaBelow(0, 2, 3), betaBelow(1, 2, 3)], [0, 1]);
});

test("Kolmogorov's distribution is smooth where its two forms meet", () => {
  const cases: readonly (readonly [x: number, above: number])[] = [
    [0.2, 0.999999999999495],
    [0.5, 0.9639452436648751],
    [0.8276, 0.49995841656354456],
    [0.999, 0.27107316411506394],
    [1, 0.26999967167735456],
    [1.36, 0.049485876755377876],
    [2, 0.0006709252557796953],
    [3, 3.045995948942526e-8],
  ];
  for (const [x, above] of cases) close(kolmogorovAbove(x), above, `above ${x}`);
  assert.equal(kolmogorovAbove(0), 1);
});

test('quantiles are where tables put them', () => {
  const students: readonly (readonly [p: number, degrees: number, t: number])[] = [
    [0.975, 1, 12.706204736174694],
    [0.975, 2, 4.302652729749462],
    [0.975, 3, 3.1824463052837078],
    [0.975, 5, 2.5705818356363146],
    [0.975, 13, 2.1603686564627913],
    [0.995, 30, 2.7499956535672254],
    [0.05, 4, -2.131846786326651],
    [0.9999, 7, 7.063432828157639],
  ];
  for (const [p, degrees, t] of students) close(studentQuantile(p, degrees), t, `t ${p} ${degrees}`, 1e-10);
  close(normalQuantile(1e-12), -7.034483825301131, 'z of 1e-12');
  close(normalQuantile(0.025), -1.9599639845400545, 'z of 0.025');
  close(normalQuantile(0.9), 1.2815515655446004, 'z of 0.9');
  assert.equal(normalQuantile(0.5), 0);
  assert.deepEqual([normalQuantile(0), normalQuantile(1)], [-Infinity, Infinity]);
});

test('a quantile and its probability undo each other', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-9, max: 0.5, noNaN: true }),
      fc.double({ min: 1, max: 200, noNaN: true }),
      (p, degrees) => {
        close(studentBelow(studentQuantile(p, degrees), degrees), p, `Student ${p} ${degrees}`, 1e-10);
        close(normalBelow(normalQuantile(p)), p, `normal ${p}`, 1e-10);
      },
    ),
  );
});

test('both tails sum to one', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -30, max: 30, noNaN: true }),
      fc.double({ min: 0.5, max: 500, noNaN: true }),
      // Nearer to an end 1 − share is rounded, and the beta of a half degree feels it.
      fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true }),
      (x, degrees, share) => {
        close(normalBelow(x) + normalAbove(x), 1, `normal ${x}`);
        close(studentBelow(x, degrees) + studentAbove(x, degrees), 1, `Student ${x} ${degrees}`);
        close(chiSquareBelow(x * x, degrees) + chiSquareAbove(x * x, degrees), 1, `chi-square ${x * x} ${degrees}`);
        close(betaBelow(share, degrees, 3) + betaBelow(1 - share, 3, degrees), 1, `beta ${share} ${degrees}`);
      },
    ),
  );
});
