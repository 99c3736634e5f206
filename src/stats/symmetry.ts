// Are the replicas alike? If they are, it does not matter which of them a value is called after: dealing the names anew, for
// each stretch of time, gives a fleet as likely as the one that was seen. So the test is to deal, many times, and see how
// often one replica stands out as far as the observed one does, whichever it is.
//
//        api-1  api-2  api-3  api-4                       api-1  api-2  api-3  api-4
//   t1     6      6     44      8        names dealt       44      6      8      6
//   t2     5      7     46      6       row by row ──►      6     46      5      7
//   t3     7      5     43      9                           7      9     43      5
//         stands out: 44 of 16                             stands out: 23 of 16
//
// Which of three quantities stands out is the first question about any hot replica. The rate: it gets more requests. What is
// in flight but not the rate: it is slow, and a closed loop waits there. Neither, but the time: it answers something else.
//
// Rows one after another resemble each other (what is in flight now was mostly in flight a second ago), and dealing each row by
// itself would take a slow wander for a difference. So rows are joined into a few blocks first, each longer than the memory of
// the series. With b blocks and r replicas, chance alone lets one replica lead in all of them once in r^(b−1): a dozen blocks
// are plenty, three are not enough.

import { assert, type Dice } from '../base.ts';
import { holmAdjusted } from './many-tests.ts';
import { meanOf } from './moments.ts';
import { shuffle } from './shuffle.ts';

export interface SymmetryOptions {
  /** Into how many blocks the rows are joined, at most. Default 12. */
  readonly blocks?: number;
  /** Default 999. */
  readonly deals?: number;
  readonly dice: Dice;
}

export interface SymmetryTest {
  /** Probability that some replica of a fleet of equals stands out as far. */
  readonly p: number;
  /** Column of the replica that is farthest from the mean of all. */
  readonly outlier: number;
  /** Its mean over the mean of the others. Infinity when they have nothing. */
  readonly ratio: number;
}

/** One row for each stretch of time, one column for each replica. Undefined for fewer than two of either, or all zero. */
export function symmetryTest(rows: readonly (readonly number[])[], options: SymmetryOptions): SymmetryTest | undefined {
  const { blocks = 12, deals = 999, dice } = options;
  const columns = rows[0]?.length ?? 0;
  assert(
    rows.every((row) => row.length === columns && row.every(Number.isFinite)),
    'every row has a value for every replica',
  );
  const joined = joinRows(rows, blocks);
  const means = columnMeans(joined);
  const mean = meanOf(means) ?? 0;
  if (joined.length < 2 || columns < 2 || means.every((one) => one === 0)) return undefined;
  const observed = farthest(means, mean);
  // A deal that only differs by rounding stands out as far.
  const threshold = Math.abs((means[observed] ?? 0) - mean) * (1 - 1e-12);
  let asFar = 1;
  for (let deal = 0; deal < deals; deal++) {
    for (const row of joined) shuffle(row, dice);
    const dealt = columnMeans(joined);
    if (Math.abs((dealt[farthest(dealt, mean)] ?? 0) - mean) >= threshold) asFar += 1;
  }
  const others = meanOf(means.filter((_, column) => column !== observed)) ?? 0;
  return { p: asFar / (deals + 1), outlier: observed, ratio: (means[observed] ?? 0) / others };
}

/** The same for several quantities of one fleet. The p are adjusted (Holm) for having asked about each. */
export function symmetryTests<Name extends string>(
  quantities: Readonly<Record<Name, readonly (readonly number[])[]>>,
  options: SymmetryOptions,
): ReadonlyMap<Name, SymmetryTest> {
  const found: (readonly [Name, SymmetryTest])[] = [];
  for (const name in quantities) {
    const test = symmetryTest(quantities[name], options);
    if (test !== undefined) found.push([name, test]);
  }
  const adjusted = holmAdjusted(found.map(([, { p }]) => p));
  return new Map(found.map(([name, test], index) => [name, { ...test, p: adjusted[index] ?? test.p }]));
}

/** Sums of equally many rows in a row; what is left over at the beginning is dropped. */
function joinRows(rows: readonly (readonly number[])[], blocks: number): number[][] {
  const length = Math.max(1, Math.ceil(rows.length / blocks));
  const count = Math.floor(rows.length / length);
  const from = rows.length - count * length;
  return Array.from({ length: count }, (_, block) => {
    const sums: number[] = Array.from({ length: rows[0]?.length ?? 0 }, () => 0);
    for (const row of rows.slice(from + block * length, from + (block + 1) * length)) {
      row.forEach((value, column) => {
        sums[column] = (sums[column] ?? 0) + value / length;
      });
    }
    return sums;
  });
}

function columnMeans(rows: readonly (readonly number[])[]): readonly number[] {
  const means: number[] = Array.from({ length: rows[0]?.length ?? 0 }, () => 0);
  for (const row of rows) {
    row.forEach((value, column) => {
      means[column] = (means[column] ?? 0) + value / rows.length;
    });
  }
  return means;
}

/** Which value is farthest from the mean; the first of equals. */
function farthest(values: readonly number[], mean: number): number {
  let found = 0;
  values.forEach((value, index) => {
    if (Math.abs(value - mean) > Math.abs((values[found] ?? 0) - mean)) found = index;
  });
  return found;
}
