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
import { cutLevel } from './gate.ts';
import type { Group } from './group.ts';
import type { Station } from './station.ts';
import type { World } from './world.ts';

/** A replica's totals when it was last looked at; undefined when it was silent then. */
interface Reading {
  readonly inFlightArea: number;
  readonly busyArea: number;
  readonly waitingArea: number;
  readonly started: number;
  readonly serviceSum: number;
  readonly serviceCount: number;
  readonly cpuSum: number;
  readonly throttledNs: number;
  readonly throttledPeriods: number;
}

export class Ticker {
  readonly #world: World;
  readonly #readings: (Reading | undefined)[] = [];
  #gatewayRequests = 0;
  #gatewayErrors = new Map<string, number>();
  #from: number;

  /** The first tick begins now. */
  constructor(world: World) {
    this.#world = world;
    this.#from = world.now;
    for (const station of world.fleet.stations) {
      station.settle(world.now);
      this.#readings[station.index] = readingOf(station);
      world.books.recent[station.index]?.clear();
      this.#inFlightFromOutside(station);
    }
    this.#cutGateways();
  }

  /** What happened since the last tick. */
  tick(phase: string): TickLine {
    const { fleet, groups, now } = this.#world;
    const span = now - this.#from;
    const line: TickLine = {
      kind: 'tick',
      at_ns: this.#from,
      span_ns: span,
      phase,
      replicas: fleet.stations.map((station) => this.#replica(station, span)),
      clients: groups.map((group) => this.#client(group)),
      ...this.#cutGateways(),
    };
    this.#from = now;
    return line;
  }

  #replica(station: Station, span: number): ReplicaTick {
    const { now } = this.#world;
    const tally = this.#world.books.recent[station.index];
    station.settle(now);
    const before = this.#readings[station.index];
    const after = readingOf(station);
    this.#readings[station.index] = after;
    const outside = this.#inFlightFromOutside(station);
    const latency = tally?.latency === undefined ? undefined : quantilesOf(tally.latency);
    const tick: ReplicaTick = {
      id: station.id,
      finished: tally?.finished ?? 0,
      ...errorsOf(tally?.errors),
      ...(latency === undefined ? {} : { latency }),
      ...(before === undefined || after === undefined ? inFlightOnly(outside) : grownBetween(before, after, span)),
      state: after === undefined ? 'silent' : 'up',
    };
    tally?.clear();
    return tick;
  }

  #inFlightFromOutside(station: Station): number | undefined {
    const { fleet, now } = this.#world;
    return this.#world.gateway(fleet.siteOf(station).name)?.cutEndpoint(station.place, now);
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
      ...errorsOf(recent.errors),
      in_flight_mean: inFlight.mean,
      in_flight_min: inFlight.min,
      in_flight_max: inFlight.max,
      ...(latency === undefined ? {} : { latency }),
      lag: { count: recent.planned, mean_ns: 0, p50_ns: 0, p90_ns: 0, p99_ns: 0, max_ns: 0 },
      answered_by: Object.fromEntries(
        group.takeAnswered().map(([index, count]) => [this.#world.fleet.stations[index]?.id ?? '', count]),
      ),
    };
    recent.clear();
    return tick;
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
    const tick: GatewayTick = {
      requests: requests - this.#gatewayRequests,
      ...errorsOf(new Map(grown.filter(([, count]) => count > 0))),
      in_flight_mean: sum(gates.map((gate) => cutLevel(gate.inFlight, now).mean)),
      healthy: sum(gates.map((gate) => gate.healthyCount)),
      total: sum(gates.map((gate) => gate.stations.length)),
    };
    this.#gatewayRequests = requests;
    this.#gatewayErrors = errors;
    return { gateway: tick };
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function readingOf(station: Station): Reading | undefined {
  if (station.frozen || station.down) return undefined;
  const { inFlightArea, busyArea, waitingArea, started, serviceSum, serviceCount, cpuSum, cpu } = station;
  const { throttledNs, throttledPeriods } = cpu;
  return {
    inFlightArea,
    busyArea,
    waitingArea,
    started,
    serviceSum,
    serviceCount,
    cpuSum,
    throttledNs,
    throttledPeriods,
  };
}

function inFlightOnly(mean: number | undefined): Pick<ReplicaTick, 'in_flight_mean'> {
  return mean === undefined ? {} : { in_flight_mean: mean };
}

function grownBetween(before: Reading, after: Reading, span: number): Omit<ReplicaTick, 'id'> {
  const cpu = after.cpuSum - before.cpuSum;
  return {
    started: after.started - before.started,
    in_flight_mean: (after.inFlightArea - before.inFlightArea) / span,
    busy_workers_mean: (after.busyArea - before.busyArea) / span,
    queue_mean: (after.waitingArea - before.waitingArea) / span,
    service_sum_ns: after.serviceSum - before.serviceSum,
    service_count: after.serviceCount - before.serviceCount,
    ...(cpu > 0 ? { cpu_ns: cpu } : {}),
    ...(after.throttledPeriods > 0
      ? {
          throttled_ns: after.throttledNs - before.throttledNs,
          throttled_periods: after.throttledPeriods - before.throttledPeriods,
        }
      : {}),
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
