// A load run in the order that users of wrk2 know, and then what wrk2 does not have: who answered, where every planned request
// went, and which limit of this machine was reached. A percentile that falls among requests without an answer is printed as
// what it is, a lower bound.

import { type Duration, formatDuration } from '../base.ts';
import { failureWords } from './failure-words.ts';
import type { Paint } from './paint.ts';
import { type Cell, table } from './table.ts';

/** What the text needs of a run; the load room's summary has these fields. */
export interface LoadFigures {
  readonly span_ns: number;
  readonly latency: Spread | undefined;
  readonly perSecond: Spread | undefined;
  readonly distribution: readonly PercentileFigure[];
  readonly uncorrected: readonly PercentileFigure[];
  readonly spectrum: readonly {
    readonly value_ns: number;
    readonly percentile: number;
    readonly total: number;
    readonly inverse: number;
  }[];
  readonly requests: number;
  /** Undefined where clients do not ask again. */
  readonly tries?: TryFigures | undefined;
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
  readonly replicas: readonly {
    readonly id: string;
    readonly finished: number;
    readonly share: number;
    readonly p50_ns: number | undefined;
    readonly p99_ns: number | undefined;
    readonly errors: Readonly<Record<string, number>>;
  }[];
  readonly ledger: LedgerFigures | undefined;
  readonly lag: readonly PercentileFigure[];
  readonly limits: readonly string[];
}

interface TryFigures {
  /** Requests that were sent, once or more often. */
  readonly requests: number;
  readonly sent: number;
  readonly retries: number;
}

export interface LedgerFigures {
  readonly planned: number;
  readonly answered: number;
  readonly failed: number;
  readonly timed_out: number;
  readonly refused: number;
  readonly in_flight_at_end: number;
  readonly never_sent: number;
}

interface Spread {
  readonly mean: number;
  readonly stdev: number;
  readonly max: number;
  readonly within: number;
}

interface PercentileFigure {
  readonly percentile: number;
  readonly value_ns: number;
  readonly atLeast: boolean;
}

export interface LoadTextOptions {
  /** The detailed spectrum as well. */
  readonly spectrum: boolean;
  /** The distribution from the moment of sending as well. */
  readonly uncorrected: boolean;
}

export function loadText(figures: LoadFigures, options: LoadTextOptions, paint: Paint): string[] {
  const { latency, perSecond, errors } = figures;
  const socket = errors.connect + errors.read + errors.timeout;
  return [
    paint.faint('  Latency from due time   Avg        Stdev      Max        +/- Stdev'),
    ...(latency === undefined ? ['    no answer'] : [`    Latency               ${spreadRow(latency, time)}`]),
    ...(perSecond === undefined ? [] : [`    Req/Sec               ${spreadRow(perSecond, count)}`]),
    '  Latency Distribution',
    ...figures.distribution.map(percentileRow),
    ...(options.uncorrected
      ? ['  Uncorrected Latency (from the moment of sending)', ...figures.uncorrected.map(percentileRow)]
      : []),
    ...(options.spectrum ? spectrumRows(figures) : []),
    `  ${figures.requests} requests in ${time(figures.span_ns)}, ${size(figures.bytes)} read`,
    ...(socket === 0
      ? []
      : [
          paint.bad(
            `  Socket errors: connect ${errors.connect}, read ${errors.read}, write 0, timeout ${errors.timeout}`,
          ),
        ]),
    ...(errors.status === 0 ? [] : [paint.bad(`  Non-2xx or 3xx responses: ${errors.status}`)]),
    ...failureRows(figures.errorsByKind, paint),
    `Requests/sec: ${pad(figures.requests_per_s.toFixed(2))}`,
    `Transfer/sec: ${pad(size(figures.bytes_per_s))}`,
    ...(figures.replicas.length === 0 ? [] : ['']),
    ...replicaRows(figures, paint),
    ...ledgerRow(figures.ledger, paint),
    ...triesRow(figures.tries),
    ...lagRow(figures, paint),
    ...figures.limits.map((limit) => paint.odd(`limit of the generator: ${limit}`)),
  ];
}

/** Most frequent first. */
function failureRows(errorsByKind: Readonly<Record<string, number>>, paint: Paint): string[] {
  return Object.entries(errorsByKind)
    .toSorted(([, one], [, other]) => other - one)
    .map(([kind, times]) => {
      const meaning = failureWords(kind);
      return paint.bad(`    ${times} ${kind}${meaning === undefined ? '' : `: ${meaning}`}`);
    });
}

function spreadRow(spread: Spread, show: (value: number) => string): string {
  const cells = [show(spread.mean), show(spread.stdev), show(spread.max), `${(spread.within * 100).toFixed(1)}%`];
  return cells
    .map((cell) => cell.padEnd(10))
    .join(' ')
    .trimEnd();
}

function percentileRow(row: PercentileFigure): string {
  const name = `${row.percentile.toFixed(3)}%`.padStart(9);
  return `  ${name}  ${row.atLeast ? '≥ ' : '  '}${time(row.value_ns)}`;
}

function spectrumRows(figures: LoadFigures): string[] {
  const rows = figures.spectrum.map((row) => {
    const inverse = Number.isFinite(row.inverse) ? row.inverse.toFixed(2) : 'inf';
    const cells = [(row.value_ns / 1e6).toFixed(3), (row.percentile / 100).toFixed(6), String(row.total), inverse];
    return cells.map((cell) => cell.padStart(12)).join(' ');
  });
  return ['  Detailed Percentile spectrum:', '       Value   Percentile   TotalCount 1/(1-Percentile)', ...rows];
}

function replicaRows({ replicas }: LoadFigures, paint: Paint): string[] {
  if (replicas.length === 0) return [];
  const right = { align: 'right' } as const;
  const rows = replicas.map((replica): Cell[] => [
    `  ${replica.id}`,
    String(replica.finished),
    `${(replica.share * 100).toFixed(1)} %`,
    replica.p50_ns === undefined ? '' : time(replica.p50_ns),
    replica.p99_ns === undefined ? '' : time(replica.p99_ns),
    Object.entries(replica.errors)
      .map(([kind, times]) => `${times} ${kind}`)
      .join(', '),
  ]);
  return table(
    [
      { title: '  who answered' },
      { title: 'answers', ...right },
      { title: 'share', ...right },
      { title: 'p50', ...right },
      { title: 'p99', ...right },
      { title: 'errors' },
    ],
    rows,
    paint.faint,
  );
}

function ledgerRow(ledger: LedgerFigures | undefined, paint: Paint): string[] {
  if (ledger === undefined) return [];
  const parts = [
    `${ledger.answered} answered`,
    `${ledger.failed} failed`,
    `${ledger.timed_out} timed out`,
    `${ledger.refused} refused by a cap`,
    `${ledger.in_flight_at_end} in flight at the end`,
    `${ledger.never_sent} never sent`,
  ];
  return [`${paint.strong('ledger:')} ${ledger.planned} planned = ${parts.join(' + ')}`];
}

const triesRow = (tries: TryFigures | undefined): string[] =>
  tries === undefined
    ? []
    : [`tries: ${tries.sent} sent for ${tries.requests} requests; ${tries.retries} failures were asked again`];

function lagRow({ lag }: LoadFigures, paint: Paint): string[] {
  const at = (percentile: number): string => time(lag.find((row) => row.percentile === percentile)?.value_ns ?? 0);
  // Users are never late: their next request is due when they ask.
  const isLate = lag.some(({ value_ns }) => value_ns > 0);
  return !isLate ? [] : [paint.faint(`the generator's own lag: p50 ${at(50)}, p99 ${at(99)}, max ${at(100)}`)];
}

function time(nanoseconds: number): string {
  return formatDuration(Math.round(nanoseconds) as Duration);
}

function count(value: number): string {
  return value >= 1e4 ? `${(value / 1e3).toFixed(2)}k` : value.toFixed(1);
}

function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 ? 0 : 2)}${units[unit]}`;
}

function pad(text: string): string {
  return text.padStart(10);
}
