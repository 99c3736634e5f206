// The shape of each kind of line: `lines.ts` once more, for the running program. The compiler sees to it that the two agree.

import type { Quantiles, RecordLine } from './lines.ts';
import type {
  CallFacts,
  ClientFacts,
  ClientTick,
  DemandFacts,
  EndLine,
  Environment,
  ErrorCounts,
  EventLine,
  ExperimentFacts,
  GatewayFacts,
  GatewayTick,
  HeaderLine,
  HealthFacts,
  HeldTick,
  HistogramLine,
  HistogramOf,
  JournalLine,
  LedgerLine,
  PhaseLine,
  ReplicaFacts,
  ReplicaTick,
  ServiceFacts,
  TickLine,
  TopologyLine,
  VerdictLine,
} from './lines.ts';
import type { UnfinishedFields } from '../stats.ts';
import { amount, anything, count, flag, list, map, number, numberOrText, object, oneOf, optional } from './shape.ts';
import { type Fault, type Shape, tagged, text, whole } from './shape.ts';

const environment = object<Environment>({
  plimsoll: text,
  node: optional(text),
  os: optional(text),
  kernel: optional(text),
  cpu_model: optional(text),
  cores: optional(amount),
  memory_bytes: optional(amount),
  limits: optional(map(numberOrText)),
  programs: optional(map(text)),
  sources: optional(list(text)),
});

const header = object<HeaderLine>({
  kind: oneOf('header'),
  format: oneOf('plimsoll-record'),
  version: count,
  id: text,
  started_at: text,
  world: oneOf('lab', 'sim', 'live', 'foreign'),
  scenario: text,
  seed: optional(number),
  environment,
});

const service = object<ServiceFacts>({
  name: text,
  role: oneOf('service', 'dependency'),
  replicas: list(
    object<ReplicaFacts>({
      id: text,
      address: optional(text),
      workers: optional(amount),
      cpu_quota: optional(amount),
      zone: optional(text),
    }),
  ),
  calls: optional(
    list(
      object<CallFacts>({
        to: text,
        timeout_ns: optional(amount),
        retries: optional(count),
        back_off_ns: optional(amount),
        retry_budget: optional(amount),
      }),
    ),
  ),
  queue_limit: optional(count),
  queue_abandoned: optional(oneOf('served', 'dropped')),
  health_shares_pool: optional(flag),
});

const gateway = object<GatewayFacts>({
  program: text,
  version: optional(text),
  policy: optional(text),
  timeout_ns: optional(amount),
  retries: optional(count),
  count: optional(count),
  health: optional(object<HealthFacts>({ interval_ns: amount, timeout_ns: amount, fall: count, rise: count })),
});

const demand = tagged<DemandFacts, 'model'>('model', {
  closed: object<Extract<DemandFacts, { model: 'closed' }>>({ model: oneOf('closed'), users: count, think_ns: amount }),
  open: object<Extract<DemandFacts, { model: 'open' }>>({ model: oneOf('open'), rate_per_s: amount, arrivals: text }),
});

const client = object<ClientFacts>({
  group: text,
  via: oneOf('gateway', 'registry', 'forwarder', 'unknown'),
  choice: optional(text),
  service: optional(text),
  demand: optional(demand),
  timeout_ns: optional(amount),
  retries: optional(count),
  retry_budget: optional(amount),
  back_off_ns: optional(amount),
  zone: optional(text),
  pinned: optional(flag),
  keep_alive_requests: optional(amount),
  keep_alive_ns: optional(amount),
  connections: optional(amount),
  turnaround_p50_ns: optional(amount),
  turnaround_p90_ns: optional(amount),
});

const topology = object<TopologyLine>({
  kind: oneOf('topology'),
  at_ns: amount,
  services: list(service),
  gateway: optional(gateway),
  clients: list(client),
});

const experiment = object<ExperimentFacts>({
  kind: oneOf(
    'stop-replica',
    'open-loop',
    'swap-policy',
    'slow-another',
    'kill-suspect',
    'scale-out',
    'scale-up',
    'random-choice',
    'through-forwarder',
    'less-load',
    'visit-alone',
  ),
  did: text,
  target: optional(text),
  policy: optional(text),
  factor: optional(number),
  replicas: optional(number),
  workers: optional(number),
  rate_per_s: optional(number),
  users: optional(number),
});

const phase = object<PhaseLine>({
  kind: oneOf('phase'),
  at_ns: amount,
  name: text,
  measure_from_ns: amount,
  experiment: optional(experiment),
});

const event = object<EventLine>({
  kind: oneOf('event'),
  at_ns: amount,
  event: text,
  target: optional(text),
  detail: optional(text),
});

const errors: Shape<ErrorCounts> = map(number);
const quantiles = object<Quantiles>({
  count,
  mean_ns: number,
  p50_ns: number,
  p90_ns: number,
  p99_ns: number,
  max_ns: number,
});

// Measured quantities may be any number: a counter that began again shows as a negative difference, and it is for whoever
// judges to see it, not for the reader to refuse the whole record.
const replicaTick = object<ReplicaTick>({
  id: text,
  finished: optional(number),
  started: optional(number),
  errors: optional(errors),
  in_flight_mean: optional(number),
  latency: optional(quantiles),
  busy_workers_mean: optional(number),
  queue_mean: optional(number),
  service_sum_ns: optional(number),
  service_count: optional(number),
  backlogged_ns: optional(amount),
  backlogged_finished: optional(amount),
  cpu_ns: optional(number),
  throttled_ns: optional(number),
  throttled_periods: optional(number),
  in_rotation: optional(flag),
  state: optional(text),
});

const clientTick = object<ClientTick>({
  group: text,
  planned: number,
  sent: number,
  answered: number,
  retries: optional(number),
  errors: optional(errors),
  in_flight_mean: number,
  in_flight_min: optional(number),
  in_flight_max: optional(number),
  latency: optional(quantiles),
  lag: optional(quantiles),
  refused: optional(number),
  cpu_ns: optional(number),
  answered_by: optional(map(number)),
});

const heldTick = object<HeldTick>({
  group: text,
  asked: number,
  held: number,
  opened: number,
  new_asked: number,
  lost: number,
  errors: optional(errors),
});

const tick = object<TickLine>({
  kind: oneOf('tick'),
  at_ns: amount,
  span_ns: amount,
  phase: text,
  replicas: list(replicaTick),
  clients: list(clientTick),
  gateway: optional(
    object<GatewayTick>({
      requests: optional(number),
      retries: optional(number),
      errors: optional(errors),
      in_flight_mean: optional(number),
      healthy: optional(number),
      total: optional(number),
      ejections: optional(number),
      cpu_ns: optional(number),
    }),
  ),
  held: optional(list(heldTick)),
});

const histogram = object<HistogramLine>({
  kind: oneOf('histogram'),
  at_ns: amount,
  phase: text,
  of: object<HistogramOf>({
    replica: optional(text),
    group: optional(text),
    what: oneOf('latency', 'service', 'lag'),
  }),
  scale: whole,
  zero_count: count,
  zero_threshold_ns: amount,
  offset: whole,
  counts: list(whole),
  count,
  sum_ns: amount,
  min_ns: optional(amount),
  max_ns: optional(amount),
  unfinished: optional(
    object<UnfinishedFields>({ zero_count: count, offset: whole, counts: list(whole), count, max_ns: amount }),
  ),
});

const ledger = object<LedgerLine>({
  kind: oneOf('ledger'),
  at_ns: amount,
  phase: text,
  group: text,
  planned: count,
  answered: count,
  failed: count,
  timed_out: count,
  refused: count,
  in_flight_at_end: count,
  never_sent: count,
});

const journal = object<JournalLine>({ kind: oneOf('journal'), at_ns: amount, text });
const verdict = object<VerdictLine>({ kind: oneOf('verdict'), at_ns: amount, verdict: anything });
const end = object<EndLine>({
  kind: oneOf('end'),
  at_ns: amount,
  reason: text,
  detail: optional(text),
  digest: optional(text),
});

/** By kind, in the order in which they first come in a record. */
export const lineShapes: { readonly [K in RecordLine['kind']]: Shape<Extract<RecordLine, { readonly kind: K }>> } = {
  header,
  topology,
  phase,
  event,
  tick,
  histogram,
  ledger,
  journal,
  verdict,
  end,
};

const anyLine = tagged<RecordLine, 'kind'>('kind', lineShapes);

/** Whether this version knows such lines at all. */
export const isKnownKind = (kind: string): boolean => Object.hasOwn(lineShapes, kind);

/** True for a line as it should be. Otherwise the first thing wrong is put into `faults`. */
export function isLine(value: unknown, faults: Fault[]): value is RecordLine {
  const fault = anyLine.fault(value, '');
  if (fault !== undefined) faults.push(fault);
  return fault === undefined;
}
