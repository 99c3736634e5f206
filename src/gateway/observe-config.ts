// The part of the configuration that says what the gateway tells of its requests: ids, stories, traces, telemetry, the access log.

import { z } from 'zod';
import { type Duration, ns, seconds } from '../base.ts';
import { duration, name, share, whole } from './config-numbers.ts';
import type { IdentityConfig } from './identity.ts';
import type { OtlpConfig } from './otlp.ts';
import type { ExplainConfig } from './stories.ts';

export interface ObserveConfig {
  /** Undefined: `x-request-id` and `traceparent` pass as they came. */
  readonly identity: IdentityConfig | undefined;
  readonly explain: ExplainConfig | undefined;
  readonly otlp: OtlpConfig | undefined;
  readonly accessLog: AccessLogConfig | undefined;
}

export interface AccessLogConfig {
  readonly path: string;
  readonly format: 'json' | 'envoy';
}

export const explainShape = z.strictObject(
  {
    sample: share.optional(),
    keep: whole(1, 100_000).optional(),
    on_demand: z.boolean({ error: 'expected true or false' }).optional(),
    failures: z.boolean({ error: 'expected true or false' }).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const tracingShape = z.strictObject(
  { sample: share.optional() },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const otlpShape = z.strictObject(
  {
    endpoint: z
      .string({ error: 'expected a URL such as http://127.0.0.1:4318' })
      .regex(/^https?:\/\/[^\s/]+(?:\/\S*)?$/, { error: 'expected a URL such as http://127.0.0.1:4318' }),
    interval_ns: duration(1e6).optional(),
    spans_max: whole(1, 1_000_000).optional(),
    service: name.optional(),
    headers: z.record(z.string(), z.string({ error: 'expected a text' }), { error: 'expected an object' }).optional(),
    metrics: z.boolean({ error: 'expected true or false' }).optional(),
  },
  { error: 'expected an object with endpoint; or null' },
);

export const accessLogShape = z.strictObject(
  {
    path: z.string({ error: 'expected a path' }).min(1, { error: 'expected a path' }),
    format: z.enum(['json', 'envoy'], { error: 'expected json or envoy' }).optional(),
  },
  { error: 'expected a path, an object with path and format, or null' },
);

const pathOrNull = 'expected a path, an object with path and format, or null';
const accessLog = z.unknown().transform((raw, context): AccessLogConfig | undefined => {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw === 'string' && raw !== '') return { path: raw, format: 'json' };
  const parsed = accessLogShape.safeParse(raw);
  if (parsed.success) return { path: parsed.data.path, format: parsed.data.format ?? 'json' };
  for (const issue of parsed.error.issues) {
    const ofAll = issue.path.length === 0 && issue.code !== 'unrecognized_keys';
    context.addIssue({ ...issue, code: 'custom', message: ofAll ? pathOrNull : issue.message });
  }
  return z.NEVER;
});

/** The keys of this file, for the shape of the whole. */
export const observeShapes = {
  request_id: z.boolean({ error: 'expected true or false' }).optional(),
  explain: explainShape.nullish(),
  tracing: tracingShape.nullish(),
  otlp: otlpShape.nullish(),
  access_log: accessLog.optional(),
};

const observeShape = z.strictObject(observeShapes);

export function observeOf(raw: z.infer<typeof observeShape>): ObserveConfig {
  const explain = raw.explain ?? undefined;
  const tracing = raw.tracing ?? undefined;
  const otlp = raw.otlp ?? undefined;
  const named =
    raw.request_id ?? (explain !== undefined || tracing !== undefined || raw.access_log?.format === 'envoy');
  return {
    identity:
      named || tracing !== undefined
        ? { trace: tracing === undefined ? undefined : { sample: tracing.sample ?? 0.01 } }
        : undefined,
    explain:
      explain === undefined
        ? undefined
        : {
            sample: explain.sample ?? 0.01,
            keep: explain.keep ?? 1000,
            onDemand: explain.on_demand ?? true,
            failures: explain.failures ?? true,
          },
    otlp:
      otlp === undefined
        ? undefined
        : {
            endpoint: otlp.endpoint.replace(/\/$/, ''),
            interval: length(otlp.interval_ns, seconds(5)),
            spansMax: otlp.spans_max ?? 2048,
            service: otlp.service ?? 'plimsoll',
            headers: otlp.headers ?? {},
            metrics: otlp.metrics ?? true,
          },
    accessLog: raw.access_log,
  };
}

function length(given: number | undefined, otherwise: Duration): Duration {
  return given === undefined ? otherwise : ns(given);
}
