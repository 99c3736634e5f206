// A dashboard keeps a counter as a series, an operator as two scrapes; both say how much it grew. So the first and the last value
// of every series stand among the samples as two readings, unless somebody scraped the same metric as well.

import type { Dossier, SampleFact, SeriesFact } from '../../record.ts';

export function withEndsOfSeries(dossier: Dossier): Dossier {
  if (dossier.series.length === 0) return dossier;
  const scraped = new Set(dossier.samples.map(({ name }) => name));
  const ends = dossier.series.filter(({ name }) => !scraped.has(name)).flatMap(endsOf);
  return ends.length === 0 ? dossier : { ...dossier, samples: [...dossier.samples, ...ends] };
}

function endsOf({ name, labels, atMs, values, origin }: SeriesFact): SampleFact[] {
  const type = isCounter(name, values) ? 'counter' : 'gauge';
  return [0, values.length - 1].flatMap((at, reading): SampleFact[] => {
    const value = values[at];
    if (value === undefined || (reading === 1 && values.length < 2)) return [];
    return [{ name, labels, value, type, reading, atMs: atMs[at], origin }];
  });
}

/** Words of counters that do not say `_total`: Envoy's and HAProxy's. */
const counted =
  /(?:_total|_count|_sum|overflow|_panic|none_healthy|_fail(?:ed|ures?)?|_timeouts?|_errors?|_retry|_[1-5]xx|stot|wretr|wredis|econ|eresp|drops?|rejected)$/i;

function isCounter(name: string, values: readonly number[]): boolean {
  return counted.test(name) && values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0));
}
