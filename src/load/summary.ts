// A run as the figures that users of wrk2 know, in its order, and what it does not have: the ledger, the replicas, lower
// bounds, the limits of the generator. Figures only; how they look is the reader's.
//
// wrk2 speaks of threads; "Thread Stats" here are the latency of all requests, and the requests of each second.

import { type Duration, inSeconds } from '../base.ts';
import { Histogram, histogramOfFields } from '../stats.ts';
import type { GroupSnapshot, LoadResult, Tries } from './contract.ts';

export interface LoadSummary {
  readonly span_ns: number;
  /** Of everything answered; undefined when nothing was. */
  readonly latency: Spread | undefined;
  /** Answers in each whole second. */
  readonly perSecond: Spread | undefined;
  /** From due time, 50 % to 100 % as wrk2 prints them. */
  readonly distribution: readonly PercentileRow[];
  /** From the moment of sending: what wrk2 calls uncorrected. */
  readonly uncorrected: readonly PercentileRow[];
  /** The detailed spectrum, five steps to each halving of the rest. */
  readonly spectrum: readonly SpectrumRow[];
  /** Whole answers. */
  readonly requests: number;
  /** Undefined where clients do not ask again. */
  readonly tries: (Tries & { readonly requests: number }) | undefined;
  readonly bytes: number;
  readonly requests_per_s: number;
  readonly bytes_per_s: number;
  readonly errors: {
    readonly connect: number;
    readonly read: number;
    readonly timeout: number;
    readonly status: number;
  };
  readonly errorsByKind: Readonly<Record<string, number>>;
  readonly replicas: readonly ReplicaRow[];
  readonly ledger: LoadResult['ledgers'][number] | undefined;
  readonly lag: readonly PercentileRow[];
  readonly limits: readonly string[];
}

export interface Spread {
  readonly mean: number;
  readonly stdev: number;
  readonly max: number;
  /** Share of values within one standard deviation of the mean. */
  readonly within: number;
}

export interface PercentileRow {
  /** 0–100. */
  readonly percentile: number;
  readonly value_ns: number;
  /** The true value is this or more: some requests had not ended. */
  readonly atLeast: boolean;
}

export interface SpectrumRow {
  readonly value_ns: number;
  readonly percentile: number;
  readonly total: number;
  /** 1 ÷ (1 − percentile/100): Infinity in the last row. */
  readonly inverse: number;
}

export interface ReplicaRow {
  readonly id: string;
  readonly finished: number;
  /** Of all whole answers. */
  readonly share: number;
  readonly p50_ns: number | undefined;
  readonly p99_ns: number | undefined;
  readonly errors: Readonly<Record<string, number>>;
}

const percentiles = [50, 75, 90, 99, 99.9, 99.99, 99.999, 100];
const connectKinds = new Set(['refused', 'connect-timeout', 'unreachable', 'dns', 'tls', 'no-ports', 'no-files']);

/** The summary of one group, or of the first. `seconds` are its snapshots of the measured stretch, one a second. */
export function summaryOf(
  result: LoadResult,
  seconds: readonly { readonly span: Duration; readonly snapshot: GroupSnapshot }[],
  group = result.totals[0]?.group ?? '',
): LoadSummary {
  const latency = histogramFor(result, { group, what: 'latency' });
  const service = histogramFor(result, { group, what: 'service' });
  const totals = result.totals.find((each) => each.group === group);
  const errors = totals?.errors ?? {};
  const span = inSeconds(result.span);
  return {
    span_ns: result.span,
    latency: spreadOf(latency),
    perSecond: spreadOfCounts(
      seconds.filter(isWhole).map(({ span: of, snapshot }) => answersOf(snapshot) / inSeconds(of)),
    ),
    distribution: percentileRows(latency),
    uncorrected: percentileRows(service),
    spectrum: spectrumOf(latency),
    requests: latency.count,
    tries: totals?.tries === undefined ? undefined : { requests: totals.sent, ...totals.tries },
    bytes: totals?.bytes ?? 0,
    requests_per_s: span > 0 ? latency.count / span : 0,
    bytes_per_s: span > 0 ? (totals?.bytes ?? 0) / span : 0,
    errors: socketErrors(errors),
    errorsByKind: errors,
    replicas: replicaRows(result),
    ledger: result.ledgers.find((each) => each.group === group),
    lag: percentileRows(histogramFor(result, { group, what: 'lag' })),
    limits: result.limits,
  };
}

/** The last snapshot is often of a part of a second, whose rate says little. */
const isWhole = ({ span }: { readonly span: Duration }): boolean => inSeconds(span) >= 0.5;

const answersOf = (snapshot: GroupSnapshot): number =>
  Object.values(snapshot.answeredBy).reduce((sum, count) => sum + count, 0);

function histogramFor(
  result: LoadResult,
  wanted: { readonly group?: string; readonly replica?: string; readonly what: string },
): Histogram {
  const line = result.histograms.find(
    ({ of }) => of.group === wanted.group && of.replica === wanted.replica && of.what === wanted.what,
  );
  const histogram = line === undefined ? undefined : histogramOfFields(line);
  return histogram instanceof Histogram ? histogram : new Histogram();
}

function percentileRows(histogram: Histogram): readonly PercentileRow[] {
  return percentiles.flatMap((percentile) => {
    const quantile = histogram.quantile(percentile / 100);
    return quantile === undefined ? [] : [{ percentile, value_ns: quantile.value, atLeast: quantile.atLeast }];
  });
}

/** 0, 10, 20, …, 50, 55, …, 75, 77.5, …: five steps to each halving of what remains, down to the last value. */
function spectrumOf(histogram: Histogram): readonly SpectrumRow[] {
  const total = histogram.count + histogram.unfinishedCount;
  if (total === 0) return [];
  const rows: SpectrumRow[] = [];
  for (let halving = 0, from = 0; (1 - from) * total >= 1; halving++) {
    const step = 0.5 ** (halving + 1) / 5;
    for (let tick = 0; tick < 5; tick++) rows.push(spectrumRow(histogram, from + tick * step, total));
    from = 1 - 0.5 ** (halving + 1);
  }
  return [...rows, spectrumRow(histogram, 1, total)];
}

const spectrumRow = (histogram: Histogram, q: number, total: number): SpectrumRow => ({
  value_ns: histogram.quantile(q)?.value ?? 0,
  percentile: q * 100,
  total: Math.max(1, Math.ceil(q * total)),
  inverse: q === 1 ? Infinity : 1 / (1 - q),
});

/** Mean and greatest are exact; the deviation takes each bucket's values at its middle (a bucket is 0.55 % wide). */
function spreadOf(histogram: Histogram): Spread | undefined {
  const { mean, max } = histogram;
  if (mean === undefined || max === undefined) return undefined;
  let squares = 0;
  let within = 0;
  const middles = histogram.buckets().map(({ from, to, count }) => ({ at: (from + Math.min(to, max)) / 2, count }));
  for (const { at, count } of middles) squares += count * (at - mean) ** 2;
  const stdev = Math.sqrt(squares / histogram.count);
  for (const { at, count } of middles) if (Math.abs(at - mean) <= stdev) within += count;
  return { mean, stdev, max, within: within / histogram.count };
}

function spreadOfCounts(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const stdev = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  // A deviation of nothing is not quite nothing in binary.
  const reach = stdev + 1e-9 * mean;
  const within = values.filter((value) => Math.abs(value - mean) <= reach).length / values.length;
  return { mean, stdev, max: Math.max(...values), within };
}

/** wrk's four sums. What it calls a read error is a connection that broke before the whole answer had come. */
function socketErrors(errors: Readonly<Record<string, number>>): LoadSummary['errors'] {
  const sums = { connect: 0, read: 0, timeout: 0, status: 0 };
  for (const [kind, count] of Object.entries(errors)) {
    if (kind === 'timeout') sums.timeout += count;
    else if (kind.startsWith('status-')) sums.status += count;
    else if (connectKinds.has(kind)) sums.connect += count;
    else sums.read += count;
  }
  return sums;
}

function replicaRows(result: LoadResult): readonly ReplicaRow[] {
  const all = result.replicas.reduce((sum, { finished }) => sum + finished, 0);
  // What is in flight at the end is put down to whom it was sent to, which is no replica where answers name theirs.
  const told = result.replicas.filter(({ finished, errors }) => finished > 0 || Object.keys(errors).length > 0);
  return told
    .map(({ id, finished, errors }) => {
      const latency = histogramFor(result, { replica: id, what: 'latency' });
      return {
        id,
        finished,
        share: all === 0 ? 0 : finished / all,
        p50_ns: latency.quantile(0.5)?.value,
        p99_ns: latency.quantile(0.99)?.value,
        errors,
      };
    })
    .toSorted((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }));
}
