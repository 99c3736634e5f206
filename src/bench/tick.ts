// One tick from two readings of everything. The replicas' counters are time integrals, so the difference of two scrapes
// divided by their distance is an exact mean, however few the scrapes.

import type { LabScrape } from '../lab.ts';
import type { LoadSnapshot } from '../load.ts';
import { type Exposition, parsePrometheus } from '../observe.ts';
import type { ClientTick, ErrorCounts, GatewayTick, HeldTick, ReplicaTick, TickLine } from '../record.ts';
import { type GatewayReading, gatewayReading } from './gateway-reading.ts';

export interface TickSources {
  readonly phase: string;
  readonly at_ns: number;
  readonly span_ns: number;
  readonly snapshot: LoadSnapshot;
  readonly before: LabScrape;
  readonly after: LabScrape;
  readonly scrapedBefore: number;
  readonly scrapedAfter: number;
}

export function tickFrom(sources: TickSources): TickLine {
  const { snapshot, before, after } = sources;
  // An error page of the gateway's own is answered by no replica; only processes of the lab are replicas.
  const ids = new Set([...before.replicas.keys(), ...after.replicas.keys(), ...after.silent]);
  const gateway = gatewayReadings(before, after);
  return {
    kind: 'tick',
    at_ns: sources.at_ns,
    span_ns: sources.span_ns,
    phase: sources.phase,
    replicas: [...ids].toSorted(byName).map((id) => replicaTick(id, sources, gateway)),
    clients: snapshot.groups.map((group, index) => clientTick(group, index === 0 ? snapshot.cpu : undefined)),
    ...(gateway === undefined ? {} : { gateway: gatewayTick(gateway, sources) }),
    ...(snapshot.held === undefined ? {} : { held: snapshot.held.map(heldTick) }),
  };
}

function heldTick(held: NonNullable<LoadSnapshot['held']>[number]): HeldTick {
  return compact<HeldTick>({
    group: held.group,
    asked: held.asked,
    held: held.held,
    opened: held.opened,
    new_asked: held.newAsked,
    lost: held.lost,
    errors: empty(held.errors) ? undefined : held.errors,
  });
}

function replicaTick(id: string, sources: TickSources, gateway: GatewayReadings | undefined): ReplicaTick {
  const seen = sources.snapshot.replicas.find((replica) => replica.id === id);
  const pair = pairOf(sources.before.replicas.get(id), sources.after.replicas.get(id));
  const spanSeconds = (sources.scrapedAfter - sources.scrapedBefore) / 1e9;
  const cpu = difference(sources.before.cpu.get(id)?.cpuNs, sources.after.cpu.get(id)?.cpuNs);
  const throttled = difference(sources.before.cpu.get(id)?.throttledNs, sources.after.cpu.get(id)?.throttledNs);
  const periods = difference(sources.before.cpu.get(id)?.throttledPeriods, sources.after.cpu.get(id)?.throttledPeriods);
  const mean = (name: string): number | undefined => divided(pair && grown(pair, name), spanSeconds);
  const inFlight =
    mean('plimsoll_replica_in_flight_seconds_total') ??
    divided(growth(gateway?.before.heldSeconds.get(id), gateway?.after.heldSeconds.get(id)), spanSeconds);
  const serviceSum = pair && grown(pair, 'plimsoll_replica_service_seconds_sum');
  return compact<ReplicaTick>({
    id,
    finished: seen?.finished ?? 0,
    started: pair && grown(pair, 'plimsoll_replica_started_total'),
    errors: seen === undefined || empty(seen.errors) ? undefined : seen.errors,
    in_flight_mean: inFlight,
    latency: seen?.latency,
    busy_workers_mean: mean('plimsoll_replica_busy_seconds_total'),
    queue_mean: mean('plimsoll_replica_queue_seconds_total'),
    service_sum_ns: serviceSum === undefined ? undefined : Math.round(serviceSum * 1e9),
    service_count: pair && grown(pair, 'plimsoll_replica_service_seconds_count'),
    cpu_ns: cpu,
    throttled_ns: throttled,
    throttled_periods: periods,
    in_rotation: gateway?.after.inRotation.get(id),
    state: sources.after.silent.includes(id) ? 'silent' : 'up',
  });
}

function clientTick(group: LoadSnapshot['groups'][number], cpu: number | undefined): ClientTick {
  return compact<ClientTick>({
    group: group.group,
    planned: group.planned,
    sent: group.sent,
    answered: group.answered,
    retries: group.tries?.retries,
    errors: empty(group.errors) ? undefined : group.errors,
    in_flight_mean: group.inFlightMean,
    in_flight_min: group.inFlightMin,
    in_flight_max: group.inFlightMax,
    latency: group.latency,
    lag: group.lag,
    refused: group.refused === 0 ? undefined : group.refused,
    cpu_ns: cpu,
    answered_by: group.answeredBy,
  });
}

function gatewayTick({ before, after }: GatewayReadings, sources: TickSources): GatewayTick {
  const now = [...after.inRotation];
  const ejected = now.filter(([id, isIn]) => !isIn && before.inRotation.get(id) === true);
  return compact<GatewayTick>({
    requests: growth(before.requests, after.requests),
    retries: growth(before.retries, after.retries),
    healthy: now.length === 0 ? undefined : now.filter(([, isIn]) => isIn).length,
    total: now.length === 0 ? undefined : now.length,
    ejections: now.length === 0 ? undefined : ejected.length,
    cpu_ns: difference(sources.before.cpu.get('gateway')?.cpuNs, sources.after.cpu.get('gateway')?.cpuNs),
  });
}

interface GatewayReadings {
  readonly before: GatewayReading;
  readonly after: GatewayReading;
}

function gatewayReadings(before: LabScrape, after: LabScrape): GatewayReadings | undefined {
  const [first, second] = [gatewayReading(before), gatewayReading(after)];
  return first === undefined || second === undefined ? undefined : { before: first, after: second };
}

interface Pair {
  readonly before: Exposition;
  readonly after: Exposition;
}

function pairOf(before: string | undefined, after: string | undefined): Pair | undefined {
  if (before === undefined || after === undefined) return undefined;
  return { before: parsePrometheus(before), after: parsePrometheus(after) };
}

/** How much a counter of a replica grew; summed over its labels. */
function grown(pair: Pair, name: string): number | undefined {
  return growth(total(pair.before, name), total(pair.after, name));
}

/** A counter that went down began again at zero: its value is the growth. */
function growth(before: number | undefined, after: number | undefined): number | undefined {
  return after === undefined || before === undefined || after < before ? after : after - before;
}

function total(exposition: Exposition, name: string): number | undefined {
  let sum: number | undefined;
  for (const sample of exposition.samples) if (sample.name === name) sum = (sum ?? 0) + sample.value;
  return sum;
}

function difference(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined || after < before ? undefined : after - before;
}

function divided(amount: number | undefined, by: number): number | undefined {
  return amount === undefined || by <= 0 ? undefined : amount / by;
}

function empty(counts: ErrorCounts): boolean {
  return Object.keys(counts).length === 0;
}

function byName(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

type Loose<Shape> = { readonly [Key in keyof Shape]: Shape[Key] | undefined };

/** Leaves out what was not observed: an absent field is not 0. */
function compact<Shape extends object>(loose: Loose<Shape>): Shape {
  return Object.fromEntries(Object.entries(loose).filter(([, value]) => value !== undefined)) as Shape;
}
