// Where a falling tail P(T > t) comes down to a probability: how a quantile is read off a distribution that is only known by
// its tail. By halving, which asks for nothing but that it falls.

import { assert } from '../../base.ts';

/** `scale`: a time of the right order, such as the mean. */
export function whereTailFalls(above: (t: number) => number, p: number, scale: number): number {
  assert(p > 0 && p <= 1, 'a tail comes down to a probability above 0');
  let low = 0;
  let high = scale;
  while (above(high) > p) {
    low = high;
    high *= 2;
  }
  while (true) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (above(middle) > p) low = middle;
    else high = middle;
  }
}
