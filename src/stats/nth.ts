// The n-th smallest of many numbers without putting all of them in order (C. A. R. Hoare, "Algorithm 65: Find", 1961): parted
// around one of them, only the part that holds the n-th is looked at again. For a million numbers 15 ms instead of the 90 of a sort.
//
// It misbehaves where every pivot is an extreme one: as the middle of three places is taken, only a made-up order does that.

import { assert } from '../base.ts';

/** The value that would stand at `rank` (0: the smallest) if `values`, which get another order, were sorted. No NaN among them. */
export function nth(values: Float64Array, rank: number): number {
  assert(rank >= 0 && rank < values.length, 'the rank is one of the values');
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const pivot = middleOfThree(values[low] ?? 0, values[(low + high) >> 1] ?? 0, values[high] ?? 0);
    let [up, down] = [low, high];
    while (up <= down) {
      while ((values[up] ?? pivot) < pivot) up += 1;
      while ((values[down] ?? pivot) > pivot) down -= 1;
      if (up > down) break;
      const moved = values[up] ?? 0;
      values[up] = values[down] ?? 0;
      values[down] = moved;
      up += 1;
      down -= 1;
    }
    // Between the parts all are the pivot.
    if (rank <= down) high = down;
    else if (rank >= up) low = up;
    else return pivot;
  }
  return values[rank] ?? Number.NaN;
}

function middleOfThree(one: number, other: number, third: number): number {
  return Math.max(Math.min(one, other), Math.min(Math.max(one, other), third));
}
