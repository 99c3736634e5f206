// A run so far as OpenTelemetry metrics, in the JSON form of the protocol (OTLP 1.x, ExportMetricsServiceRequest): cumulative sums,
// gauges, and latencies as exponential histograms. Those have our own grid, scale 7, so they cross without loss; their unit stays
// nanoseconds, since 10^9 is no power of two and seconds would move every bound.
//
// 64-bit whole numbers are texts in that form, as protobuf's JSON mapping asks.

import { type ExponentialPoint, exponentialPoint, type Histogram } from '../../stats.ts';
import type { GroupRunning, RunningTotals } from './running-totals.ts';

export interface OtlpTimes {
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly now: bigint;
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}

interface NumberPoint {
  readonly attributes: readonly OtlpAttribute[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly asInt?: string;
  readonly asDouble?: number;
}

interface HistogramPoint extends Omit<ExponentialPoint, 'count' | 'zeroCount' | 'positive'> {
  readonly attributes: readonly OtlpAttribute[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly zeroCount: string;
  readonly positive: { readonly offset: number; readonly bucketCounts: readonly string[] };
}

export interface OtlpMetric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly sum?: {
    readonly dataPoints: readonly NumberPoint[];
    readonly aggregationTemporality: 2;
    readonly isMonotonic: true;
  };
  readonly gauge?: { readonly dataPoints: readonly NumberPoint[] };
  readonly exponentialHistogram?: {
    readonly dataPoints: readonly HistogramPoint[];
    readonly aggregationTemporality: 2;
  };
}

export interface OtlpRequest {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeMetrics: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly metrics: readonly OtlpMetric[];
    }[];
  }[];
}

/** `resource`: who is told of, such as `service.name`. */
export function otlpRequest(
  totals: RunningTotals,
  times: OtlpTimes,
  resource: Readonly<Record<string, string>>,
  version: string,
): OtlpRequest {
  return {
    resourceMetrics: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeMetrics: [{ scope: { name: 'plimsoll', version }, metrics: metricsOf(totals, times) }],
      },
    ],
  };
}

const cumulative = 2;

function metricsOf(totals: RunningTotals, times: OtlpTimes): readonly OtlpMetric[] {
  const groups = [...totals.groups];
  const replicas = [...totals.replicas];
  const held = [...totals.held];
  const span = { startTimeUnixNano: String(times.start), timeUnixNano: String(times.now) };
  const whole = (labels: Readonly<Record<string, string>>, value: number): NumberPoint => ({
    attributes: attributesOf(labels),
    ...span,
    asInt: String(Math.round(value)),
  });
  const histogram = (labels: Readonly<Record<string, string>>, values: Histogram): HistogramPoint => ({
    attributes: attributesOf(labels),
    ...span,
    ...histogramFieldsOf(values),
  });
  const metrics: readonly OtlpMetric[] = [
    sum(
      'plimsoll.load.planned',
      'Requests that came due.',
      '{request}',
      groups.map(([group, { planned }]) => whole({ group }, planned)),
    ),
    sum(
      'plimsoll.load.sent',
      'Requests that were sent.',
      '{request}',
      groups.map(([group, { sent }]) => whole({ group }, sent)),
    ),
    sum(
      'plimsoll.load.tries',
      'Tries that were sent, where clients ask again.',
      '{try}',
      groups.flatMap(([group, { tries }]) => (tries === undefined ? [] : [whole({ group }, tries.sent)])),
    ),
    sum(
      'plimsoll.load.retries',
      'Further tries that failures and timeouts led to.',
      '{try}',
      groups.flatMap(([group, { tries }]) => (tries === undefined ? [] : [whole({ group }, tries.retries)])),
    ),
    sum(
      'plimsoll.load.ended',
      'Requests by how they ended.',
      '{request}',
      groups.flatMap(([group, running]) => endsOf(running).map(([how, count]) => whole({ group, how }, count))),
    ),
    sum(
      'plimsoll.load.errors',
      'Failures by kind, timeouts among them.',
      '{request}',
      groups.flatMap(([group, { errors }]) =>
        [...errors].map(([kind, count]) => whole({ group, 'error.type': kind }, count)),
      ),
    ),
    sum(
      'plimsoll.load.received',
      'Bytes of whole answers.',
      'By',
      groups.map(([group, { bytes }]) => whole({ group }, bytes)),
    ),
    {
      name: 'plimsoll.load.in_flight',
      description: 'Requests due and unanswered, mean over the last second.',
      unit: '{request}',
      gauge: {
        dataPoints: groups.map(([group, { inFlight }]) => ({
          attributes: attributesOf({ group }),
          ...span,
          asDouble: inFlight,
        })),
      },
    },
    exponential(
      'plimsoll.load.latency',
      'From due time to the whole answer.',
      groups.map(([group, { latency }]) => histogram({ group }, latency)),
    ),
    exponential(
      'plimsoll.load.service',
      'From sending to the whole answer.',
      groups.map(([group, { service }]) => histogram({ group }, service)),
    ),
    exponential(
      'plimsoll.load.lag',
      "The generator's own lateness.",
      groups.map(([group, { lag }]) => histogram({ group }, lag)),
    ),
    sum(
      'plimsoll.load.replica.answers',
      'Whole answers by who gave them.',
      '{request}',
      replicas.map(([replica, { answers }]) => whole({ replica }, answers)),
    ),
    exponential(
      'plimsoll.load.replica.latency',
      'From due time to the whole answer, by who gave it.',
      replicas.map(([replica, { latency }]) => histogram({ replica }, latency)),
    ),
    {
      name: 'plimsoll.load.held',
      description: 'Connections held besides.',
      unit: '{connection}',
      gauge: { dataPoints: held.map(([group, each]) => whole({ group }, each.held)) },
    },
  ];
  return metrics.filter(
    (metric) => (metric.sum ?? metric.gauge ?? metric.exponentialHistogram)?.dataPoints.length !== 0,
  );
}

const endsOf = (running: GroupRunning): readonly (readonly [how: string, count: number])[] => [
  ['answered', running.answered],
  ['failed', running.failed],
  ['timed_out', running.timedOut],
  ['refused', running.refused],
  ['in_flight_at_end', running.inFlightAtEnd],
  ['never_sent', running.neverSent],
];

const sum = (name: string, description: string, unit: string, dataPoints: readonly NumberPoint[]): OtlpMetric => ({
  name,
  description,
  unit,
  sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true },
});

const exponential = (name: string, description: string, dataPoints: readonly HistogramPoint[]): OtlpMetric => ({
  name,
  description,
  unit: 'ns',
  exponentialHistogram: { dataPoints, aggregationTemporality: cumulative },
});

function histogramFieldsOf(
  values: Histogram,
): Omit<HistogramPoint, 'attributes' | 'startTimeUnixNano' | 'timeUnixNano'> {
  const { count, zeroCount, positive, ...rest } = exponentialPoint(values);
  return {
    ...rest,
    count: String(count),
    zeroCount: String(zeroCount),
    positive: { offset: positive.offset, bucketCounts: positive.bucketCounts.map(String) },
  };
}

const attributesOf = (labels: Readonly<Record<string, string>>): readonly OtlpAttribute[] =>
  Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }));
