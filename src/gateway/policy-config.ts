// The part of the configuration that says how endpoints are chosen and what is let in: one shape for each key, and what it
// means to the policy room. A key that is left out costs nothing: what it would configure is not there.

import { z } from 'zod';
import { type Duration, ns, seconds } from '../base.ts';
import {
  type ApertureOptions,
  type BreakerSettings,
  type Ceilings,
  defaultBreakerSettings,
  defaultCeilings,
  defaultGradientSettings,
  defaultHopelessSettings,
  defaultWaitingRoomSettings,
  type GradientSettings,
  type GatewaySafety,
  type HedgeOptions,
  type HopelessSettings,
  type RetryBudgetOptions,
  type SlowStartOptions,
  type UnsafeName,
  unsafeNames,
  type WaitingRoomSettings,
  type ZoneAwareOptions,
} from '../policy.ts';
import { duration, name, positive, share, someShare, whole } from './config-numbers.ts';

/** Who among the endpoints is chosen, beyond what the balancer's name says. */
export interface ChoiceConfig {
  /** What a request sticks to: the first of these that it has. Empty: nothing. */
  readonly hashOn: readonly HashSource[];
  /** Undefined: newcomers get their whole share at once. */
  readonly slowStart: SlowStartOptions | undefined;
  /** Undefined: this gateway talks to the whole fleet. */
  readonly subset: SubsetConfig | undefined;
  /** Undefined: zones are not looked at. */
  readonly zone: Omit<ZoneAwareOptions, 'seed' | 'inner'> | undefined;
  /** Undefined: no endpoint has a fuse. */
  readonly breaker: BreakerSettings | undefined;
}

/** What is let in, and how often it may be tried. */
export interface AdmitConfig {
  readonly ceilings: Ceilings | undefined;
  readonly concurrency: GradientSettings | undefined;
  /** Undefined: what finds no place is refused at once. */
  readonly queue: WaitingRoomSettings | undefined;
  readonly hedge: HedgeConfig | undefined;
  /** Undefined: what is wanted is begun, however little time is left. */
  readonly hopeless: HopelessSettings | undefined;
  /** Undefined: retries are bounded for each request only. */
  readonly retryBudget: RetryBudgetOptions | undefined;
}

/** What the gateway is told of its surroundings, only to hold its settings against it; and what is allowed by name. */
export interface SafetyConfig extends Pick<GatewaySafety, 'before' | 'calls' | 'workers' | 'ratePerSecond' | 'spare'> {
  readonly allowed: readonly UnsafeName[];
}

export type HashSource =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string }
  | { readonly kind: 'source' }
  | { readonly kind: 'path' };

export type SubsetConfig =
  | { readonly kind: 'random'; readonly name: string; readonly size: number }
  | ({ readonly kind: 'aperture' } & ApertureOptions);

export interface HedgeConfig extends HedgeOptions {
  /** No hedge is sent before this, however quick the others are. */
  readonly delayMin: Duration;
}

const hashSource = z
  .string({ error: 'expected header:NAME, cookie:NAME, source or path' })
  .regex(/^(?:header:[!#$%&'*+.^_`|~0-9A-Za-z-]+|cookie:[!#$%&'*+.^_`|~0-9A-Za-z-]+|source|path)$/, {
    error: 'expected header:NAME, cookie:NAME, source or path',
  });

export const slowStartShape = z.strictObject(
  { window_ns: duration(1e6), aggression: positive.optional(), floor: someShare.optional() },
  { error: 'expected an object with window_ns; or null' },
);

export const subsetShape = z
  .strictObject(
    {
      name: name.optional(),
      size: whole(1, 100_000).optional(),
      peer: whole(0, 100_000).optional(),
      peers: whole(1, 100_000).optional(),
      width_min: whole(1, 100_000).optional(),
    },
    { error: 'expected an object with name and size, or with peer and peers; or null' },
  )
  .superRefine((raw, context) => {
    const random = raw.name !== undefined && raw.size !== undefined;
    const aperture = raw.peer !== undefined && raw.peers !== undefined;
    const mixed = (raw.name ?? raw.size) !== undefined && (raw.peer ?? raw.peers ?? raw.width_min) !== undefined;
    if (random === aperture || mixed) {
      context.addIssue({ code: 'custom', message: 'expected either name and size, or peer and peers' });
    } else if (aperture && (raw.peer ?? 0) >= (raw.peers ?? 0)) {
      context.addIssue({ code: 'custom', path: ['peer'], message: `expected less than peers, ${raw.peers}` });
    }
  });

export const zoneShape = z.strictObject(
  {
    here: name,
    demand_here: someShare.optional(),
    fleet_min: whole(1, 100_000).optional(),
    slew_per_second: positive.optional(),
  },
  { error: 'expected an object with here; or null' },
);

export const breakerShape = z.strictObject(
  {
    failures_in_a_row: whole(1, 100_000).optional(),
    window_ns: duration(1e6).optional(),
    requests_min: whole(1, 1_000_000).optional(),
    success_share_min: share.optional(),
    pause_min_ns: duration(1e6).optional(),
    pause_max_ns: duration(1e6).optional(),
    jitter: share.optional(),
    trial_timeout_ns: duration(1e6).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const ceilingsShape = z.strictObject(
  {
    connections: whole(1, 1_000_000).optional(),
    requests: whole(1, 1_000_000).optional(),
    waiting: whole(1, 1_000_000).optional(),
    retries: whole(0, 1_000_000).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const concurrencyShape = z.strictObject(
  {
    limit_initial: whole(1, 100_000).optional(),
    limit_min: whole(1, 100_000).optional(),
    limit_max: whole(1, 100_000).optional(),
    buffer: z.number({ error: 'expected 0 or more' }).min(0, { error: 'expected 0 or more' }).optional(),
    quantile: someShare.optional(),
    window_ns: duration(1e6).optional(),
    samples_min: whole(1, 256).optional(),
    measure_interval_ns: duration(1e6).optional(),
    measure_jitter: share.optional(),
    measure_requests: whole(1, 256).optional(),
    measure_limit: whole(1, 100_000).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const queueShape = z.strictObject(
  {
    places: whole(1, 1_000_000).optional(),
    target_ns: duration(1e6).optional(),
    interval_ns: duration(1e6).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const hedgeShape = z.strictObject(
  {
    quantile: z
      .number({ error: 'expected a number between 0 and 1' })
      .gt(0, { error: 'expected a number between 0 and 1' })
      .lt(1, { error: 'expected a number between 0 and 1' })
      .optional(),
    samples_min: whole(1, 1_000_000).optional(),
    ratio: share.optional(),
    delay_min_ns: duration(0).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const hopelessShape = z.strictObject(
  {
    quantile: someShare.optional(),
    samples_min: whole(1, 1_000_000).optional(),
    memory_ns: duration(1e6).optional(),
  },
  { error: 'expected an object; {} for the defaults, or null' },
);

export const retryBudgetShape = z.strictObject(
  {
    ratio: z.number({ error: 'expected 0 or more' }).min(0, { error: 'expected 0 or more' }).optional(),
    min_per_second: z.number({ error: 'expected 0 or more' }).min(0, { error: 'expected 0 or more' }).optional(),
    window_ns: duration(1e6).optional(),
  },
  { error: 'expected an object; or null for no budget' },
);

const beforeShape = z.strictObject(
  { timeout_ns: duration(1e6), retries: whole(0, 100).default(0) },
  { error: 'expected an object with timeout_ns; or null' },
);

const callShape = z.strictObject(
  {
    name,
    timeout_ns: duration(1e6).nullish(),
    retries: whole(0, 100).default(0),
    back_off_max_ns: duration(0).default(0),
  },
  { error: 'expected an object with name and timeout_ns' },
);

export const chainShape = z.strictObject(
  {
    before: beforeShape.nullish(),
    calls: z.array(callShape, { error: 'expected a list' }).optional(),
    workers: whole(1, 1_000_000).optional(),
    rate_per_second: positive.optional(),
    spare: z.number({ error: 'expected 1 or more' }).min(1, { error: 'expected 1 or more' }).optional(),
  },
  { error: 'expected an object; or null' },
);

/** The keys of this file, for the shape of the whole. */
export const policyShapes = {
  hash_on: z.array(hashSource, { error: 'expected a list' }).optional(),
  slow_start: slowStartShape.nullish(),
  subset: subsetShape.nullish(),
  zone: zoneShape.nullish(),
  breaker: breakerShape.nullish(),
  ceilings: ceilingsShape.nullish(),
  concurrency: concurrencyShape.nullish(),
  queue: queueShape.nullish(),
  hedge: hedgeShape.nullish(),
  refuse_hopeless: hopelessShape.nullish(),
  retry_budget: retryBudgetShape.nullish(),
  chain: chainShape.nullish(),
  unsafe: z
    .array(z.enum(unsafeNames, { error: `expected one of ${unsafeNames.join(', ')}` }), { error: 'expected a list' })
    .optional(),
};

const policyShape = z.strictObject(policyShapes);
type RawPolicy = z.infer<typeof policyShape>;

export function choiceOf(raw: RawPolicy): ChoiceConfig {
  return {
    hashOn: (raw.hash_on ?? []).map(hashSourceOf),
    slowStart: ifGiven(raw.slow_start, (given) => ({
      window: ns(given.window_ns),
      aggression: given.aggression ?? 1,
      floor: given.floor ?? 0.1,
    })),
    subset: ifGiven(raw.subset, subsetOf),
    zone: ifGiven(raw.zone, (given) => ({
      zone: given.here,
      ...(given.demand_here === undefined ? {} : { demandHere: given.demand_here }),
      fleetMin: given.fleet_min ?? 6,
      slew: given.slew_per_second ?? 0.05,
    })),
    breaker: ifGiven(raw.breaker, breakerOf),
  };
}

export function admitOf(raw: RawPolicy): AdmitConfig {
  return {
    ceilings: ifGiven(raw.ceilings, (given) => ({
      connections: given.connections ?? defaultCeilings.connections,
      requests: given.requests ?? defaultCeilings.requests,
      waiting: given.waiting ?? defaultCeilings.waiting,
      retries: given.retries ?? defaultCeilings.retries,
    })),
    concurrency: ifGiven(raw.concurrency, gradientOf),
    queue: ifGiven(raw.queue, queueOf),
    hedge: ifGiven(raw.hedge, (given) => ({
      quantile: given.quantile ?? 0.95,
      samplesMin: given.samples_min ?? 50,
      ratio: given.ratio ?? 0.05,
      delayMin: ns(given.delay_min_ns ?? 1e6),
    })),
    hopeless: ifGiven(raw.refuse_hopeless, (given) => ({
      quantile: given.quantile ?? defaultHopelessSettings.quantile,
      samplesMin: given.samples_min ?? defaultHopelessSettings.samplesMin,
      memory: length(given.memory_ns, defaultHopelessSettings.memory),
    })),
    retryBudget:
      raw.retry_budget === null
        ? undefined
        : {
            ratio: raw.retry_budget?.ratio ?? 0.2,
            minPerSecond: raw.retry_budget?.min_per_second ?? 10,
            window: length(raw.retry_budget?.window_ns, seconds(10)),
          },
  };
}

/** What the settings are held against, and what of it is allowed. */
export function safetyOf(raw: RawPolicy): SafetyConfig {
  const chain = raw.chain ?? {};
  return {
    allowed: raw.unsafe ?? [],
    before: ifGiven(chain.before, (given) => ({ timeout: ns(given.timeout_ns), retries: given.retries })),
    calls: (chain.calls ?? []).map((call) => ({
      name: call.name,
      timeout: ifGiven(call.timeout_ns, (given) => ns(given)),
      retries: call.retries,
      backOffMax: ns(call.back_off_max_ns),
    })),
    workers: chain.workers,
    ratePerSecond: chain.rate_per_second,
    spare: chain.spare,
  };
}

function ifGiven<Raw, Settings>(raw: Raw | null | undefined, settings: (given: Raw) => Settings): Settings | undefined {
  return raw === undefined || raw === null ? undefined : settings(raw);
}

function hashSourceOf(text: string): HashSource {
  const [kind = '', rest = ''] = text.split(':', 2);
  if (kind === 'header') return { kind, name: rest.toLowerCase() };
  if (kind === 'cookie') return { kind, name: rest };
  return kind === 'path' ? { kind } : { kind: 'source' };
}

function subsetOf(raw: z.infer<typeof subsetShape>): SubsetConfig {
  if (raw.name !== undefined) return { kind: 'random', name: raw.name, size: raw.size ?? 1 };
  const { peer = 0, peers = 1, width_min: widthMin = 12 } = raw;
  return { kind: 'aperture', peer, peers, widthMin };
}

function breakerOf(raw: z.infer<typeof breakerShape>): BreakerSettings {
  const usual = defaultBreakerSettings;
  const pauseMin = length(raw.pause_min_ns, usual.pauseMin);
  return {
    failuresInARow: raw.failures_in_a_row ?? usual.failuresInARow,
    window: length(raw.window_ns, usual.window),
    requestsMin: raw.requests_min ?? usual.requestsMin,
    successShareMin: raw.success_share_min ?? usual.successShareMin,
    pauseMin,
    pauseMax: ns(Math.max(pauseMin, raw.pause_max_ns ?? usual.pauseMax)),
    jitter: raw.jitter ?? usual.jitter,
    trialTimeout: length(raw.trial_timeout_ns, usual.trialTimeout),
  };
}

function gradientOf(raw: z.infer<typeof concurrencyShape>): GradientSettings {
  const usual = defaultGradientSettings;
  const limitMin = raw.limit_min ?? usual.limitMin;
  const limitMax = Math.max(limitMin, raw.limit_max ?? usual.limitMax);
  return {
    limitInitial: Math.min(limitMax, Math.max(limitMin, raw.limit_initial ?? usual.limitInitial)),
    limitMin,
    limitMax,
    buffer: raw.buffer ?? usual.buffer,
    quantile: raw.quantile ?? usual.quantile,
    window: length(raw.window_ns, usual.window),
    samplesMin: raw.samples_min ?? usual.samplesMin,
    measureInterval: length(raw.measure_interval_ns, usual.measureInterval),
    measureJitter: raw.measure_jitter ?? usual.measureJitter,
    measureRequests: raw.measure_requests ?? usual.measureRequests,
    measureLimit: raw.measure_limit ?? usual.measureLimit,
  };
}

function queueOf(raw: z.infer<typeof queueShape>): WaitingRoomSettings {
  const usual = defaultWaitingRoomSettings;
  const target = length(raw.target_ns, usual.target);
  return {
    places: raw.places ?? usual.places,
    target,
    interval: ns(Math.max(target, raw.interval_ns ?? usual.interval)),
  };
}

function length(given: number | undefined, otherwise: Duration): Duration {
  return given === undefined ? otherwise : ns(given);
}
