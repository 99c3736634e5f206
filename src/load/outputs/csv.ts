// A run as a table, second by second: one row for each group, and one for each replica that answered. The last second is what
// happened while the run drained, so that each column of counts adds up to the ledger (but for requests of a warm-up that were
// answered after it).
//
// A latency that is a lower bound (what timed out or had not ended decides it) is named in `at_least`.

import { assert, inMs, inSeconds } from '../../base.ts';
import { Histogram, histogramOfFields } from '../../stats.ts';
import type { LoadResult, LoadSnapshot } from '../contract.ts';
import { failedIn } from './running-totals.ts';

const columns = [
  'at_s',
  'span_s',
  'of',
  'name',
  'planned',
  'sent',
  'tries',
  'retries',
  'answered',
  'failed',
  'timed_out',
  'refused',
  'in_flight_at_end',
  'never_sent',
  'answers',
  'bytes',
  'in_flight_mean',
  'in_flight_min',
  'in_flight_max',
  'latency_mean_ms',
  'latency_p50_ms',
  'latency_p90_ms',
  'latency_p99_ms',
  'latency_p999_ms',
  'latency_max_ms',
  'at_least',
  'service_p50_ms',
  'service_p99_ms',
  'lag_p50_ms',
  'lag_p99_ms',
  'lag_max_ms',
  'errors',
] as const;

type Row = Partial<Record<(typeof columns)[number], string | number | undefined>>;

/** The first line. */
export const csvHead: string = `${columns.join(',')}\n`;

/** The lines of one snapshot, which was taken with its histograms. `atSeconds`: its end, from the start of what is judged. */
export function csvRows(snapshot: LoadSnapshot, atSeconds: number): string {
  const time = { at_s: atSeconds.toFixed(3), span_s: inSeconds(snapshot.span).toFixed(3) };
  const groups = snapshot.groups.map((group): Row => {
    const of = (what: string): Histogram => histogramIn(snapshot, { group: group.group, what });
    return {
      ...time,
      of: 'group',
      name: group.group,
      planned: group.planned,
      sent: group.sent,
      tries: group.tries?.sent,
      retries: group.tries?.retries,
      answered: group.answered,
      failed: failedIn(group),
      timed_out: group.errors['timeout'] ?? 0,
      refused: group.refused,
      in_flight_at_end: group.inFlightAtEnd,
      never_sent: group.neverSent,
      answers: Object.values(group.answeredBy).reduce((sum, count) => sum + count, 0),
      bytes: group.bytes,
      in_flight_mean: group.inFlightMean.toFixed(3),
      in_flight_min: group.inFlightMin,
      in_flight_max: group.inFlightMax,
      ...latencies(of('latency')),
      service_p50_ms: quantile(of('service'), 0.5),
      service_p99_ms: quantile(of('service'), 0.99),
      lag_p50_ms: quantile(of('lag'), 0.5),
      lag_p99_ms: quantile(of('lag'), 0.99),
      lag_max_ms: quantile(of('lag'), 1),
      errors: errorsText(group.errors),
    };
  });
  const replicas = snapshot.replicas.map((replica): Row => ({
    ...time,
    of: 'replica',
    name: replica.id,
    answers: replica.finished,
    ...latencies(histogramIn(snapshot, { replica: replica.id, what: 'latency' })),
    errors: errorsText(replica.errors),
  }));
  return [...groups, ...replicas].map((row) => `${columns.map((column) => cell(row[column])).join(',')}\n`).join('');
}

const asked = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
  ['p999', 0.999],
  ['max', 1],
] as const;

function latencies(histogram: Histogram): Row {
  const { mean } = histogram;
  const atLeast = asked.filter(([, q]) => histogram.quantile(q)?.atLeast === true).map(([name]) => name);
  return {
    latency_mean_ms: mean === undefined ? '' : inMs(mean).toFixed(3),
    latency_p50_ms: quantile(histogram, 0.5),
    latency_p90_ms: quantile(histogram, 0.9),
    latency_p99_ms: quantile(histogram, 0.99),
    latency_p999_ms: quantile(histogram, 0.999),
    latency_max_ms: quantile(histogram, 1),
    at_least: atLeast.join(' '),
  };
}

function quantile(histogram: Histogram, q: number): string {
  const found = histogram.quantile(q);
  return found === undefined ? '' : inMs(found.value).toFixed(3);
}

const errorsText = (errors: Readonly<Record<string, number>>): string =>
  Object.entries(errors)
    .map(([kind, count]) => `${kind}=${count}`)
    .join(' ');

function histogramIn(
  snapshot: LoadSnapshot,
  wanted: { readonly group?: string; readonly replica?: string; readonly what: string },
): Histogram {
  const line = snapshot.histograms?.find(
    ({ of }: LoadResult['histograms'][number]) =>
      of.group === wanted.group && of.replica === wanted.replica && of.what === wanted.what,
  );
  if (line === undefined) return new Histogram();
  const histogram = histogramOfFields(line);
  assert(histogram instanceof Histogram, 'a snapshot has whole histograms');
  return histogram;
}

/** RFC 4180: quoted where it must be. */
function cell(value: string | number | undefined): string {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
