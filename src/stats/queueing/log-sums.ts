// Sums of positive numbers that are known by their logarithms, and may be too large or too small to be written out.

/** ln Σ e^x. */
export function logSum(logs: readonly number[]): number {
  let greatest = -Infinity;
  for (const log of logs) if (log > greatest) greatest = log;
  if (greatest === -Infinity) return -Infinity;
  let sum = 0;
  for (const log of logs) sum += Math.exp(log - greatest);
  return greatest + Math.log(sum);
}

/** ln(e^a + e^b). */
export function logAdd(a: number, b: number): number {
  const [less, more] = a < b ? [a, b] : [b, a];
  return less === -Infinity ? more : more + Math.log1p(Math.exp(less - more));
}

/** Each number as a share of their sum. */
export function sharesOf(logs: readonly number[]): readonly number[] {
  const total = logSum(logs);
  return logs.map((log) => Math.exp(log - total));
}
