// What stands where: every service and dependency of a scenario with its stations, numbered through. Stations are added and
// never taken away; a killed one stays, as its place in the registry's list does.
//
// Chance: each station draws its service times from a stream of its own name, so that one more shifts nobody else's draws.

import { assert, type Dice, dice, DiceBank, ns, unreachable } from '../base.ts';
import { type Call, type FaultKind, sampler, type Scenario, type Service } from '../scenario.ts';
import { Cells } from './cells.ts';
import { GcPauses } from './gc-pauses.ts';
import { Station, type StationDuties, type StationKind } from './station.ts';

/** A service or a dependency. */
export interface Site {
  readonly name: string;
  readonly role: 'service' | 'dependency';
  readonly service: Pick<
    Service,
    | 'workers'
    | 'serviceTime'
    | 'cpuTime'
    | 'queue'
    | 'cpuQuota'
    | 'cpuScheduling'
    | 'cores'
    | 'healthSharesPool'
    | 'coldStart'
    | 'gcPauses'
    | 'zones'
  >;
  readonly calls: readonly Call[];
  /** Grows when replicas are added. */
  readonly stations: readonly Station[];
  /** So many of them are given out: the first ones. An autoscaler takes others out. */
  listed: number;
}

/** What a dependency has instead of a service's settings. */
const plainSite = {
  cpuTime: { kind: 'constant', value: ns(0) },
  queue: { limit: Infinity, abandoned: 'served', order: 'fifo' },
  cpuQuota: undefined,
  healthSharesPool: false,
} as const;

/** What a fleet needs of the world around it. */
export interface FleetDuties extends StationDuties {
  /** `passGcPause` wants to be called for this station then. */
  scheduleGcPause(at: number, station: number): void;
}

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
  readonly #duties: FleetDuties;
  readonly #gcPauses: GcPauses;
  /** What changes at every event, of all stations. */
  readonly cells = new Cells();
  readonly #streams = new DiceBank();
  readonly #kindOf = new Map<string, StationKind>();
  /** For requests that fail on purpose, by station: made when it is first needed. */
  readonly #failures = new Map<number, Dice>();

  /** Without stations at first: see `setReplicas`. */
  constructor({ topology }: Scenario, seed: number, duties: FleetDuties) {
    this.#seed = seed;
    this.#duties = duties;
    this.#gcPauses = new GcPauses({ seed, schedule: (at, station) => duties.scheduleGcPause(at, station) });
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
        listed: 0,
      })),
      ...topology.dependencies.map(({ name, workers, serviceTime, zone }): Site => ({
        name,
        role: 'dependency',
        service: { workers, serviceTime, ...plainSite, ...(zone === undefined ? {} : { zones: [zone] }) },
        calls: [],
        stations: stationsOf(name),
        listed: 0,
      })),
    ];
    for (const site of this.sites) this.#kindOf.set(site.name, this.#newKind(site));
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

  /** Whether there is such a replica now: given out, or on its way out and not gone yet. */
  isThere(station: Station): boolean {
    return station.place < this.siteOf(station).listed || !station.down;
  }

  /** Adds replicas until there are `count`; those that an autoscaler took away are started again. */
  setReplicas(name: string, count: number, now: number): void {
    const site = this.site(name);
    for (const station of site.stations.slice(site.listed, count)) station.restart(now);
    const stations = this.#stationsOf.get(name);
    assert(stations !== undefined, 'a site has stations');
    while (stations.length < count) {
      const station = this.#newStation(site, stations.length, now);
      station.settle(now);
      stations.push(station);
      this.#stations.push(station);
      this.#siteOf.push(site);
      this.#slowness.push({ fault: 1, experiment: 1, burn: 1 });
      const { gcPauses } = site.service;
      if (gcPauses !== undefined) this.#gcPauses.begin(station, gcPauses, now);
    }
    site.listed = Math.max(site.listed, count);
  }

  /** The event of a station that pauses to collect its garbage has come. */
  passGcPause(station: number, now: number): void {
    this.#gcPauses.pass(station, now);
  }

  #newStation(site: Site, place: number, now: number): Station {
    const id = `${site.name}-${place + 1}`;
    const kind = this.#kindOf.get(site.name);
    assert(kind !== undefined, 'every site has a kind of station');
    const settings = {
      id,
      index: this.#stations.length,
      place,
      workers: site.service.workers,
      kind,
      cells: this.cells,
      stream: this.#streams.add(this.#seed, `service/${id}`),
      startedAt: now === 0 ? -Infinity : now,
    };
    return new Station(settings, this.#duties);
  }

  #newKind({ service, calls }: Site): StationKind {
    const { queue, healthSharesPool, serviceTime, cpuTime, cpuQuota, cpuScheduling, cores, coldStart } = service;
    const needsProcessor = cpuTime.kind !== 'constant' || cpuTime.value > 0;
    return {
      queueLimit: queue.limit,
      abandoned: queue.abandoned,
      order: queue.order ?? 'fifo',
      healthSharesPool,
      draw: sampler(serviceTime, this.#streams.dice),
      streams: this.#streams,
      drawWork: needsProcessor ? sampler(cpuTime, this.#streams.dice) : undefined,
      processor: { scheduling: cpuScheduling ?? 'fifo', cores: cores ?? 1, quota: cpuQuota },
      calls: calls.length,
      coldStart,
    };
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
        station.stop(now);
        break;
      case 'resume':
        station.resume(now);
        break;
      case 'pause': {
        const { length } = fault;
        const { life } = station;
        station.pause(now);
        later(now + length, (then) => {
          if (station.life === life) station.endPause(length, then);
        });
        break;
      }
      case 'kill':
        station.kill(now);
        break;
      case 'restart':
        station.restart(now);
        break;
      case 'fail':
        station.fail(fault.share, fault.after, this.#failuresOf(station));
        break;
      default:
        unreachable(fault, 'a fault that nobody injects');
    }
  }

  #failuresOf({ index, id }: Station): Dice {
    const known = this.#failures.get(index) ?? dice(this.#seed, `failures/${id}`);
    this.#failures.set(index, known);
    return known;
  }
}
