// Numbers by the million: the greatest and the least without laying them out as arguments, which a call stack would not bear.

/** −Infinity when there are none. */
export function greatestOf(values: Iterable<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) if (value > most) most = value;
  return most;
}

/** Infinity when there are none. */
export function leastOf(values: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const value of values) if (value < least) least = value;
  return least;
}
