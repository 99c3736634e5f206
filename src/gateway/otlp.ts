// Telemetry pushed out by OTLP over HTTP in its JSON form: spans as they end, metrics now and then. All of it happens beside the
// requests: a span is put into a bounded queue, a timer sends what is there, and whatever the collector cannot take in time is
// dropped and counted. Nothing waits for it.
//
//   request ends ─► queue (spansMax) ─► every interval, batches ─► POST /v1/traces
//                      │ full: dropped                             │ fails: dropped, counted, and not sent again
//   counters ────────────────────────► every interval ──────────► POST /v1/metrics
//
// Field names and encodings are those of opentelemetry-proto 1.x: ids in hexadecimal, times as decimal strings of nanoseconds.

import { type Duration, inMs, ms } from '../base.ts';
import type { Family } from './metrics.ts';

export interface OtlpConfig {
  /** Of the collector: `http://127.0.0.1:4318`. */
  readonly endpoint: string;
  readonly interval: Duration;
  /** Spans that may wait to be sent. */
  readonly spansMax: number;
  /** What this gateway is called there. */
  readonly service: string;
  /** Sent with every post, for a collector that asks who is there. Secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly metrics: boolean;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string | undefined;
  readonly name: string;
  /** Wall clock, in ns since 1970. */
  readonly from: bigint;
  readonly to: bigint;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string | number>>;
}

const batchMax = 512;
const postTimeout = ms(5000);
const kindServer = 2;
const cumulative = 2;
const scope = { name: 'plimsoll' };

export class OtlpExporter {
  sentSpans = 0;
  droppedSpans = 0;
  /** Posts that the collector did not take. */
  failedPosts = 0;
  readonly #config: OtlpConfig;
  readonly #families: () => readonly Family[];
  readonly #startedAt = BigInt(Date.now()) * 1_000_000n;
  readonly #timer: NodeJS.Timeout;
  #queue: Span[] = [];
  #sending: Promise<void> | undefined;

  /** `families`: what is counted, as of now. */
  constructor(config: OtlpConfig, families: () => readonly Family[]) {
    this.#config = config;
    this.#families = families;
    this.#timer = setInterval(() => void this.flush(), inMs(config.interval)).unref();
  }

  add(span: Span): void {
    if (this.#queue.length >= this.#config.spansMax) this.droppedSpans += 1;
    else this.#queue.push(span);
  }

  /** Sends what is there. One round at a time: a slow collector is not asked twice at once. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.flush();
  }

  async #send(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, batchMax);
      this.#queue = this.#queue.slice(batchMax);
      if (await this.#post('/v1/traces', tracesBody(batch, this.#config.service))) this.sentSpans += batch.length;
      else this.droppedSpans += batch.length;
    }
    if (!this.#config.metrics) return;
    const now = BigInt(Date.now()) * 1_000_000n;
    await this.#post('/v1/metrics', metricsBody(this.#families(), this.#startedAt, now, this.#config.service));
  }

  async #post(path: string, body: object): Promise<boolean> {
    try {
      const answer = await fetch(`${this.#config.endpoint}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...this.#config.headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(inMs(postTimeout)),
      });
      await answer.body?.cancel();
      if (answer.ok) return true;
    } catch {
      // Refused, too slow, gone: the collector's affair.
    }
    this.failedPosts += 1;
    return false;
  }
}

/** ExportTraceServiceRequest. */
export function tracesBody(spans: readonly Span[], service: string): object {
  return {
    resourceSpans: [
      {
        resource: resourceOf(service),
        scopeSpans: [{ scope, spans: spans.map(spanBody) }],
      },
    ],
  };
}

function spanBody(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === '' ? {} : { parentSpanId: span.parentSpanId }),
    ...(span.traceState === undefined ? {} : { traceState: span.traceState }),
    name: span.name,
    kind: kindServer,
    startTimeUnixNano: String(span.from),
    endTimeUnixNano: String(span.to),
    attributes: attributesOf(span.attributes),
    status: span.failed ? { code: 2 } : {},
  };
}

/** ExportMetricsServiceRequest: counters as cumulative sums, gauges as gauges. Labels become attributes. */
export function metricsBody(families: readonly Family[], startedAt: bigint, now: bigint, service: string): object {
  const metrics = families
    .filter((family) => family.samples.length > 0)
    .map((family) => {
      const dataPoints = family.samples.map(({ labels, value }) => ({
        attributes: attributesOf(labels),
        timeUnixNano: String(now),
        ...(family.type === 'counter' ? { startTimeUnixNano: String(startedAt) } : {}),
        asDouble: value,
      }));
      const data =
        family.type === 'counter'
          ? { sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } }
          : { gauge: { dataPoints } };
      return { name: family.name, description: family.help, ...data };
    });
  return { resourceMetrics: [{ resource: resourceOf(service), scopeMetrics: [{ scope, metrics }] }] };
}

function resourceOf(service: string): object {
  return { attributes: attributesOf({ 'service.name': service }) };
}

function attributesOf(pairs: Readonly<Record<string, string | number>>): readonly object[] {
  return Object.entries(pairs).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : Number.isInteger(value)
          ? { intValue: String(value) }
          : { doubleValue: value },
  }));
}
