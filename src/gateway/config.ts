// The gateway's configuration: from a person's (or the lab's) JSON or YAML to values, or to every mistake in it at once.

import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { type Duration, ns, seconds } from '../base.ts';
import type { EngineChoice } from '../net.ts';
import {
  type BalancerName,
  balancerNames,
  defaultOutlierSettings,
  type Endpoint,
  type OutlierSettings,
} from '../policy.ts';
import { safetyProblems } from './config-safety.ts';
import { duration, share, whole } from './config-numbers.ts';
import {
  listen,
  type ListenerConfig,
  listenerShapes,
  type UpstreamConfig,
  upstreamOf,
  upstreamShape,
} from './listener-config.ts';
import {
  accessLogShape,
  explainShape,
  type ObserveConfig,
  observeOf,
  observeShapes,
  otlpShape,
  tracingShape,
} from './observe-config.ts';
import {
  type AdmitConfig,
  admitOf,
  breakerShape,
  chainShape,
  ceilingsShape,
  type ChoiceConfig,
  choiceOf,
  concurrencyShape,
  hedgeShape,
  hopelessShape,
  policyShapes,
  queueShape,
  retryBudgetShape,
  type SafetyConfig,
  safetyOf,
  slowStartShape,
  subsetShape,
  zoneShape,
} from './policy-config.ts';
import { plainJson } from './plain-json.ts';
import {
  type RouteConfig,
  routeOf,
  routeShape,
  type ServiceConfig,
  serviceProblems,
  serviceShapes,
} from './service-config.ts';

export interface GatewayConfig {
  /** At least one. */
  readonly listen: readonly ListenerConfig[];
  readonly upstream: UpstreamConfig;
  /** undefined: no admin API. */
  readonly admin: Address | undefined;
  /** Whose sockets: Node's own, io_uring's, or the latter where they work. */
  readonly engine: EngineChoice;
  /** Processes that serve, with one behind them that watches; 1: this one alone. */
  readonly workers: number;
  readonly policy: BalancerName;
  readonly seed: number;
  /** For one request from its head to the last byte of the answer, retries included. */
  readonly timeout: Duration;
  readonly connectTimeout: Duration;
  /** Further attempts for one request. */
  readonly retries: number;
  readonly health: HealthConfig | undefined;
  /** Undefined: nobody is taken out for what it answers. */
  readonly outlier: OutlierSettings | undefined;
  /** Share of healthy endpoints below which requests go to unhealthy ones too; 0: never. */
  readonly panicBelow: number;
  readonly deadline: DeadlineUse;
  readonly choice: ChoiceConfig;
  readonly admit: AdmitConfig;
  readonly safety: SafetyConfig;
  /** For what no route is for. */
  readonly endpoints: readonly Endpoint[];
  readonly services: readonly ServiceConfig[];
  readonly routes: readonly RouteConfig[];
  readonly observe: ObserveConfig;
  readonly limits: GatewayLimits;
}

/** What becomes of the time that a caller says it has left: nothing; it shortens our timeout; and it is passed on, less what
 * was used here. */
export type DeadlineUse = 'ignore' | 'honour' | 'forward';

export interface Address {
  readonly host: string;
  /** 0: the kernel chooses. */
  readonly port: number;
}

export interface HealthConfig {
  readonly path: string;
  readonly interval: Duration;
  readonly timeout: Duration;
  readonly fall: number;
  readonly rise: number;
  /** Share of an interval by which a question may move. */
  readonly jitter?: number;
  /** What an endpoint is until it has been asked. */
  readonly initially?: 'up' | 'down';
  /** While the endpoint is down. */
  readonly intervalDown?: Duration;
  /** While answers speak against what is believed. */
  readonly intervalEdge?: Duration;
}

/** What bounds the gateway's memory and patience. Each says what happens at the bound. */
export interface GatewayLimits {
  /** Client connections; a further one is closed at once. */
  readonly connectionsMax: number;
  /** Client connections of one address; a further one is closed at once. Undefined: not bounded. */
  readonly connectionsPerAddressMax: number | undefined;
  /** Streams at once on a connection of HTTP/2; a further one is refused. */
  readonly http2StreamsMax: number;
  /** Streams that a client of HTTP/2 may reset in a burst, and each second after it; then its connection is ended. */
  readonly http2ResetsBurst: number;
  readonly http2ResetsPerSecond: number;
  /** Requests inside; a further one is answered 503. */
  readonly requestsMax: number;
  /** Connections to one endpoint; a request that would need a further one is answered 503. */
  readonly connectionsPerEndpointMax: number;
  /** Idle connections kept to one endpoint; a further one is closed. */
  readonly idlePerEndpointMax: number;
  /** Bytes of a request head; a larger one is answered 431 (414 for the target alone). */
  readonly headBytesMax: number;
  /** Fields in a request head; more are answered 431. */
  readonly fieldsMax: number;
  /** Bytes of a request kept so that it can be sent again; a larger one is not retried once it was sent. */
  readonly replayBytesMax: number;
  /** From the first byte of a request head to its last; then 408. */
  readonly headTimeout: Duration;
  /** Between two pieces of a request's body, while they are read; then 408. */
  readonly bodyTimeout: Duration;
  /** A client takes nothing of what it is sent; then its connection is broken off. */
  readonly stallTimeout: Duration;
  /** Between two requests of a client's connection; then it is closed. */
  readonly idleTimeout: Duration;
  /** Silence in a tunnel; then both sides are closed. */
  readonly tunnelTimeout: Duration;
  /** An unused upstream connection is closed after this. Shorter than the 5 s of Node's own server, the shortest common
   * default, so that it is we who close first. */
  readonly upstreamIdleTimeout: Duration;
  /** An upstream connection is closed after this however busy, so that nobody is pinned to one process behind an address. */
  readonly upstreamAgeMax: Duration;
  /** How long requests may take to finish once the gateway has been asked to stop. */
  readonly drainTimeout: Duration;
}

export const defaultLimits: GatewayLimits = {
  connectionsMax: 20_000,
  connectionsPerAddressMax: undefined,
  http2StreamsMax: 128,
  http2ResetsBurst: 200,
  http2ResetsPerSecond: 50,
  requestsMax: 10_000,
  connectionsPerEndpointMax: 10_000,
  idlePerEndpointMax: 512,
  headBytesMax: 32 * 1024,
  fieldsMax: 100,
  replayBytesMax: 64 * 1024,
  headTimeout: seconds(10),
  bodyTimeout: seconds(30),
  stallTimeout: seconds(30),
  idleTimeout: seconds(60),
  tunnelTimeout: seconds(3600),
  upstreamIdleTimeout: seconds(4),
  upstreamAgeMax: seconds(300),
  drainTimeout: seconds(10),
};

/** One mistake in a configuration. `toString` of a problem is `describeProblem`. */
export interface ConfigProblem {
  /** `gateway.json:7:14`. */
  readonly where: string;
  /** `endpoints.2.port`, empty for the whole document. */
  readonly path: string;
  /** What was found and what would be right. */
  readonly message: string;
}

export type ParsedConfig =
  | { readonly ok: true; readonly config: GatewayConfig }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export function describeProblem(problem: ConfigProblem): string {
  return problem.path === ''
    ? `${problem.where}: ${problem.message}`
    : `${problem.where}: ${problem.path}: ${problem.message}`;
}

/** Reads a configuration from `text`, JSON or YAML; `file` is only named in problems. */
export function parseGatewayConfig(text: string, file: string): ParsedConfig {
  const plain = plainJson(text);
  if (plain !== undefined) {
    const understood = understand(plain.value);
    if ('config' in understood) return { ok: true, config: understood.config };
  }
  return parseWithPlaces(text, file);
}

function understand(value: unknown): { readonly config: GatewayConfig } | { readonly mistakes: readonly Mistake[] } {
  const parsed = configShape.safeParse(value);
  if (!parsed.success) return { mistakes: parsed.error.issues.flatMap((issue) => problemsOf(issue, value)) };
  const config = configOf(parsed.data);
  const mistakes = [...safetyProblems(config), ...serviceProblems(config.services, config.routes)];
  return mistakes.length === 0 ? { config } : { mistakes };
}

interface Mistake {
  readonly path: Path;
  readonly message: string;
}

function parseWithPlaces(text: string, file: string): ParsedConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const whereAt = (offset: number): string => {
    const position = lines.linePos(offset);
    return `${file}:${position.line}:${position.col}`;
  };
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      where: whereAt(error.pos[0]),
      path: '',
      message: `not JSON or YAML: ${error.message.replace(/ at line [^]*/, '')}`,
    }));
    return { ok: false, problems };
  }
  const understood = understand(document.toJS());
  if ('config' in understood) return { ok: true, config: understood.config };
  const problems = understood.mistakes
    .map(({ path, message }) => ({ offset: offsetOf(document, path), path: path.join('.'), message }))
    .toSorted((one, other) => one.offset - other.offset)
    .map(({ offset, path, message }) => ({ where: whereAt(offset), path, message }));
  return { ok: false, problems };
}

/** Reads the endpoint list that the admin API is given: `{ "endpoints": [...] }`, or the list alone. */
export function parseEndpointList(
  value: unknown,
): { endpoints: readonly Endpoint[] } | { problems: readonly string[] } {
  const list = Array.isArray(value) ? { endpoints: value } : value;
  const parsed = endpointListShape.safeParse(list);
  if (parsed.success) return { endpoints: parsed.data.endpoints.map(endpointOf) };
  return {
    problems: parsed.error.issues
      .flatMap((issue) => problemsOf(issue, list))
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)),
  };
}

/** Reads what the policy endpoint of the admin API is given: `{ "policy": "least-request", "seed": 1 }`. */
export function parsePolicyChoice(
  value: unknown,
): { policy: BalancerName; seed: number | undefined } | { problems: readonly string[] } {
  const parsed = policyChoiceShape.safeParse(value);
  if (parsed.success) return { policy: parsed.data.policy, seed: parsed.data.seed };
  return {
    problems: parsed.error.issues
      .flatMap((issue) => problemsOf(issue, value))
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)),
  };
}

const host = z
  .string({ error: 'expected a host name or address' })
  .min(1, { error: 'expected a host name or address' });
const port = (least: 0 | 1) => whole(least, 65_535);

const policy = z.enum(balancerNames, { error: `expected one of ${balancerNames.join(', ')}` });

const endpointShape = z.strictObject({
  id: z
    .string({ error: 'expected a name' })
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, { error: 'expected 1 to 128 letters, digits, dots, dashes, colons' }),
  host,
  port: port(1),
  weight: z
    .number({ error: 'expected a number from 0 to 1000000' })
    .min(0, { error: 'expected a number from 0 to 1000000' })
    .max(1e6, { error: 'expected a number from 0 to 1000000' })
    .default(1),
  zone: z.string({ error: 'expected a name' }).optional(),
  priority: whole(0, 100).optional(),
});

const endpoints = z.array(endpointShape, { error: 'expected a list of endpoints' }).superRefine((list, context) => {
  const first = new Map<string, number>();
  list.forEach((endpoint, index) => {
    const before = first.get(endpoint.id);
    if (before === undefined) first.set(endpoint.id, index);
    else {
      context.addIssue({
        code: 'custom',
        path: [index, 'id'],
        message: `expected a name of its own: endpoint ${before} is called that too`,
      });
    }
  });
});

const endpointListShape = z.strictObject({ endpoints }, { error: 'expected an object with `endpoints`' });
const policyChoiceShape = z.strictObject(
  { policy, seed: whole(0, Number.MAX_SAFE_INTEGER).optional() },
  { error: 'expected an object with `policy`' },
);

const healthShape = z.strictObject(
  {
    path: z.string({ error: 'expected a path' }).regex(/^\/[!-~]*$/, { error: 'expected a path that begins with /' }),
    interval_ns: duration(1e6),
    timeout_ns: duration(1e6),
    fall: whole(1, 1000),
    rise: whole(1, 1000),
    jitter: share.optional(),
    initially: z.enum(['up', 'down'], { error: 'expected up or down' }).optional(),
    interval_down_ns: duration(1e6).optional(),
    interval_edge_ns: duration(1e6).optional(),
  },
  { error: 'expected an object with path, interval_ns, timeout_ns, fall, rise; or null' },
);

const outlierShape = z.strictObject(
  {
    interval_ns: duration(1e6).optional(),
    consecutive: whole(1, 1000).optional(),
    success_rate_deviations: z
      .number({ error: 'expected a number' })
      .positive({ error: 'expected more than 0' })
      .optional(),
    failure_share: share.optional(),
    latency_factor: z.number({ error: 'expected a number' }).min(1, { error: 'expected 1 or more' }).optional(),
    requests_min: whole(1, 1_000_000).optional(),
    ejection_base_ns: duration(1e6).optional(),
    ejection_max_ns: duration(1e6).optional(),
    ejected_share_max: share.optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

const limitsShape = z.strictObject({
  connections_max: whole(1, 10_000_000).optional(),
  connections_per_address_max: whole(1, 10_000_000).optional(),
  http2_streams_max: whole(1, 10_000).optional(),
  http2_resets_burst: whole(1, 1_000_000).optional(),
  http2_resets_per_second: whole(1, 1_000_000).optional(),
  requests_max: whole(1, 10_000_000).optional(),
  connections_per_endpoint_max: whole(1, 60_000).optional(),
  idle_per_endpoint_max: whole(0, 60_000).optional(),
  head_bytes_max: whole(1024, 1024 * 1024).optional(),
  fields_max: whole(8, 10_000).optional(),
  replay_bytes_max: whole(0, 16 * 1024 * 1024).optional(),
  head_timeout_ns: duration(1e6).optional(),
  body_timeout_ns: duration(1e6).optional(),
  stall_timeout_ns: duration(1e6).optional(),
  idle_timeout_ns: duration(1e6).optional(),
  tunnel_timeout_ns: duration(1e6).optional(),
  upstream_idle_timeout_ns: duration(1e6).optional(),
  upstream_age_max_ns: duration(1e6).optional(),
  drain_timeout_ns: duration(0).optional(),
});

const { service: serviceShape, keys: serviceKeys } = serviceShapes(endpoints, policy);

const configShape = z.strictObject(
  {
    listen,
    upstream: upstreamShape.optional(),
    admin: z
      .strictObject({ host, port: port(0) }, { error: 'expected an object with host and port; or null' })
      .nullish(),
    engine: z.enum(['node', 'uring', 'auto'], { error: 'expected one of node, uring, auto' }).default('node'),
    workers: whole(1, 256).default(1),
    policy: policy.default('round-robin'),
    seed: whole(0, Number.MAX_SAFE_INTEGER).default(1),
    timeout_ns: duration(1e6).default(seconds(15)),
    connect_timeout_ns: duration(1e6).optional(),
    retries: whole(0, 10).default(1),
    health: healthShape.nullish(),
    outlier: outlierShape.nullish(),
    panic_below: share.default(0),
    deadline: z
      .enum(['ignore', 'honour', 'forward'], { error: 'expected one of ignore, honour, forward' })
      .default('honour'),
    ...policyShapes,
    endpoints: endpoints.default([]),
    ...serviceKeys,
    ...observeShapes,
    limits: limitsShape.optional(),
  },
  { error: 'expected an object with at least `listen`, and `endpoints` or `services`' },
);

function configOf(raw: z.infer<typeof configShape>): GatewayConfig {
  return {
    listen: raw.listen,
    upstream: upstreamOf(raw.upstream),
    admin: raw.admin ?? undefined,
    engine: raw.engine,
    workers: raw.workers,
    policy: raw.policy,
    seed: raw.seed,
    timeout: ns(raw.timeout_ns),
    connectTimeout: ns(raw.connect_timeout_ns ?? usualConnectTimeout(raw.timeout_ns, raw.retries)),
    retries: raw.retries,
    health: raw.health === undefined || raw.health === null ? undefined : healthOf(raw.health),
    outlier: raw.outlier === undefined || raw.outlier === null ? undefined : outlierOf(raw.outlier),
    panicBelow: raw.panic_below,
    deadline: raw.deadline,
    choice: choiceOf(raw),
    admit: admitOf(raw),
    safety: safetyOf(raw),
    endpoints: raw.endpoints.map(endpointOf),
    services: raw.services.map((service) => ({
      name: service.name,
      policy: service.policy,
      endpoints: service.endpoints.map(endpointOf),
    })),
    routes: raw.routes.map(routeOf),
    observe: observeOf(raw),
    limits: limitsOf(raw.limits ?? {}),
  };
}

/** A second, or half of what every attempt would have if all went into connecting. */
function usualConnectTimeout(timeout: number, retries: number): number {
  return Math.min(seconds(1), Math.max(1e6, Math.floor(timeout / (retries + 1) / 2)));
}

function healthOf(raw: z.infer<typeof healthShape>): HealthConfig {
  return {
    path: raw.path,
    interval: ns(raw.interval_ns),
    timeout: ns(raw.timeout_ns),
    fall: raw.fall,
    rise: raw.rise,
    ...(raw.jitter === undefined ? {} : { jitter: raw.jitter }),
    ...(raw.initially === undefined ? {} : { initially: raw.initially }),
    ...(raw.interval_down_ns === undefined ? {} : { intervalDown: ns(raw.interval_down_ns) }),
    ...(raw.interval_edge_ns === undefined ? {} : { intervalEdge: ns(raw.interval_edge_ns) }),
  };
}

function limitsOf(raw: z.infer<typeof limitsShape>): GatewayLimits {
  const length = (given: number | undefined, otherwise: Duration): Duration =>
    given === undefined ? otherwise : ns(given);
  return {
    connectionsMax: raw.connections_max ?? defaultLimits.connectionsMax,
    connectionsPerAddressMax: raw.connections_per_address_max,
    http2StreamsMax: raw.http2_streams_max ?? defaultLimits.http2StreamsMax,
    http2ResetsBurst: raw.http2_resets_burst ?? defaultLimits.http2ResetsBurst,
    http2ResetsPerSecond: raw.http2_resets_per_second ?? defaultLimits.http2ResetsPerSecond,
    requestsMax: raw.requests_max ?? defaultLimits.requestsMax,
    connectionsPerEndpointMax: raw.connections_per_endpoint_max ?? defaultLimits.connectionsPerEndpointMax,
    idlePerEndpointMax: raw.idle_per_endpoint_max ?? defaultLimits.idlePerEndpointMax,
    headBytesMax: raw.head_bytes_max ?? defaultLimits.headBytesMax,
    fieldsMax: raw.fields_max ?? defaultLimits.fieldsMax,
    replayBytesMax: raw.replay_bytes_max ?? defaultLimits.replayBytesMax,
    headTimeout: length(raw.head_timeout_ns, defaultLimits.headTimeout),
    bodyTimeout: length(raw.body_timeout_ns, defaultLimits.bodyTimeout),
    stallTimeout: length(raw.stall_timeout_ns, defaultLimits.stallTimeout),
    idleTimeout: length(raw.idle_timeout_ns, defaultLimits.idleTimeout),
    tunnelTimeout: length(raw.tunnel_timeout_ns, defaultLimits.tunnelTimeout),
    upstreamIdleTimeout: length(raw.upstream_idle_timeout_ns, defaultLimits.upstreamIdleTimeout),
    upstreamAgeMax: length(raw.upstream_age_max_ns, defaultLimits.upstreamAgeMax),
    drainTimeout: length(raw.drain_timeout_ns, defaultLimits.drainTimeout),
  };
}

function outlierOf(raw: z.infer<typeof outlierShape>): OutlierSettings {
  const usual = defaultOutlierSettings;
  const requestsMin = raw.requests_min;
  const base = raw.ejection_base_ns === undefined ? usual.ejectionBase : ns(raw.ejection_base_ns);
  return {
    interval: raw.interval_ns === undefined ? usual.interval : ns(raw.interval_ns),
    consecutive: raw.consecutive ?? usual.consecutive,
    successRate: {
      endpointsMin: 5,
      requestsMin: requestsMin ?? 100,
      deviations: raw.success_rate_deviations ?? 1.9,
    },
    failureShare: { endpointsMin: 3, requestsMin: requestsMin ?? 50, threshold: raw.failure_share ?? 0.85 },
    latency:
      raw.latency_factor === undefined
        ? undefined
        : { endpointsMin: 3, requestsMin: requestsMin ?? 50, factor: raw.latency_factor },
    ejectionBase: base,
    ejectionMax: ns(Math.max(base, raw.ejection_max_ns ?? usual.ejectionMax)),
    ejectedShareMax: raw.ejected_share_max ?? usual.ejectedShareMax,
  };
}

function endpointOf(raw: z.infer<typeof endpointShape>): Endpoint {
  const { id, host: name, port: at, weight, zone, priority } = raw;
  return { id, host: name, port: at, weight, zone, ...(priority === undefined ? {} : { priority }) };
}

type Path = readonly (string | number)[];

/** One issue of zod as the problems that a person would count, each with what was found. */
function problemsOf(issue: z.core.$ZodIssue, value: unknown): readonly { path: Path; message: string }[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(path) }));
  }
  // From a part that chose its form before it was parsed.
  if (issue.code === 'custom' && issue.params?.['unknownKey'] === true) {
    return [{ path, message: unknownKey(path.slice(0, -1)) }];
  }
  return [{ path, message: `found ${found(valueAt(value, path))}, ${issue.message}` }];
}

function unknownKey(where: Path): string {
  const known = keysAt(where);
  return `unknown key${known.length === 0 ? '' : `; the keys here are ${known.join(', ')}`}`;
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
  return at;
}

function found(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

function keysAt(path: Path): readonly string[] {
  const shape = shapes.find((candidate) => candidate.at.test(path.join('.')))?.shape;
  return shape === undefined ? [] : Object.keys(shape.shape);
}

const address = z.strictObject({ host, port: port(0) });
const shapes: readonly { at: RegExp; shape: { readonly shape: object } }[] = [
  { at: /^$/, shape: configShape },
  { at: /^admin$/, shape: address },
  ...listenerShapes,
  { at: /^(services\.\d+\.)?endpoints\.\d+$/, shape: endpointShape },
  { at: /^services\.\d+$/, shape: serviceShape },
  { at: /^routes\.\d+$/, shape: routeShape },
  { at: /^health$/, shape: healthShape },
  { at: /^outlier$/, shape: outlierShape },
  { at: /^slow_start$/, shape: slowStartShape },
  { at: /^subset$/, shape: subsetShape },
  { at: /^zone$/, shape: zoneShape },
  { at: /^breaker$/, shape: breakerShape },
  { at: /^ceilings$/, shape: ceilingsShape },
  { at: /^concurrency$/, shape: concurrencyShape },
  { at: /^queue$/, shape: queueShape },
  { at: /^hedge$/, shape: hedgeShape },
  { at: /^retry_budget$/, shape: retryBudgetShape },
  { at: /^refuse_hopeless$/, shape: hopelessShape },
  { at: /^chain$/, shape: chainShape },
  { at: /^explain$/, shape: explainShape },
  { at: /^tracing$/, shape: tracingShape },
  { at: /^otlp$/, shape: otlpShape },
  { at: /^access_log$/, shape: accessLogShape },
  { at: /^limits$/, shape: limitsShape },
];

/** Where the key at `path` begins (in a list: the element), or the nearest one above it that exists. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = document.getIn(path.slice(0, length - 1), true);
    const step = path[length - 1];
    const node = isMap(parent)
      ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === step)?.key
      : undefined;
    const place = node ?? (isSeq(parent) && typeof step === 'number' ? parent.items[step] : undefined);
    if (isNode(place) && place.range) return place.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}
