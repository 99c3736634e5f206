// The world as lines of a record: what an operator with the lab's instruments would have seen of it in one second, and no
// more. A replica that stands still or is dead cannot be scraped, at either end of the second: then its own figures are
// absent, and only what clients and the gateway saw of it remains.

import {
  type ClientTick,
  type ErrorCounts,
  type GatewayTick,
  type HistogramLine,
  quantilesOf,
  type ReplicaTick,
  type TickLine,
} from '../record.ts';
import { type Histogram, histogramFields } from '../stats.ts';
import { cell, cellsEach } from './cells.ts';
import type { Fleet } from './fleet.ts';
import { cutLevel } from './gate.ts';
import type { Group } from './group.ts';
import type { Station } from './station.ts';
import type { World } from './world.ts';

/** From so many stations on a tick tells only what the diagnosis lives on, and to four digits: 50,000 replicas are five megabytes. */
const largeFleet = 5000;

/** Of so many replicas at most a tick says whom of them each group was answered by. */
const answeredByMax = 512;

export class Ticker {
  readonly #world: World;
  /** Every station's numbers when they were last looked at, and who was silent then. */
  #before: Float64Array;
  /** What they were before that: to be written over. */
  #spare: Float64Array | undefined;
  #silent: Uint8Array;
  /** Who was there then. */
  #there: Uint8Array;
  #gatewayRequests = 0;
  #gatewayRetries = 0;
  #ejections = 0;
  /** Of each group's clients, when they were last counted. */
  readonly #clientRetries = new Map<Group, number>();
  #gatewayErrors = new Map<string, number>();
  #from: number;
  readonly #brief: boolean;

  /** The first tick begins now. */
  constructor(world: World, brief = false) {
    this.#brief = brief || world.fleet.stations.length > largeFleet;
    this.#world = world;
    this.#from = world.now;
    for (const station of world.fleet.stations) {
      station.settle(world.now);
      world.books.clearRecent(station.index);
      this.#inFlightFromOutside(station);
    }
    this.#before = world.fleet.cells.copy();
    this.#silent = silentOf(world.fleet.stations);
    this.#there = thereIn(world.fleet);
    this.#cutGateways();
  }

  /** What happened since the last tick. */
  tick(phase: string): TickLine {
    const { fleet, groups, now } = this.#world;
    const span = now - this.#from;
    for (const station of fleet.stations) station.settle(now);
    const after = fleet.cells.copy(this.#spare);
    const silent = silentOf(fleet.stations);
    const there = thereIn(fleet);
    const told = fleet.stations.filter(({ index }) => there[index] === 1 || this.#there[index] === 1);
    const line: TickLine = {
      kind: 'tick',
      at_ns: this.#from,
      span_ns: span,
      phase,
      replicas: told.map((station) => this.#replica(station, span, after, silent)),
      clients: groups.map((group) => this.#client(group)),
      ...this.#cutGateways(),
    };
    this.#from = now;
    this.#spare = this.#before;
    this.#before = after;
    this.#silent = silent;
    this.#there = there;
    return line;
  }

  #replica(station: Station, span: number, after: Float64Array, silent: Uint8Array): ReplicaTick {
    const { books, fleet } = this.#world;
    const { index } = station;
    const isLimited = fleet.siteOf(station).service.cpuQuota !== undefined;
    const tally = books.recent[index];
    const outside = this.#inFlightFromOutside(station);
    const latency = tally?.latency === undefined ? undefined : quantilesOf(tally.latency);
    const isSilent = silent[index] === 1;
    const grown = (place: number): number =>
      (after[cellsEach * index + place] ?? 0) - (this.#before[cellsEach * index + place] ?? 0);
    const tick: ReplicaTick = {
      id: station.id,
      finished: books.finished[index] ?? 0,
      ...errorsOf(tally?.errors),
      ...(latency === undefined ? {} : { latency }),
      ...(isSilent || this.#silent[index] === 1 ? inFlightOnly(outside) : grownBetween(grown, span, isLimited)),
      ...this.#rotation(station),
      state: this.#stateOf(station, isSilent),
    };
    books.clearRecent(index);
    return this.#brief ? inShort(tick) : tick;
  }

  #stateOf(station: Station, isSilent: boolean): string {
    if (station.place >= this.#world.fleet.siteOf(station).listed) return 'draining';
    return isSilent ? 'silent' : 'up';
  }

  #inFlightFromOutside(station: Station): number | undefined {
    const { fleet, now } = this.#world;
    return this.#world.gateway(fleet.siteOf(station).name)?.cutEndpoint(station.place, now);
  }

  /** Only where somebody checks: otherwise nobody is ever out. */
  #rotation(station: Station): Pick<ReplicaTick, 'in_rotation'> {
    const gate = this.#world.gateway(this.#world.fleet.siteOf(station).name);
    return gate === undefined || !this.#world.checksHealth ? {} : { in_rotation: gate.isHealthy(station.place) };
  }

  #client(group: Group): ClientTick {
    const { recent } = group;
    const inFlight = cutLevel(group.inFlight, this.#world.now);
    const latency = quantilesOf(recent.latency);
    const tick: ClientTick = {
      group: group.name,
      planned: recent.planned,
      sent: recent.planned,
      answered: recent.answered,
      ...this.#cutRetries(group),
      ...errorsOf(recent.errors),
      in_flight_mean: inFlight.mean,
      in_flight_min: inFlight.min,
      in_flight_max: inFlight.max,
      ...(latency === undefined ? {} : { latency }),
      lag: { count: recent.planned, mean_ns: 0, p50_ns: 0, p90_ns: 0, p99_ns: 0, max_ns: 0 },
      ...this.#answeredBy(group),
    };
    recent.clear();
    return tick;
  }

  #cutRetries(group: Group): Pick<ClientTick, 'retries'> {
    if (group.retry === undefined) return {};
    const retries = group.retried - (this.#clientRetries.get(group) ?? 0);
    this.#clientRetries.set(group, group.retried);
    return { retries };
  }

  /** In a large fleet each group's part of it would be as long as the tick itself; there the replicas' own counts must do. */
  #answeredBy(group: Group): Pick<ClientTick, 'answered_by'> {
    const taken = group.takeAnswered();
    if (this.#brief || taken.length > answeredByMax) return {};
    const { stations } = this.#world.fleet;
    return { answered_by: Object.fromEntries(taken.map(([index, count]) => [stations[index]?.id ?? '', count])) };
  }

  /** All gateways together: the scenario has one, however many services it stands before. */
  #cutGateways(): { readonly gateway?: GatewayTick } {
    const { now } = this.#world;
    const { sites } = this.#world.fleet;
    const gates = sites.map((site) => this.#world.gateway(site.name)).filter((gate) => gate !== undefined);
    if (gates.length === 0) return {};
    const requests = sum(gates.map((gate) => gate.requests));
    const errors = new Map<string, number>();
    for (const gate of gates) {
      for (const [kind, count] of gate.errors) errors.set(kind, (errors.get(kind) ?? 0) + count);
    }
    const grown = [...errors].map(([kind, count]) => [kind, count - (this.#gatewayErrors.get(kind) ?? 0)] as const);
    const retries = sum(gates.map((gate) => gate.retried));
    const ejections = sum(gates.map((gate) => gate.ejections));
    const tick: GatewayTick = {
      requests: requests - this.#gatewayRequests,
      ...(gates.some((gate) => gate.retries > 0) ? { retries: retries - this.#gatewayRetries } : {}),
      ...errorsOf(new Map(grown.filter(([, count]) => count > 0))),
      in_flight_mean: sum(gates.map((gate) => cutLevel(gate.inFlight, now).mean)),
      healthy: sum(gates.map((gate) => gate.healthyCount)),
      total: sum(gates.map((gate) => gate.listedCount)),
      ...(this.#world.checksHealth ? { ejections: ejections - this.#ejections } : {}),
    };
    this.#gatewayRequests = requests;
    this.#gatewayRetries = retries;
    this.#ejections = ejections;
    this.#gatewayErrors = errors;
    return { gateway: tick };
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** 1 for each station that cannot be asked. */
const silentOf = (stations: readonly Station[]): Uint8Array =>
  Uint8Array.from(stations, (station) => (station.silent ? 1 : 0));

/** 1 for each station that stands, or is counted on. */
const thereIn = (fleet: Fleet): Uint8Array =>
  Uint8Array.from(fleet.stations, (station) => (fleet.isThere(station) ? 1 : 0));

function inFlightOnly(mean: number | undefined): Pick<ReplicaTick, 'in_flight_mean'> {
  return mean === undefined ? {} : { in_flight_mean: mean };
}

/** `grown` says by how much a cell has grown in the span. Under a quota it matters, too, that nothing was throttled. */
function grownBetween(grown: (place: number) => number, span: number, isLimited: boolean): Omit<ReplicaTick, 'id'> {
  const cpu = grown(cell.cpuSum);
  return {
    started: grown(cell.started),
    in_flight_mean: grown(cell.inFlightArea) / span,
    busy_workers_mean: grown(cell.busyArea) / span,
    queue_mean: grown(cell.waitingArea) / span,
    service_sum_ns: grown(cell.serviceSum),
    service_count: grown(cell.serviceCount),
    ...(cpu > 0 ? { cpu_ns: cpu } : {}),
    ...(isLimited ? { throttled_ns: grown(cell.throttledNs), throttled_periods: grown(cell.throttledPeriods) } : {}),
  };
}

function errorsOf(errors: ReadonlyMap<string, number> | undefined): { readonly errors?: ErrorCounts } {
  return errors === undefined || errors.size === 0 ? {} : { errors: Object.fromEntries(errors) };
}

export function histogramLine(
  histogram: Histogram,
  where: { readonly at_ns: number; readonly phase: string; readonly of: HistogramLine['of'] },
): HistogramLine {
  return { kind: 'histogram', ...where, ...histogramFields(histogram) };
}

function inShort(tick: ReplicaTick): ReplicaTick {
  const { id, finished, errors, in_flight_mean, busy_workers_mean, service_sum_ns, service_count, state } = tick;
  return {
    id,
    ...(finished === undefined ? {} : { finished }),
    ...(errors === undefined ? {} : { errors }),
    ...(in_flight_mean === undefined ? {} : { in_flight_mean: rounded(in_flight_mean) }),
    ...(busy_workers_mean === undefined ? {} : { busy_workers_mean: rounded(busy_workers_mean) }),
    ...(service_sum_ns === undefined ? {} : { service_sum_ns }),
    ...(service_count === undefined ? {} : { service_count }),
    ...(state === undefined || state === 'up' ? {} : { state }),
  };
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;
