// One phase in numbers: for each replica what came, what was inside, how long it stayed and how hard it worked, and for the
// fleet the same. Times are in seconds, rates in requests a second.
//
// Which source says how many were inside a replica differs from record to record, so every such number says where it is from:
//
//   replica   its own metrics or the balancer's
//   little    nobody counted; rate × latency (Little's law)
//   rest      the replica was silent (frozen): what the clients wait for, less what the others hold

import { assert } from '../base.ts';
import type { ClientTick, ExperimentFacts, ReplicaTick, TickLine } from '../record.ts';
import { type Estimate, deviationOf, meanOverTime, quotient, sum, sumKnown } from './quantity.ts';
import type { SeenPhase } from './seen.ts';
import { medianOf } from '../stats.ts';

export interface PhaseEvidence {
  readonly name: string;
  readonly experiment?: ExperimentFacts;
  /** How long was judged. */
  readonly seconds: number;
  readonly ticks: readonly TickLine[];
  /** Those that were there from the beginning of what is judged to its end; all of them where none was. */
  readonly replicas: readonly ReplicaEvidence[];
  /** Mean number of requests inside the others, which came or went meanwhile: they are compared with nobody. */
  readonly insideVisitors?: number;
  /** Good answers a second. */
  readonly throughput: Estimate;
  /** Requests that came due, a second. */
  readonly offered?: Estimate;
  /** Of the requests that ended, the share that failed: 0–1. */
  readonly failedShare?: number;
  /** Due and not yet answered, the whole fleet. */
  readonly inFlight?: Estimate;
  /** How the number in flight swings between ticks, as a share of the swing that independent arrivals would cause. */
  readonly swing?: number;
  /** How much the number in flight grew from the first quarter of the phase to the last, as a share of its mean, beyond what more
   * answers a second explain. */
  readonly growth?: number;
  /** Mean latency of all requests. */
  readonly latency?: Estimate;
  readonly generator: GeneratorEvidence;
  readonly groups: readonly GroupEvidence[];
  /** Scatter between replicas of what each was handed in a second, ÷ what independent dice would cause: ≪ 1 in rotation. */
  readonly dispersion?: number;
}

export interface ReplicaEvidence {
  readonly id: string;
  /** Answers a second, failed ones included. */
  readonly rate: Estimate;
  /** Of all requests handed to the fleet, this replica's share: 0–1. */
  readonly share: number;
  readonly handed: number;
  readonly inFlight?: Estimate;
  readonly inFlightFrom?: 'replica' | 'little' | 'rest';
  /** Share of all that was in flight at the replicas: 0–1. */
  readonly held?: Estimate;
  /** Share of the ticks in which it held more than any other. */
  readonly fullest?: number;
  /** The same of what it held, as far as half of it had come about when three quarters of the phase had passed. */
  readonly growth?: number;
  /** Mean time in the replica: in flight ÷ rate of work done, or of answers. */
  readonly residence?: Estimate;
  /** The shortest mean latency of any tick: an upper bound of what a request costs without waiting. */
  readonly quickest?: number;
  readonly service?: ServiceSample;
  /** Pieces of work done a second: answers without those refused at the door. */
  readonly served?: number;
  readonly busyWorkers?: Estimate;
  readonly failedShare: number;
  /** Share of the time that its CPU quota stood in its way. Absent: no counters. */
  readonly throttledShare?: number;
}

export interface ServiceSample {
  readonly count: number;
  readonly mean: number;
}

export interface GeneratorEvidence {
  /** Mean time from due to sent. */
  readonly lag?: number;
  readonly cpuShare?: number;
  readonly refused: number;
  readonly sent?: number;
}

export interface GroupEvidence {
  readonly group: string;
  readonly answered: number;
  /** Of its answers, the share of the replica that gave most: 0–1. */
  readonly largestShare?: number;
  readonly largest?: string;
}

/** What the phase shows of the given replicas (others, such as dependencies, are left aside). Undefined: nothing measured. */
export function phaseEvidence(phase: SeenPhase, belongs: (id: string) => boolean): PhaseEvidence | undefined {
  const ticks = measuredTicks(phase);
  if (ticks.length === 0) return undefined;
  const seconds = sum(ticks.map(spanOf));
  const all = replicaIds(ticks, belongs);
  const visitors = visitorsIn(phase, ticks);
  const stayed = all.filter((id) => !visitors.has(id));
  const ids = stayed.length === 0 ? all : stayed;
  const inFlight = fleetInFlight(ticks, ids);
  const latency = fleetLatency(ticks, ids);
  const inFlightMean = inFlight === undefined ? undefined : meanOverTime(inFlight);
  const replicas = replicaEvidence(ticks, ids, all, seconds);
  const failed = failedShareOf(ticks, ids);
  const offered = offeredRate(ticks);
  const dispersion = dispersionOf(ticks, ids);
  const { experiment } = phase.line;
  return {
    name: phase.line.name,
    ...(experiment === undefined ? {} : { experiment }),
    seconds,
    ticks,
    replicas,
    ...insideVisitors(
      ticks,
      all.filter((id) => !ids.includes(id)),
    ),
    throughput: throughputOf(ticks, ids),
    ...(offered === undefined ? {} : { offered }),
    ...(failed === undefined ? {} : { failedShare: failed }),
    ...(inFlightMean === undefined || inFlight === undefined
      ? {}
      : {
          inFlight: inFlightMean,
          ...swingOf(inFlight, latency?.value, seconds),
          growth: growthOf(
            inFlight,
            ticks.map((tick) => answeredRate(tick, ids)),
          ),
        }),
    ...(latency === undefined ? {} : { latency }),
    generator: generatorEvidence(ticks, seconds),
    groups: groupEvidence(ticks),
    ...(dispersion === undefined ? {} : { dispersion }),
  };
}

/** Ticks that began after the warm-up; one that was cut short to less than a quarter of a second says too little. */
export function measuredTicks(phase: SeenPhase): TickLine[] {
  return phase.ticks.filter((tick) => tick.at_ns >= phase.line.measure_from_ns && tick.span_ns >= 0.25e9);
}

export function spanOf(tick: TickLine): number {
  return tick.span_ns / 1e9;
}

export function tickOf(tick: TickLine, id: string): ReplicaTick | undefined {
  return tick.replicas.find((replica) => replica.id === id);
}

function replicaIds(ticks: readonly TickLine[], belongs: (id: string) => boolean): string[] {
  const ids = new Set<string>();
  for (const tick of ticks) for (const replica of tick.replicas) if (belongs(replica.id)) ids.add(replica.id);
  return [...ids].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

/** Replicas that an autoscaler added or took away while the phase was judged. */
function visitorsIn({ events }: SeenPhase, ticks: readonly TickLine[]): ReadonlySet<string> {
  const from = ticks[0]?.at_ns ?? 0;
  return new Set(
    events
      .filter(({ event, at_ns }) => at_ns >= from && (event === 'replica-added' || event === 'replica-removed'))
      .flatMap(({ target }) => target ?? []),
  );
}

function insideVisitors(ticks: readonly TickLine[], ids: readonly string[]): { readonly insideVisitors?: number } {
  if (ids.length === 0) return {};
  const byTick = ticks.map((tick) => sum(ids.map((id) => tickOf(tick, id)?.in_flight_mean ?? 0)));
  return { insideVisitors: sum(byTick) / ticks.length };
}

/** `everybody`: those of `ids`, and whoever came or went meanwhile. */
function replicaEvidence(
  ticks: readonly TickLine[],
  ids: readonly string[],
  everybody: readonly string[],
  seconds: number,
): ReplicaEvidence[] {
  const inside = ids.map((id) => insideByTick(ticks, id, everybody));
  const heldByTick = ticks.map((_, index) => {
    const all = inside.map((one) => one.byTick[index]);
    const total = sumKnown(all);
    return { total, most: Math.max(...all.map((value) => value ?? 0)) };
  });
  const handed = ids.map((id) => sum(ticks.map((tick) => handedIn(tickOf(tick, id)))));
  const handedTotal = sum(handed);
  return ids.map((id, index): ReplicaEvidence => {
    const own = ticks.map((tick) => tickOf(tick, id));
    const { byTick, from } = inside[index] ?? { byTick: [], from: undefined };
    const known = byTick.filter((value) => value !== undefined);
    const inFlight = meanOverTime(known);
    const rates = own.map((tick, at) => (tick?.finished ?? 0) / spanAt(ticks, at));
    const rate = meanOverTime(rates);
    assert(rate !== undefined, 'a phase without ticks has no replicas');
    const shares = byTick.flatMap((value, at) => {
      const total = heldByTick[at]?.total ?? 0;
      return value === undefined || total <= 0 ? [] : [value / total];
    });
    const held = meanOverTime(shares);
    const fullest = byTick.filter((value, at) => value !== undefined && value > 0 && value === heldByTick[at]?.most);
    const finished = sum(own.map((tick) => tick?.finished ?? 0));
    const failed = sum(own.map((tick) => sum(Object.values(tick?.errors ?? {}))));
    const service = serviceOf(own);
    const busy = meanOverTime(
      own.flatMap((tick) => (tick?.busy_workers_mean === undefined ? [] : [tick.busy_workers_mean])),
    );
    const throttled = sumKnown(own.map((tick) => tick?.throttled_ns));
    const quick = own.flatMap((tick) =>
      tick?.latency !== undefined && tick.latency.count >= 20 ? [tick.latency.mean_ns / 1e9] : [],
    );
    return {
      id,
      rate,
      handed: handed[index] ?? 0,
      share: handedTotal === 0 ? 0 : (handed[index] ?? 0) / handedTotal,
      failedShare: finished + failed === 0 ? 0 : failed / Math.max(finished, failed),
      ...(inFlight === undefined || from === undefined ? {} : { inFlight, inFlightFrom: from }),
      ...(held === undefined
        ? {}
        : { held, fullest: fullest.length / ticks.length, growth: lastingGrowthOf(known, rates) }),
      ...residenceOf(inFlight, rate, service === undefined ? undefined : service.count / seconds),
      ...(quick.length === 0 ? {} : { quickest: Math.min(...quick) }),
      ...(service === undefined ? {} : { service, served: service.count / seconds }),
      ...(busy === undefined ? {} : { busyWorkers: busy }),
      ...(throttled === undefined ? {} : { throttledShare: throttled / 1e9 / seconds }),
    };
  });
}

function spanAt(ticks: readonly TickLine[], index: number): number {
  const tick = ticks[index];
  return tick === undefined ? 1 : spanOf(tick);
}

/** By Little's law, at the rate of work done where it is known: what is refused at the door was never inside. */
function residenceOf(
  inFlight: Estimate | undefined,
  rate: Estimate,
  served: number | undefined,
): { readonly residence?: Estimate } {
  if (inFlight === undefined || rate.value === 0) return {};
  const value = served ?? rate.value;
  const residence = quotient(inFlight, { value, error: (rate.error * value) / rate.value });
  return residence === undefined ? {} : { residence };
}

interface Inside {
  readonly byTick: readonly (number | undefined)[];
  readonly from: ReplicaEvidence['inFlightFrom'];
}

function insideByTick(ticks: readonly TickLine[], id: string, ids: readonly string[]): Inside {
  const own = ticks.map((tick) => tickOf(tick, id)?.in_flight_mean);
  if (own.every((value) => value !== undefined)) return { byTick: own, from: 'replica' };
  if (own.every((value) => value === undefined)) {
    const byTick = ticks.map((tick) => {
      const replica = tickOf(tick, id);
      if (replica?.finished === 0) return 0;
      if (replica?.finished === undefined || replica.latency === undefined) return undefined;
      return (replica.finished / spanOf(tick)) * (replica.latency.mean_ns / 1e9);
    });
    if (ticks.some((tick) => tick.replicas.some((replica) => replica.in_flight_mean !== undefined))) {
      return { byTick: ticks.map((tick) => rest(tick, id, ids)), from: 'rest' };
    }
    return { byTick, from: byTick.some((value) => value !== undefined) ? 'little' : undefined };
  }
  return { byTick: own.map((value, index) => value ?? rest(ticks[index], id, ids)), from: 'rest' };
}

/** What the clients wait for and no other replica holds. */
function rest(tick: TickLine | undefined, id: string, ids: readonly string[]): number | undefined {
  if (tick === undefined) return undefined;
  const waiting = sumKnown(tick.clients.map((client) => client.in_flight_mean));
  if (waiting === undefined) return undefined;
  const others = sumKnown(ids.filter((other) => other !== id).map((other) => tickOf(tick, other)?.in_flight_mean));
  return Math.max(0, waiting - (others ?? 0));
}

/** Handed over in the tick. Where only answers are counted they stand in: over a phase the two differ by what stayed. */
function handedIn(tick: ReplicaTick | undefined): number {
  return tick?.started ?? tick?.finished ?? 0;
}

function serviceOf(ticks: readonly (ReplicaTick | undefined)[]): ServiceSample | undefined {
  const count = sum(ticks.map((tick) => tick?.service_count ?? 0));
  const total = sumKnown(ticks.map((tick) => tick?.service_sum_ns));
  return count === 0 || total === undefined ? undefined : { count, mean: total / 1e9 / count };
}

function fleetInFlight(ticks: readonly TickLine[], ids: readonly string[]): number[] | undefined {
  const byTick = ticks.map((tick) => {
    const clients = sumKnown(tick.clients.map((client) => client.in_flight_mean));
    if (clients !== undefined) return clients;
    if (tick.gateway?.in_flight_mean !== undefined) return tick.gateway.in_flight_mean;
    return sumKnown(ids.map((id) => tickOf(tick, id)?.in_flight_mean));
  });
  const known = byTick.filter((value) => value !== undefined);
  return known.length < ticks.length ? undefined : known;
}

/** Mean latency by tick, then over ticks weighted by how many requests each had. */
function fleetLatency(ticks: readonly TickLine[], ids: readonly string[]): Estimate | undefined {
  const byTick = ticks.flatMap((tick) => {
    const clients = tick.clients.flatMap((client) => (client.latency === undefined ? [] : [client.latency]));
    const replicas = ids.flatMap((id) => tickOf(tick, id)?.latency ?? []);
    const latencies = clients.length > 0 ? clients : replicas;
    const count = sum(latencies.map((latency) => latency.count));
    if (count === 0) return [];
    return [{ count, mean: sum(latencies.map((latency) => latency.count * latency.mean_ns)) / count / 1e9 }];
  });
  const spread = meanOverTime(byTick.map((tick) => tick.mean));
  if (spread === undefined) return undefined;
  const count = sum(byTick.map((tick) => tick.count));
  return { value: sum(byTick.map((tick) => tick.count * tick.mean)) / count, error: spread.error };
}

/** Arrivals that know nothing of each other let the number in flight L swing with variance L; averaged over a tick of
 * length T that is 2·L·W/T (M/G/∞ with exponential stays W). Users who wait for their answers let it swing less: with no
 * think time not at all. */
function swingOf(inFlight: readonly number[], latency: number | undefined, seconds: number): { swing?: number } {
  const mean = sum(inFlight) / inFlight.length;
  if (latency === undefined || mean <= 0 || inFlight.length < 5) return {};
  const tick = seconds / inFlight.length;
  const free = Math.sqrt(2 * mean * Math.min(latency / tick, 0.5));
  return { swing: deviationOf(inFlight) / free };
}

/** From the middle second of the first quarter to that of the last, as a share of the mean, beyond what more answers a second explain:
 * by Little's law twice as many of the same length are twice as many in flight, and nothing queues for it. */
function growthOf(inFlight: readonly number[], answered: readonly number[], until: 'third' | 'last' = 'last'): number {
  const mean = sum(inFlight) / inFlight.length;
  if (mean === 0 || inFlight.length < 4) return 0;
  const quarter = Math.floor(inFlight.length / 4);
  const end = until === 'last' ? inFlight.length : inFlight.length - quarter;
  const early = (values: readonly number[]): number => medianOf(values.slice(0, quarter)) ?? 0;
  const late = (values: readonly number[]): number => medianOf(values.slice(end - quarter, end)) ?? 0;
  const more = early(answered) === 0 ? 1 : Math.max(1, late(answered) / early(answered));
  return (late(inFlight) - more * early(inFlight)) / mean;
}

/** What had grown by half when three quarters had passed. A queue that grows steadily has; a machine that stood still for the last
 * second has not. */
function lastingGrowthOf(inFlight: readonly number[], answered: readonly number[]): number {
  return Math.min(growthOf(inFlight, answered), 2 * growthOf(inFlight, answered, 'third'));
}

/** Good answers a second. */
function answeredRate(tick: TickLine, ids: readonly string[]): number {
  const clients = sumKnown(tick.clients.map((client) => client.answered));
  return (clients ?? sum(ids.map((id) => tickOf(tick, id)?.finished ?? 0))) / spanOf(tick);
}

function throughputOf(ticks: readonly TickLine[], ids: readonly string[]): Estimate {
  const mean = meanOverTime(ticks.map((tick) => answeredRate(tick, ids)));
  assert(mean !== undefined, 'a phase has ticks');
  return mean;
}

function offeredRate(ticks: readonly TickLine[]): Estimate | undefined {
  if (ticks.some((tick) => tick.clients.length === 0)) return undefined;
  return meanOverTime(ticks.map((tick) => sum(tick.clients.map((client) => client.planned)) / spanOf(tick)));
}

function failedShareOf(ticks: readonly TickLine[], ids: readonly string[]): number | undefined {
  const byClients = ticks.every((tick) => tick.clients.length > 0);
  const errors = (counts: readonly (ClientTick | ReplicaTick)[]): number =>
    sum(counts.map((one) => sum(Object.values(one.errors ?? {}))));
  if (byClients) {
    const failed = sum(ticks.map((tick) => errors(tick.clients)));
    const good = sum(ticks.map((tick) => sum(tick.clients.map((client) => client.answered))));
    return failed + good === 0 ? undefined : failed / (failed + good);
  }
  const own = ticks.map((tick) => tick.replicas.filter((replica) => ids.includes(replica.id)));
  const failed = sum(own.map(errors));
  const finished = sum(own.map((replicas) => sum(replicas.map((replica) => replica.finished ?? 0))));
  return finished === 0 ? undefined : failed / Math.max(finished, failed);
}

function generatorEvidence(ticks: readonly TickLine[], seconds: number): GeneratorEvidence {
  const clients = ticks.flatMap((tick) => tick.clients);
  const lags = clients.flatMap((client) => (client.lag === undefined ? [] : [client.lag]));
  const count = sum(lags.map((lag) => lag.count));
  const cpu = sumKnown(clients.map((client) => client.cpu_ns));
  return {
    ...(count === 0 ? {} : { lag: sum(lags.map((lag) => lag.count * lag.mean_ns)) / count / 1e9 }),
    ...(cpu === undefined ? {} : { cpuShare: cpu / 1e9 / seconds }),
    ...(clients.length === 0 ? {} : { sent: sum(clients.map((client) => client.sent)) / seconds }),
    refused: sum(clients.map((client) => client.refused ?? 0)),
  };
}

function groupEvidence(ticks: readonly TickLine[]): GroupEvidence[] {
  const groups = new Map<string, { answered: number; by: Map<string, number> }>();
  for (const client of ticks.flatMap((tick) => tick.clients)) {
    const group = groups.get(client.group) ?? { answered: 0, by: new Map<string, number>() };
    groups.set(client.group, group);
    group.answered += client.answered;
    for (const [id, count] of Object.entries(client.answered_by ?? {}))
      group.by.set(id, (group.by.get(id) ?? 0) + count);
  }
  return [...groups].map(([name, { answered, by }]) => {
    const most = [...by].toSorted(([, one], [, other]) => other - one)[0];
    const all = sum([...by.values()]);
    return {
      group: name,
      answered,
      ...(most === undefined || all === 0 ? {} : { largest: most[0], largestShare: most[1] / all }),
    };
  });
}

/** Index of dispersion between replicas of what each was handed per stretch: Σ (dᵢ − d̄)² / d̄ over the degrees of freedom.
 * Independent dice give 1, strict rotation nearly 0. Where a record counts only answers, what the replica held more at the
 * end than at the beginning is added: those were handed over too. That is known only roughly, so stretches are longer then. */
function dispersionOf(ticks: readonly TickLine[], ids: readonly string[]): number | undefined {
  const counted = ticks.every((tick) => ids.every((id) => tickOf(tick, id)?.started !== undefined));
  const length = counted ? 1 : 4;
  let scatter = 0;
  let freedom = 0;
  for (let from = 1; from + length < ticks.length; from += length) {
    const handed = ids.map((id) => handedExactly(ticks, from, from + length, id));
    const mean = sum(handed) / handed.length;
    if (mean < 5) continue;
    scatter += sum(handed.map((count) => (count - mean) ** 2)) / mean;
    freedom += handed.length - 1;
  }
  return freedom === 0 ? undefined : scatter / freedom;
}

/** What the replica was handed in the ticks from `from` up to, not including, `to`. */
function handedExactly(ticks: readonly TickLine[], from: number, to: number, id: string): number {
  const own = ticks.slice(from, to).map((tick) => tickOf(tick, id));
  const started = sumKnown(own.map((tick) => tick?.started));
  if (started !== undefined) return started;
  const before = edge(ticks, from, id);
  const after = edge(ticks, to, id);
  const stayed = before === undefined || after === undefined ? 0 : after - before;
  return Math.max(0, sum(own.map((tick) => tick?.finished ?? 0)) + stayed);
}

/** What was inside at the boundary before tick `index`: halfway between its neighbours' means. */
function edge(ticks: readonly TickLine[], index: number, id: string): number | undefined {
  const [left, right] = [ticks[index - 1], ticks[index]].map((tick) =>
    tick === undefined ? undefined : tickOf(tick, id)?.in_flight_mean,
  );
  return left === undefined || right === undefined ? undefined : (left + right) / 2;
}
