// Who asks twenty questions at 5 % gets one false yes. These turn the p of each of several tests into one that may be held
// against the level as if it were alone.

import { assert } from '../base.ts';

/**
 * Holm's step-down (Scandinavian J. of Statistics 6, 1979): the probability of even one false yes stays below the level,
 * whatever the tests have to do with each other. For verdicts.
 */
export function holmAdjusted(ps: readonly number[]): readonly number[] {
  let floor = 0;
  return inOrder(ps, rising, (p, rank) => {
    floor = Math.max(floor, Math.min(1, p * (ps.length - rank)));
    return floor;
  });
}

/**
 * Benjamini and Hochberg's step-up (J. Royal Stat. Soc. B 57, 1995): of all that is said yes to, the expected share of false
 * ones stays below the level. For lists of leads.
 */
export function benjaminiHochbergAdjusted(ps: readonly number[]): readonly number[] {
  let ceiling = 1;
  return inOrder(ps, falling, (p, rank) => {
    ceiling = Math.min(ceiling, (p * ps.length) / (ps.length - rank));
    return ceiling;
  });
}

const rising = (one: number, other: number): number => one - other;
const falling = (one: number, other: number): number => other - one;

/** Visits the values in an order, and puts what is made of each in the place that it came from. */
function inOrder(
  ps: readonly number[],
  order: (one: number, other: number) => number,
  adjust: (p: number, rank: number) => number,
): readonly number[] {
  assert(
    ps.every((p) => p >= 0 && p <= 1),
    'a probability lies between 0 and 1',
  );
  const adjusted: number[] = Array.from({ length: ps.length }, () => 1);
  const visits = ps.map((p, place) => ({ p, place })).sort((one, other) => order(one.p, other.p));
  visits.forEach(({ p, place }, rank) => {
    adjusted[place] = adjust(p, rank);
  });
  return adjusted;
}
