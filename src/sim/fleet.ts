// What stands where: every service and dependency of a scenario with its stations, numbered through. Stations are added and
// never taken away; a killed one stays, as its place in the registry's list does.
//
// Chance: each station draws its service times from a stream of its own name, so that one more shifts nobody else's draws.

import { assert, type Dice, dice, ns, unreachable } from '../base.ts';
import { type Call, type FaultKind, sampler, type Scenario, type Service } from '../scenario.ts';
import { Station, type StationDuties } from './station.ts';

/** A service or a dependency. */
export interface Site {
  readonly name: string;
  readonly role: 'service' | 'dependency';
  readonly service: Pick<
    Service,
    'workers' | 'serviceTime' | 'cpuTime' | 'queue' | 'cpuQuota' | 'healthSharesPool' | 'coldStart' | 'zones'
  >;
  readonly calls: readonly Call[];
  /** Grows when replicas are added. */
  readonly stations: readonly Station[];
}

/** What a dependency has instead of a service's settings. */
const plainSite = {
  cpuTime: ns(0),
  queue: { limit: Infinity, abandoned: 'served' },
  cpuQuota: undefined,
  healthSharesPool: false,
} as const;

/** What multiplies one station's service times, each for its own reason. */
interface Slowness {
  fault: number;
  experiment: number;
  burn: number;
}

export class Fleet {
  readonly sites: readonly Site[];
  readonly stations: readonly Station[];
  readonly #stations: Station[] = [];
  readonly #stationsOf = new Map<string, Station[]>();
  readonly #siteOf: Site[] = [];
  readonly #slowness: Slowness[] = [];
  readonly #seed: number;
  readonly #duties: StationDuties;

  /** Without stations at first: see `setReplicas`. */
  constructor({ topology }: Scenario, seed: number, duties: StationDuties) {
    this.#seed = seed;
    this.#duties = duties;
    this.stations = this.#stations;
    const stationsOf = (name: string): Station[] => {
      const stations: Station[] = [];
      this.#stationsOf.set(name, stations);
      return stations;
    };
    this.sites = [
      ...topology.services.map((service): Site => ({
        name: service.name,
        role: 'service',
        service,
        calls: service.calls,
        stations: stationsOf(service.name),
      })),
      ...topology.dependencies.map(({ name, workers, serviceTime }): Site => ({
        name,
        role: 'dependency',
        service: { workers, serviceTime, ...plainSite },
        calls: [],
        stations: stationsOf(name),
      })),
    ];
  }

  site(name: string): Site {
    const site = this.sites.find((each) => each.name === name);
    assert(site !== undefined, `${name} is in the topology`);
    return site;
  }

  siteOf(station: Station): Site {
    const site = this.#siteOf[station.index];
    assert(site !== undefined, 'a station belongs to a site');
    return site;
  }

  station(id: string): Station {
    const station = this.#stations.find((each) => each.id === id);
    assert(station !== undefined, `${id} is in the topology`);
    return station;
  }

  /** Adds replicas until there are `count`. */
  setReplicas(name: string, count: number, now: number): void {
    const site = this.site(name);
    const stations = this.#stationsOf.get(name);
    assert(stations !== undefined, 'a site has stations');
    while (stations.length < count) {
      const station = this.#newStation(site, stations.length, now);
      station.settle(now);
      stations.push(station);
      this.#stations.push(station);
      this.#siteOf.push(site);
      this.#slowness.push({ fault: 1, experiment: 1, burn: 1 });
    }
  }

  #newStation(site: Site, place: number, now: number): Station {
    const id = `${site.name}-${place + 1}`;
    const { workers, queue, healthSharesPool, serviceTime, cpuTime, cpuQuota, coldStart } = site.service;
    // Made when it is first needed: a large fleet in which nobody fails does without.
    let failures: Dice | undefined;
    const drawFailure = (): number => (failures ??= dice(this.#seed, `failures/${id}`)).next();
    const settings = {
      id,
      index: this.#stations.length,
      place,
      workers,
      queueLimit: queue.limit,
      abandoned: queue.abandoned,
      healthSharesPool,
      draw: sampler(serviceTime, dice(this.#seed, `service/${id}`)),
      cpuTime,
      cpuQuota,
      calls: site.calls.length,
      coldStart,
      startedAt: now === 0 ? -Infinity : now,
      drawFailure,
    };
    return new Station(settings, this.#duties);
  }

  /** Multiplies a replica's service times, on top of the scenario's own faults. */
  setSlowness(id: string, factor: number): void {
    this.#setSlowness(this.station(id), { experiment: factor });
  }

  #setSlowness(station: Station, change: Partial<Slowness>): void {
    const slowness = this.#slowness[station.index];
    assert(slowness !== undefined, 'a station has a slowness');
    Object.assign(slowness, change);
    station.slowness = slowness.fault * slowness.experiment * slowness.burn;
  }

  /** Something goes wrong, or right again. `later` does a thing after a while. */
  inject(fault: FaultKind, now: number, later: (at: number, act: (now: number) => void) => void): void {
    const station = this.station(fault.replica);
    switch (fault.kind) {
      case 'slow':
        this.#setSlowness(station, { fault: fault.factor });
        break;
      case 'burn':
        // What is left of the time is 1 − share, so everything takes 1/(1 − share) as long.
        this.#setSlowness(station, { burn: 1 / (1 - Math.min(fault.share, 0.99)) });
        break;
      case 'stop':
        station.stop();
        break;
      case 'resume':
        station.resume(now);
        break;
      case 'pause': {
        const { length } = fault;
        station.pause();
        later(now + length, (then) => station.endPause(length, then));
        break;
      }
      case 'kill':
        station.kill(now);
        break;
      case 'restart':
        station.restart(now);
        break;
      case 'fail':
        station.fail(fault.share, fault.after);
        break;
      default:
        unreachable(fault, 'a fault that nobody injects');
    }
  }
}
