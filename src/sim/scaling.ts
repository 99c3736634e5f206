// Autoscalers at work: each looks at its service again and again, and what it decides takes its time.
//
//   round ──► decision ──► starting ──(start lag)──► ready: in every list
//                    └───► out of every list: drains ──(empty, or after 30 s)──► gone
//
// Replicas come and go at the end of the list: the newest leaves first, and one that comes again has the name of one that went, and
// starts anew.

import { assert } from '../base.ts';
import type { Autoscale } from '../scenario.ts';
import { Autoscaler, type Observation } from './autoscaler.ts';
import { cell, cellsEach } from './cells.ts';
import type { Fleet, Site } from './fleet.ts';
import type { Station } from './station.ts';

/** How long a replica that leaves may take for what it has; as Kubernetes grants by default. */
const drainMax = 30e9;
/** How often it is looked at meanwhile. */
const drainLook = 1e9;

/** What an operator sees of it. */
export interface ScalingEvent {
  readonly event: 'scaled' | 'replica-added' | 'replica-removed';
  readonly target: string;
  readonly detail?: string;
}

export interface ScalingDuties {
  readonly fleet: Fleet;
  plan(at: number, act: (now: number) => void): void;
  /** Makes the first `count` replicas of a service stand, and puts them in every list. */
  setReplicas(service: string, count: number): void;
  /** The first replicas of a service, as many as its site lists, are those to be given out from now on. */
  listed(service: string, now: number): void;
  tell(event: ScalingEvent, now: number): void;
}

/** Looks after one service. */
export class Scaling {
  readonly #site: Site;
  readonly #settings: Autoscale;
  readonly #duties: ScalingDuties;
  readonly #autoscaler: Autoscaler;
  /** Those that are being started, oldest first; each is an object of its own, so that one can be called off. */
  #starting: object[] = [];
  /** By station, at its last look: when, and its work up to then. */
  readonly #looked = new Map<Station, { readonly at: number; readonly work: number }>();

  constructor(service: string, settings: Autoscale, duties: ScalingDuties) {
    this.#site = duties.fleet.site(service);
    this.#settings = settings;
    this.#duties = duties;
    this.#autoscaler = new Autoscaler(settings);
  }

  /** From now on. */
  begin(now: number): void {
    for (const station of this.#listed()) this.#look(station, now);
    this.#planRound(now);
  }

  #planRound(now: number): void {
    this.#duties.plan(now + this.#settings.every, (then) => {
      this.#round(then);
      this.#planRound(then);
    });
  }

  #listed(): readonly Station[] {
    return this.#site.stations.slice(0, this.#site.listed);
  }

  #round(now: number): void {
    const observation = this.#observe(now);
    const before = this.#site.listed + this.#starting.length;
    const wanted = this.#autoscaler.decide(observation, now);
    if (wanted === before) return;
    const mean = observation.loads.reduce((sum, load) => sum + load, 0) / observation.loads.length;
    const detail = `from ${before} to ${wanted} replicas: ${percent(mean)} at work, ${percent(this.#settings.target)} wanted`;
    this.#duties.tell({ event: 'scaled', target: this.#site.name, detail }, now);
    for (let count = before; count < wanted; count++) this.#start(now);
    for (let count = before; count > wanted; count--) this.#takeNewest(now);
  }

  #observe(now: number): Observation {
    const loads: number[] = [];
    let starting = this.#starting.length;
    let silent = 0;
    for (const station of this.#listed()) {
      const load = this.#look(station, now);
      if (station.down) starting += 1;
      else if (station.frozen || load === undefined) silent += 1;
      else loads.push(load);
    }
    return { loads, starting, silent };
  }

  /** What share of its workers, or of its processor, a replica has used since it was looked at last; undefined when that is now. */
  #look(station: Station, now: number): number | undefined {
    station.settle(now);
    const { values } = this.#duties.fleet.cells;
    const { service } = this.#site;
    const isCpu = this.#settings.metric === 'cpu';
    const work = values[cellsEach * station.index + (isCpu ? cell.cpuSum : cell.busyArea)] ?? 0;
    const whole = isCpu ? (service.cpuQuota ?? service.cores ?? 1) : station.workers;
    const last = this.#looked.get(station);
    this.#looked.set(station, { at: now, work });
    return last === undefined || last.at === now
      ? undefined
      : Math.min(1, (work - last.work) / (whole * (now - last.at)));
  }

  #start(now: number): void {
    const token = {};
    this.#starting.push(token);
    this.#duties.plan(now + this.#settings.startLag, (then) => {
      if (!this.#starting.includes(token)) return;
      this.#starting = this.#starting.filter((other) => other !== token);
      this.#ready(then);
    });
  }

  #ready(now: number): void {
    const place = this.#site.listed;
    this.#duties.setReplicas(this.#site.name, place + 1);
    const station = this.#site.stations[place];
    assert(station !== undefined, 'a replica that is ready stands');
    this.#looked.delete(station);
    this.#look(station, now);
    this.#duties.tell({ event: 'replica-added', target: station.id }, now);
  }

  /** One that is not ready yet is called off; otherwise the last of the list leaves it. */
  #takeNewest(now: number): void {
    if (this.#starting.pop() !== undefined) return;
    const site = this.#site;
    site.listed -= 1;
    const station = site.stations[site.listed];
    assert(station !== undefined, 'a replica that is taken away stands');
    this.#duties.listed(site.name, now);
    this.#drain(station, now + drainMax, now);
  }

  #drain(station: Station, until: number, now: number): void {
    this.#duties.plan(now + drainLook, (then) => {
      if (station.place < this.#site.listed || station.down) return;
      if (station.inFlight > 0 && then < until) {
        this.#drain(station, until, then);
        return;
      }
      station.kill(then);
      this.#duties.tell({ event: 'replica-removed', target: station.id }, then);
    });
  }
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;
