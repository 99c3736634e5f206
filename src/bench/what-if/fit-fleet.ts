// A fleet that would have left this record: replicas, workers, service times, policy, users, timeouts. Nothing is guessed that
// was not seen or configured, and whatever had to be assumed is said.
//
//   settings              from the topology line, as an operator could read them
//   mean service time     by replica: worker time ÷ pieces of work, in the judged part of the baseline
//   its spread            from how the means of single ticks scatter: variance of a tick's mean × pieces of work in it
//   processor time        of it, what the process used of a processor, where that was seen
//   time on the way       what clients waited for and no replica held: latency less residence (Little's law)
//   what went wrong       who was slow, silent or failing for a while (`seen-faults.ts`); the usual is then read from the calm rest
//
// A replica whose mean differs from the others' by less than three standard errors is taken to be as fast as they are: the
// slowest of four equal ones would otherwise always look slower than it is.
//
// Each mean has its error, and a prediction has to carry it: `drawnFrom` gives a fleet with means drawn from their errors, one
// for each seed. Replicas that are alike share one mean, and so its error.

import { dice, type Duration, ns } from '../../base.ts';
import { measuredTicks, type PhaseRecord, type ReplicaTick, type RunRecord, type ServiceFacts } from '../../record.ts';
import type { Dependency, Distribution, Fault, Queue, Scenario, Service } from '../../scenario.ts';
import { isBad } from '../recovery.ts';
import { multiplied } from './changes.ts';
import { callsOf, clientsOf, demandOf, gatewayOf } from './fit-settings.ts';
import { faultsSeen, type SeenFaults } from './seen-faults.ts';

export interface FittedFleet {
  readonly scenario: Scenario;
  /** Relative standard error of the mean service time: of each service's alike replicas by its name, of the others by their ids. */
  readonly errors: ReadonlyMap<string, number>;
  /** Time on the way, to be added to every predicted latency. */
  readonly path: Duration;
  /** What was taken from where, and what was assumed: a sentence each. */
  readonly notes: readonly string[];
}

const z = 3;
/** Of a phase in which something went wrong, what begins before this is still the start. */
const startLength = 2e9;
const calmTicksMin = 3;
/** Fewer clients that left tell nothing of what becomes of them. Where they are served all the same, as good as all are. */
const timedOutMin = 100;
const servedShareMin = 0.9;

/** The fleet of a record's first phase, or why there is none. */
export function fitFleet(record: RunRecord): FittedFleet | string {
  const phase = record.phases[0];
  if (phase === undefined || measuredTicks(phase).length === 0) return 'the record has no judged second';
  return fitPhase(record, phase);
}

/** The fleet of one phase of it, or of a part of one. */
export function fitPhase({ header, topology }: RunRecord, whole: PhaseRecord): FittedFleet | string {
  const services = topology.services.filter(({ role }) => role === 'service');
  if (services.length === 0) return 'the record names no service';
  const seen = faultsSeen(whole, topology);
  const notes = [...seen.notes];
  const phase = calmPart(whole, seen, notes);
  const path = pathOf(
    phase,
    services.flatMap(({ replicas }) => replicas.map(({ id }) => id)),
  );
  const demand = demandOf(topology, phase, path, notes);
  if (typeof demand === 'string') return demand;
  const works = new Map(
    topology.services.flatMap(({ replicas }) =>
      replicas.flatMap(({ id }) => {
        const work = workOf(ticksOf(phase, id));
        return work === undefined ? [] : [[id, work] as const];
      }),
    ),
  );
  const dependencies = topology.services.filter(({ role }) => role === 'dependency');
  const away = new Map(dependencies.map(({ name, replicas }) => [name, residenceOf(phase, replicas[0]?.id ?? '')]));
  const fitted = services.map((service) => fitService({ service, works, phase, away, notes }));
  const failed = fitted.find((one) => typeof one === 'string');
  if (typeof failed === 'string') return failed;
  const found = fitted.filter((one) => typeof one !== 'string');
  const scenario: Scenario = {
    name: header.scenario,
    about: 'fitted to a record',
    topology: {
      services: found.map(({ service }) => service),
      dependencies: dependencies.map((one) => dependencyOf(one, works, notes)),
      gateway: gatewayOf(topology, notes),
      clients: clientsOf(topology, services[0]?.name ?? '', notes),
    },
    demand,
    faults: [...found.flatMap(({ faults }) => faults), ...seen.faults],
    objectives: [],
    ...lengthsOf(whole),
    expect: undefined,
  };
  const errors = new Map([...seen.errors, ...found.flatMap((one) => one.errors)]);
  return { scenario, errors, path, notes };
}

/** The same fleet with each service time drawn from its error: what it may be, as far as the record tells. */
export function drawnFrom({ scenario, errors }: FittedFleet, seed: number): Scenario {
  const drawn = (name: string): number => {
    const error = errors.get(name);
    return error === undefined ? 1 : Math.max(0.1, 1 + error * dice(seed, `fit/${name}`).normal());
  };
  const services = scenario.topology.services.map((service) => ({
    ...service,
    serviceTime: multiplied(service.serviceTime, drawn(service.name)),
  }));
  const faults = scenario.faults.map((fault): Fault =>
    fault.kind === 'slow' ? { ...fault, factor: fault.factor * drawn(fault.replica) } : fault,
  );
  return { ...scenario, topology: { ...scenario.topology, services }, faults };
}

/** Where something went wrong for a while: the ticks in which nothing was, and in which clients were served well. */
function calmPart(phase: PhaseRecord, { faults, isCalm }: SeenFaults, notes: string[]): PhaseRecord {
  if (faults.every(({ at }) => at === 0)) return phase;
  const from = phase.line.at_ns + startLength;
  const ticks = phase.ticks.filter((tick) => tick.at_ns >= from && isCalm(tick) && !isBad(tick));
  if (ticks.length < calmTicksMin) {
    notes.push('there are hardly any seconds in which nothing was wrong, so the usual is read from all of them');
    return phase;
  }
  return { ...phase, line: { ...phase.line, measure_from_ns: from }, ticks };
}

function lengthsOf(phase: PhaseRecord): Pick<Scenario, 'warmUp' | 'duration'> {
  const { at_ns: at, measure_from_ns: from } = phase.line;
  const last = measuredTicks(phase).at(-1);
  return {
    warmUp: ns(Math.max(startLength, from - at)),
    duration: ns(last === undefined ? 1e9 : last.at_ns + last.span_ns - from),
  };
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

interface FittedService {
  readonly service: Service;
  readonly faults: readonly Fault[];
  readonly errors: readonly (readonly [string, number])[];
}

function fitService(input: {
  readonly service: ServiceFacts;
  readonly works: ReadonlyMap<string, Work>;
  readonly phase: PhaseRecord;
  readonly away: ReadonlyMap<string, number>;
  readonly notes: string[];
}): FittedService | string {
  const { service, works, phase, away, notes } = input;
  const { name, replicas } = service;
  const calls = callsOf(service);
  const called = sum(calls.map(({ to }) => away.get(to) ?? 0));
  const seen = replicas.flatMap(({ id }) => {
    const work = works.get(id);
    return work === undefined ? [] : [{ id, ...work, mean: Math.max(1, work.mean - called) }];
  });
  if (seen.length === 0) {
    return `the record does not say how long the workers of ${name} work: no service times in its ticks`;
  }
  const workers = replicas[0]?.workers;
  if (workers === undefined) return `the record does not say how many workers a replica of ${name} has`;
  const spread = spreadOf(seen);
  const { common, pooled, odd } = meansOf(seen, spread);
  const processor = processorTime(phase, replicas, common);
  notes.push(serviceSentence({ service, workers, common, processor, called, odd, spread }));
  const zones = replicas.flatMap(({ zone }) => zone ?? []);
  return {
    service: {
      name,
      replicas: replicas.length,
      workers,
      serviceTime: distributionOf(common - processor, spread),
      cpuTime: { kind: 'constant', value: ns(Math.round(processor)) },
      queue: {
        limit: service.queue_limit ?? queueLimitOf(phase, service, notes),
        abandoned: service.queue_abandoned ?? abandonedOf(phase, service, notes),
      },
      cpuQuota: replicas[0]?.cpu_quota,
      calls,
      healthSharesPool: service.health_shares_pool ?? false,
      ...(zones.length === replicas.length ? { zones } : {}),
    },
    faults: odd.map(({ id, slowness }) => ({ at: ns(0), for: undefined, kind: 'slow', replica: id, factor: slowness })),
    errors: [[name, pooled], ...odd.map(({ id, error }) => [id, error] as const)],
  };
}

interface OddReplica {
  readonly id: string;
  /** Its mean ÷ that of the others, and the relative standard error of it. */
  readonly slowness: number;
  readonly error: number;
}

/** One mean for those that are alike, with its relative standard error, and what the others are to it. */
function meansOf(
  seen: readonly (Work & { readonly id: string })[],
  spread: number,
): { readonly common: number; readonly pooled: number; readonly odd: readonly OddReplica[] } {
  const usual = medianMean(seen);
  const alike = seen.filter(
    (one) => Math.abs(one.mean - usual) <= z * Math.sqrt(spread / one.count) * one.mean + 0.001 * usual,
  );
  const pieces = Math.max(1, sum(alike.map(({ count }) => count)));
  const common = sum(alike.map(({ mean, count }) => mean * count)) / pieces;
  return {
    common,
    pooled: Math.sqrt(spread / pieces),
    odd: seen
      .filter((one) => !alike.includes(one))
      .map(({ id, mean, count }) => ({ id, slowness: mean / common, error: Math.sqrt(spread / count) })),
  };
}

function serviceSentence(fitted: {
  readonly service: ServiceFacts;
  readonly workers: number;
  readonly common: number;
  readonly processor: number;
  readonly called: number;
  readonly odd: readonly OddReplica[];
  readonly spread: number;
}): string {
  const { service, workers, common, processor, called, odd, spread } = fitted;
  return (
    `${service.name}: ${service.replicas.length} replicas of ${workers} workers, ${msText(common)} a request` +
    (processor > 0 ? `, ${msText(processor)} of it on a processor` : '') +
    (called > 0 ? ` beside ${msText(called)} in calls` : '') +
    odd.map(({ id, slowness }) => `, ${id} ${slowness.toFixed(3)} times as long`).join('') +
    `; squared spread ${spread.toFixed(2)}`
  );
}

/** Processor time a piece of work; 0 where it was not seen. What a process does beside its work is in it, so it is never the whole. */
function processorTime(phase: PhaseRecord, replicas: ServiceFacts['replicas'], whole: number): number {
  const ticks = replicas.flatMap(({ id }) => ticksOf(phase, id));
  const known = ticks.filter(({ cpu_ns: used, service_count: count }) => used !== undefined && count !== undefined);
  const count = sum(known.map(({ service_count: own = 0 }) => own));
  const used = sum(known.map(({ cpu_ns: own = 0 }) => own));
  return count === 0 ? 0 : Math.min(used / count, 0.9 * whole);
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
function queueLimitOf(phase: PhaseRecord, service: ServiceFacts, notes: string[]): number {
  const ticks = service.replicas.flatMap(({ id }) => ticksOf(phase, id));
  const refused = sum(ticks.map(({ errors }) => errors?.['status-5xx'] ?? 0));
  const highest = Math.max(0, ...ticks.map(({ queue_mean: queue }) => queue ?? 0));
  if (refused === 0 || highest < 1) return 1024;
  notes.push(`${service.name}: queues end at about ${Math.ceil(highest)}, as far as their fullest second tells`);
  return Math.ceil(highest);
}

/** Work is done in vain for those who have left, or it is not: as many pieces end as are answered, though clients time out. */
function abandonedOf(phase: PhaseRecord, { name, replicas }: ServiceFacts, notes: string[]): Queue['abandoned'] {
  const clients = measuredTicks(phase).flatMap((tick) => tick.clients);
  const timedOut = sum(clients.map(({ errors }) => errors?.['timeout'] ?? 0));
  if (timedOut < timedOutMin || clients.some(({ retries = 0 }) => retries > 0)) return 'served';
  const done = sum(replicas.flatMap(({ id }) => ticksOf(phase, id).map(({ service_count: count = 0 }) => count)));
  const inVain = (done - sum(clients.map(({ answered }) => answered))) / timedOut;
  if (inVain > servedShareMin) return 'served';
  notes.push(
    `${name}: of those who timed out ${(100 * Math.max(0, inVain)).toFixed(0)} % were served all the same, so who leaves is taken out of the queue`,
  );
  return 'dropped';
}

function dependencyOf({ name, replicas }: ServiceFacts, works: ReadonlyMap<string, Work>, notes: string[]): Dependency {
  const first = replicas[0];
  const work = works.get(first?.id ?? '');
  if (work === undefined) notes.push(`${name}: nothing seen of its work, so 1 ms is assumed`);
  return {
    name,
    workers: first?.workers ?? 1024,
    serviceTime: distributionOf(work?.mean ?? 1e6, work?.spread ?? 1),
  };
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
