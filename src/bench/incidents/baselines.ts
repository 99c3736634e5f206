// What people use instead: scores of how unusual a number has become. They name a component, never a mechanism, and they have no
// way to say that nothing is wrong but a threshold.
//
//   z-score     greatest |x − mean before| ÷ deviation before                      the first third of the time is "before"
//   robust      |median after − median before| ÷ interquartile range before        after the change point that fits best (as BARO)
//
// Both see every series in the evidence, and from access logs requests and mean times by replica in thirty slices of time.

import type { Dossier, RequestTable } from '../../record.ts';

export interface BaselineSaid {
  readonly subject: string;
  readonly score: number;
}

interface Track {
  readonly subject: string;
  readonly values: readonly number[];
}

/** Above this somebody is accused. */
export const accusedFrom = 3;

export function zScore(dossier: Dossier): BaselineSaid | undefined {
  return best(dossier, (values) => {
    const before = values.slice(0, Math.max(2, Math.floor(values.length / 3)));
    const mean = sum(before) / before.length;
    const deviation = Math.sqrt(sum(before.map((value) => (value - mean) ** 2)) / before.length);
    const floor = Math.max(deviation, Math.abs(mean) * 1e-3, 1e-9);
    return Math.max(...values.slice(before.length).map((value) => Math.abs(value - mean) / floor));
  });
}

export function robustScore(dossier: Dossier): BaselineSaid | undefined {
  return best(dossier, (values) => {
    let [most, least] = [0, Number.POSITIVE_INFINITY];
    for (let cut = 3; cut <= values.length - 3; cut++) {
      const [before, after] = [values.slice(0, cut), values.slice(cut)];
      const cost = spread(before) + spread(after);
      if (cost >= least) continue;
      least = cost;
      const range = quantile(before, 0.75) - quantile(before, 0.25);
      const change = Math.abs(quantile(after, 0.5) - quantile(before, 0.5));
      most = change / Math.max(range, Math.abs(quantile(before, 0.5)) * 1e-3, 1e-9);
    }
    return most;
  });
}

function best(dossier: Dossier, scoreOf: (values: readonly number[]) => number): BaselineSaid | undefined {
  const scored = tracksOf(dossier)
    .filter(({ values }) => values.length >= 6)
    .map(({ subject, values }) => ({ subject, score: scoreOf(values) }));
  return scored.toSorted((one, other) => other.score - one.score)[0];
}

function tracksOf({ series, requests }: Dossier): readonly Track[] {
  return [
    ...series.map(({ labels, name, values }) => ({ subject: `${Object.values(labels).join(' ')} ${name}`, values })),
    ...requests.flatMap(ofTable),
  ];
}

const slices = 30;

function ofTable(table: RequestTable): readonly Track[] {
  const times = table.startMs.filter((at) => !Number.isNaN(at));
  const from = times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const to = times.reduce((most, at) => Math.max(most, at), Number.NEGATIVE_INFINITY);
  if (!(to > from)) return [];
  const counts = table.replicas.map(() => new Float64Array(slices));
  const sums = table.replicas.map(() => new Float64Array(slices));
  for (let row = 0; row < table.count; row++) {
    const slice = Math.min(slices - 1, Math.floor((((table.startMs[row] ?? from) - from) / (to - from)) * slices));
    const [count, total] = [counts[table.replica[row] ?? -1], sums[table.replica[row] ?? -1]];
    if (count === undefined || total === undefined) continue;
    count[slice] = (count[slice] ?? 0) + 1;
    total[slice] = (total[slice] ?? 0) + (table.seconds[row] ?? 0);
  }
  return table.replicas.flatMap((subject, index) => {
    const own = [...(counts[index] ?? [])];
    return [
      { subject, values: own },
      { subject, values: own.map((count, slice) => (sums[index]?.[slice] ?? 0) / Math.max(1, count)) },
    ];
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Sum of absolute deviations from the median. */
function spread(values: readonly number[]): number {
  const middle = quantile(values, 0.5);
  return sum(values.map((value) => Math.abs(value - middle)));
}
