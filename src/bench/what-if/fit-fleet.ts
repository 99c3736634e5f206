// A fleet that would have left this record: replicas, workers, service times, policy, users, timeouts. Nothing is guessed that
// was not seen or configured, and whatever had to be assumed is said.
//
//   settings              from the topology line, as an operator could read them
//   mean service time     by replica: worker time ÷ pieces of work, in the judged part of the baseline
//   its spread            from how the means of single ticks scatter: variance of a tick's mean × pieces of work in it
//   time on the way       what clients waited for and no replica held: latency less residence (Little's law)
//
// A replica whose mean differs from the others' by less than three standard errors is taken to be as fast as they are: the
// slowest of four equal ones would otherwise always look slower than it is.
//
// Each mean has its error, and a prediction has to carry it: `drawnFrom` gives a fleet with means drawn from their errors, one
// for each seed.

import { dice, type Duration, ns, seconds } from '../../base.ts';
import { measuredTicks, type PhaseRecord, type ReplicaTick, type RunRecord, type TopologyLine } from '../../record.ts';
import type {
  Choice,
  Clients,
  Demand,
  Dependency,
  Distribution,
  Fault,
  Gateway,
  PolicyName,
  Scenario,
  Service,
} from '../../scenario.ts';

export interface FittedFleet {
  readonly scenario: Scenario;
  /** Relative standard error of each replica's mean service time. */
  readonly errors: ReadonlyMap<string, number>;
  /** Time on the way, to be added to every predicted latency. */
  readonly path: Duration;
  /** What was taken from where, and what was assumed: a sentence each. */
  readonly notes: readonly string[];
}

const z = 3;

/** The fleet of a record's first phase, or why there is none. */
export function fitFleet(record: RunRecord): FittedFleet | string {
  const phase = record.phases[0];
  if (phase === undefined || measuredTicks(phase).length === 0) return 'the record has no judged second';
  const { topology } = record;
  const services = topology.services.filter(({ role }) => role === 'service');
  if (services.length === 0) return 'the record names no service';
  const notes: string[] = [];
  const path = pathOf(
    phase,
    services.flatMap(({ replicas }) => replicas.map(({ id }) => id)),
  );
  const demand = demandOf(topology, phase, path, notes);
  if (typeof demand === 'string') return demand;
  const works = new Map<string, Work>();
  for (const { replicas } of topology.services) {
    for (const { id } of replicas) {
      const work = workOf(ticksOf(phase, id));
      if (work !== undefined) works.set(id, work);
    }
  }
  const dependencies = topology.services.filter(({ role }) => role === 'dependency');
  const away = new Map(dependencies.map(({ name, replicas }) => [name, residenceOf(phase, replicas[0]?.id ?? '')]));
  const fitted = services.map((service) => fitService({ service, works, phase, away, notes }));
  const failed = fitted.find((one) => typeof one === 'string');
  if (typeof failed === 'string') return failed;
  const whole = fitted.filter((one) => typeof one !== 'string');
  const first = phase.line;
  const last = measuredTicks(phase).at(-1);
  const scenario: Scenario = {
    name: record.header.scenario,
    about: 'fitted to a record',
    topology: {
      services: whole.map(({ service }) => service),
      dependencies: dependencies.map((one) => dependencyOf(one, works, notes)),
      gateway: gatewayOf(topology, notes),
      clients: clientsOf(topology, services[0]?.name ?? ''),
    },
    demand,
    faults: whole.flatMap(({ faults }) => faults),
    objectives: [],
    warmUp: ns(Math.max(2e9, first.measure_from_ns - first.at_ns)),
    duration: ns(last === undefined ? 1e9 : last.at_ns + last.span_ns - first.measure_from_ns),
    expect: undefined,
  };
  if (phase.events.length > 0) notes.push(`${phase.events.length} events of the record are not part of the fit`);
  return { scenario, errors: new Map(whole.flatMap(({ errors }) => errors)), path, notes };
}

/** The same fleet with each service time drawn from its error: what it may be, as far as the record tells. */
export function drawnFrom({ scenario, errors }: FittedFleet, seed: number): Scenario {
  const faults = [...errors].map(([replica, error]): Fault => {
    const known = scenario.faults.find((fault) => fault.kind === 'slow' && fault.replica === replica);
    const factor = known?.kind === 'slow' ? known.factor : 1;
    const drawn = Math.max(0.1, 1 + error * dice(seed, `fit/${replica}`).normal());
    return { at: ns(0), for: undefined, kind: 'slow', replica, factor: factor * drawn };
  });
  return { ...scenario, faults };
}

interface Work {
  readonly count: number;
  readonly mean: number;
  /** Variance of one piece of work ÷ mean². Undefined: too few ticks. */
  readonly spread: number | undefined;
}

function ticksOf(phase: PhaseRecord, id: string): readonly ReplicaTick[] {
  return measuredTicks(phase).flatMap((tick) => tick.replicas.filter((replica) => replica.id === id));
}

function workOf(ticks: readonly ReplicaTick[]): Work | undefined {
  const known = ticks.flatMap(({ service_count: count, service_sum_ns: total }) =>
    count === undefined || total === undefined || count === 0 ? [] : [{ count, total }],
  );
  const count = sum(known.map((one) => one.count));
  if (count < 10) return undefined;
  const mean = sum(known.map((one) => one.total)) / count;
  const squares = sum(known.map((one) => one.count * (one.total / one.count - mean) ** 2));
  const spread = known.length < 8 || mean === 0 ? undefined : squares / (known.length - 1) / mean ** 2;
  return { count, mean, spread };
}

function fitService(input: {
  readonly service: TopologyLine['services'][number];
  readonly works: ReadonlyMap<string, Work>;
  readonly phase: PhaseRecord;
  readonly away: ReadonlyMap<string, number>;
  readonly notes: string[];
}): { service: Service; faults: readonly Fault[]; errors: readonly (readonly [string, number])[] } | string {
  const { service, works, phase, away, notes } = input;
  const calls = service.calls ?? [];
  const called = sum(calls.map(({ to }) => away.get(to) ?? 0));
  const seen = service.replicas.flatMap(({ id }) => {
    const work = works.get(id);
    return work === undefined ? [] : [{ id, ...work, mean: Math.max(1, work.mean - called) }];
  });
  if (seen.length === 0) {
    return `the record does not say how long the workers of ${service.name} work: no service times in its ticks`;
  }
  const workers = service.replicas[0]?.workers;
  if (workers === undefined) return `the record does not say how many workers a replica of ${service.name} has`;
  const spread = spreadOf(seen);
  const usual = medianMean(seen);
  const alike = seen.filter(
    (one) => Math.abs(one.mean - usual) <= z * Math.sqrt(spread / one.count) * one.mean + 0.001 * usual,
  );
  const common = sum(alike.map((one) => one.mean * one.count)) / Math.max(1, sum(alike.map((one) => one.count)));
  const odd = seen.filter((one) => !alike.includes(one));
  const pooled = Math.sqrt(spread / Math.max(1, sum(alike.map((one) => one.count))));
  notes.push(
    `${service.name}: ${service.replicas.length} replicas of ${workers} workers, ${msText(common)} a request` +
      (called > 0 ? ` beside ${msText(called)} in calls` : '') +
      odd.map((one) => `, ${one.id} ${(one.mean / common).toFixed(3)} times as long`).join('') +
      `; squared spread ${spread.toFixed(2)}`,
  );
  const limit = queueLimitOf(phase, service, notes);
  return {
    service: {
      name: service.name,
      replicas: service.replicas.length,
      workers,
      serviceTime: distributionOf(common, spread),
      cpuTime: { kind: 'constant', value: ns(0) },
      queue: { limit, abandoned: 'served' },
      cpuQuota: undefined,
      calls: calls.map(({ to, timeout_ns: timeout, retries }) => ({
        to,
        timeout: timeout === undefined ? undefined : ns(timeout),
        retries: retries ?? 0,
        choice: 'round-robin' as const,
      })),
      healthSharesPool: false,
    },
    faults: odd.map((one) => ({
      at: ns(0),
      for: undefined,
      kind: 'slow' as const,
      replica: one.id,
      factor: one.mean / common,
    })),
    errors: seen.map((one) => [one.id, odd.includes(one) ? Math.sqrt(spread / one.count) : pooled] as const),
  };
}

/** Pooled over the replicas, weighted by work. One where the ticks are too few to tell: exponential. */
function spreadOf(seen: readonly Work[]): number {
  const known = seen.filter(({ spread }) => spread !== undefined);
  if (known.length === 0) return 1;
  return sum(known.map(({ spread, count }) => (spread ?? 1) * count)) / sum(known.map(({ count }) => count));
}

/** Some ninety ticks tell a squared spread to about 15 %, so between 0.7 and 1.4 it may well be an exponential's. */
function distributionOf(mean: number, spread: number): Distribution {
  if (spread < 0.02) return { kind: 'constant', value: ns(Math.round(mean)) };
  if (spread > 0.7 && spread < 1.4) return { kind: 'exponential', mean: ns(Math.round(mean)) };
  const sigma = Math.sqrt(Math.log(1 + spread));
  const median = mean * Math.exp(-(sigma ** 2) / 2);
  return { kind: 'log-normal', median: ns(median), p99: ns(median * Math.exp(2.326348 * sigma)) };
}

function medianMean(seen: readonly Work[]): number {
  const sorted = seen.map(({ mean }) => mean).toSorted((one, other) => one - other);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2;
}

/** Where replicas refused and a queue was seen at its highest, that is its limit; else the usual one. */
function queueLimitOf(phase: PhaseRecord, service: TopologyLine['services'][number], notes: string[]): number {
  const ticks = service.replicas.flatMap(({ id }) => ticksOf(phase, id));
  const refused = sum(ticks.map(({ errors }) => errors?.['status-5xx'] ?? 0));
  const highest = Math.max(0, ...ticks.map(({ queue_mean: queue }) => queue ?? 0));
  if (refused === 0 || highest < 1) return 1024;
  notes.push(`${service.name}: queues end at about ${Math.ceil(highest)}, as far as their fullest second tells`);
  return Math.ceil(highest);
}

function dependencyOf(
  { name, replicas }: TopologyLine['services'][number],
  works: ReadonlyMap<string, Work>,
  notes: string[],
): Dependency {
  const first = replicas[0];
  const work = works.get(first?.id ?? '');
  if (work === undefined) notes.push(`${name}: nothing seen of its work, so 1 ms is assumed`);
  return {
    name,
    workers: first?.workers ?? 1024,
    serviceTime: distributionOf(work?.mean ?? 1e6, work?.spread ?? 1),
  };
}

function gatewayOf({ gateway }: TopologyLine, notes: string[]): Gateway | undefined {
  if (gateway === undefined) return undefined;
  const policies: readonly string[] = ['round-robin', 'random', 'least-request'];
  const known = policies.includes(gateway.policy ?? '');
  if (!known) notes.push(`the gateway's policy is not known, so round-robin is assumed`);
  const policy: PolicyName =
    gateway.policy === 'random' || gateway.policy === 'least-request' ? gateway.policy : 'round-robin';
  return {
    policy,
    timeout: gateway.timeout_ns === undefined ? seconds(30) : ns(gateway.timeout_ns),
    connectTimeout: seconds(1),
    retries: gateway.retries ?? 0,
    health: undefined,
  };
}

function clientsOf({ clients, gateway }: TopologyLine, onlyService: string): readonly Clients[] {
  return clients.map((group): Clients => ({
    name: group.group,
    service: group.service ?? onlyService,
    via: group.via === 'unknown' ? (gateway === undefined ? 'registry' : 'gateway') : group.via,
    choice: choiceOf(group.choice),
    timeout: group.timeout_ns === undefined ? seconds(60) : ns(group.timeout_ns),
  }));
}

const choiceOf = (choice: string | undefined): Choice =>
  choice === 'pick-first' || choice === 'random' ? choice : 'round-robin';

/** Who asks. Where the record does not say, the rate that was seen, as an open demand. */
function demandOf(
  { clients }: TopologyLine,
  phase: PhaseRecord,
  path: Duration,
  notes: string[],
): readonly Demand[] | string {
  if (clients.length === 0) return 'the record names no clients';
  return clients.map(({ group, demand, connections, turnaround_p50_ns: turnaround }): Demand => {
    const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
    if (demand?.model === 'closed') {
      // What is spent on the way keeps a user from asking just as a thought does.
      return { kind: 'closed', clients: group, users: demand.users, flow, think: ns(demand.think_ns + path) };
    }
    if (demand !== undefined) {
      const arrivals = demand.arrivals === 'constant' ? 'constant' : 'poisson';
      return { kind: 'open', clients: group, ratePerSecond: demand.rate_per_s, arrivals, flow };
    }
    if (connections !== undefined && turnaround !== undefined && turnaround < 50e6) {
      notes.push(`${group}: ${connections} connections that ask again at once are taken to be closed users`);
      return { kind: 'closed', clients: group, users: connections, flow, think: ns(turnaround) };
    }
    const ticks = measuredTicks(phase);
    const planned = sum(
      ticks.flatMap((tick) => tick.clients.filter((one) => one.group === group).map((one) => one.planned)),
    );
    const ratePerSecond = Math.max(0.001, planned / (sum(ticks.map((tick) => tick.span_ns)) / 1e9));
    notes.push(
      `${group}: the record does not say who asks, so the ${ratePerSecond.toFixed(0)}/s that were seen are open`,
    );
    return { kind: 'open', clients: group, ratePerSecond, arrivals: 'poisson', flow };
  });
}

/** What clients waited for and no replica held, a request. */
function pathOf(phase: PhaseRecord, ids: readonly string[]): Duration {
  const ticks = measuredTicks(phase);
  const clients = ticks.flatMap((tick) => tick.clients.flatMap(({ latency }) => latency ?? []));
  const waited =
    sum(clients.map(({ count, mean_ns: mean }) => count * mean)) / Math.max(1, sum(clients.map(({ count }) => count)));
  const inside = sum(
    ticks.map(
      (tick) =>
        sum(tick.replicas.filter(({ id }) => ids.includes(id)).map((one) => one.in_flight_mean ?? 0)) * tick.span_ns,
    ),
  );
  const finished = sum(
    ticks.flatMap((tick) => tick.replicas.filter(({ id }) => ids.includes(id)).map((one) => one.finished ?? 0)),
  );
  const path = waited - inside / Math.max(1, finished);
  // More than some milliseconds is no way but a fault of another kind, or of the bookkeeping.
  return ns(Math.round(Math.min(Math.max(0, path), 20e6)));
}

/** How long a call is away, by Little's law. */
function residenceOf(phase: PhaseRecord, id: string): number {
  const ticks = measuredTicks(phase);
  const own = ticks.flatMap((tick) =>
    tick.replicas.filter((one) => one.id === id).map((one) => ({ ...one, span: tick.span_ns })),
  );
  const area = sum(own.map((one) => (one.in_flight_mean ?? 0) * one.span));
  const started = sum(own.map((one) => one.started ?? one.service_count ?? 0));
  return started === 0 ? 0 : area / started;
}

const msText = (value: number): string => `${(value / 1e6).toFixed(2)} ms`;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
