// Where requests are given out: the load balancer, a forwarding proxy, or a client with the registry's list in its hand. The
// choice is made by the balancers of the gateway itself; the simulation only tells them when something started and ended.
//
// Hot: `pick`, `started`, `finished`.

import { assert, type Duration, instantAt, ns } from '../base.ts';
import type { Balancer, PickOutcome, RetryBudget } from '../policy.ts';
import { Level, type LevelSpan } from '../stats.ts';
import type { Deadlines } from './deadlines.ts';
import { grownTimes } from './grown.ts';
import type { Station } from './station.ts';

export interface GateSettings {
  /** `registry`: the client itself chooses, and what fails is told as it is. The others stand in between and answer 502 to
   * 504 in a failed replica's stead. `connections`: a balancer of connections, which sees no requests. */
  readonly kind: 'registry' | 'gateway' | 'forwarder' | 'connections';
  /** One for each load balancer that shares the work: each counts only what it has handed out itself. */
  readonly balancers: readonly Balancer[];
  readonly retries: number;
  readonly budget: RetryBudget | undefined;
}

/** What a level was since the last cut; the next span begins. */
export function cutLevel(level: Level, now: number): LevelSpan {
  const span = level.spanUntil(instantAt(now));
  level.restart(instantAt(now));
  return span;
}

const noWishes = {};

/** Places among the numbers that a gate keeps of an endpoint. */
const part = { inside: 0, area: 1, changedAt: 2, cutAt: 3 } as const;
const partsEach = 4;

type Open<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

export class Gate {
  readonly kind: GateSettings['kind'];
  readonly retries: number;
  readonly budget: RetryBudget | undefined;
  /** Time for a whole request; set by whoever owns the calendar. */
  deadlines: Deadlines | undefined;
  readonly inFlight: Level;
  /** Totals since the beginning. */
  requests = 0;
  /** Further tries, and endpoints taken out by their health checks. */
  retried = 0;
  ejections = 0;
  readonly errors = new Map<string, number>();

  #balancers: readonly Balancer[];
  #stations: readonly Station[] = [];
  #healthy: boolean[] = [];
  /** By endpoint: whether it is given out at all. */
  #listed: readonly boolean[] = [];
  #version = 0;
  /** In flight at each endpoint as this gate sees it, and the area under it: what is left to go by when a replica is silent. Four
   * numbers an endpoint, see `part`. */
  #seen = new Float64Array(0);
  readonly #outcome: Open<PickOutcome> = { ok: true, latency: ns(0) };

  constructor(settings: GateSettings, now: number) {
    this.kind = settings.kind;
    this.retries = settings.retries;
    this.budget = settings.budget;
    this.#balancers = settings.balancers;
    this.inFlight = new Level(0, instantAt(now));
  }

  /** Whether clients hear from a replica itself, and know which. */
  get isDirect(): boolean {
    return this.kind === 'registry' || this.kind === 'connections';
  }

  get stations(): readonly Station[] {
    return this.#stations;
  }

  get healthyCount(): number {
    return this.#healthy.filter((healthy, endpoint) => healthy && this.#listed[endpoint] === true).length;
  }

  get listedCount(): number {
    return this.#listed.filter(Boolean).length;
  }

  station(endpoint: number): Station {
    const station = this.#stations[endpoint];
    assert(station !== undefined, 'an endpoint is one of the fleet');
    return station;
  }

  /** Takes a list of stations that begins with the present one. Those that are not to be given out keep their places. */
  setStations(stations: readonly Station[], isListed: (station: Station) => boolean, now: number): void {
    assert(stations.length >= this.#stations.length, 'replicas are added, never taken away');
    for (let index = this.#stations.length; index < stations.length; index++) this.#healthy.push(true);
    const known = this.#seen.length;
    this.#seen = grownTimes(this.#seen, partsEach * stations.length);
    for (let at = known; at < this.#seen.length; at += partsEach) {
      this.#seen[at + part.changedAt] = now;
      this.#seen[at + part.cutAt] = now;
    }
    this.#stations = stations;
    this.#listed = stations.map(isListed);
    this.#rebuild();
  }

  isListed(endpoint: number): boolean {
    return this.#listed[endpoint] ?? false;
  }

  isHealthy(endpoint: number): boolean {
    return this.#healthy[endpoint] ?? false;
  }

  setHealthy(endpoint: number, healthy: boolean): void {
    if (!healthy) this.ejections += 1;
    this.#healthy[endpoint] = healthy;
    this.#rebuild();
  }

  /** Starts again with another policy. Nothing may be in flight: the counts would be lost. */
  setBalancers(balancers: readonly Balancer[]): void {
    assert(this.inFlight.value === 0, 'a gate changes its policy when it is empty');
    this.#balancers = balancers;
    this.#rebuild();
  }

  #rebuild(): void {
    this.#version += 1;
    const fleet = {
      version: this.#version,
      endpoints: this.#stations.map((station, endpoint) => ({
        id: station.id,
        host: '',
        port: 0,
        weight: this.#listed[endpoint] === true ? 1 : 0,
        zone: undefined,
      })),
      healthy: [...this.#healthy],
    };
    for (const balancer of this.#balancers) balancer.rebuild(fleet);
  }

  /** How many load balancers share the work. */
  get views(): number {
    return this.#balancers.length;
  }

  #view(view: number): Balancer {
    const balancer = this.#balancers[view];
    assert(balancer !== undefined, 'a request goes through one of the balancers');
    return balancer;
  }

  /** Which endpoint is next in the view of one of the balancers; undefined when none is fit. */
  pick(view: number, tried: readonly number[] | undefined, now: number): number | undefined {
    return this.#view(view).pick(tried === undefined ? noWishes : { tried }, instantAt(now));
  }

  started(view: number, endpoint: number, now: number): void {
    this.#change(endpoint, 1, now);
    if (this.kind !== 'connections') this.#view(view).started(endpoint, instantAt(now));
  }

  finished(view: number, endpoint: number, ok: boolean, latency: Duration, now: number): void {
    this.#change(endpoint, -1, now);
    if (this.kind !== 'connections') this.#finished(view, endpoint, ok, latency, now);
  }

  /** A connection has been opened that is kept. */
  connected(view: number, endpoint: number, now: number): void {
    if (this.kind === 'connections') this.#view(view).started(endpoint, instantAt(now));
  }

  /** It is closed. */
  disconnected(view: number, endpoint: number, ok: boolean, now: number): void {
    if (this.kind === 'connections') this.#finished(view, endpoint, ok, ns(0), now);
  }

  #finished(view: number, endpoint: number, ok: boolean, latency: Duration, now: number): void {
    this.#outcome.ok = ok;
    this.#outcome.latency = latency;
    this.#view(view).finished(endpoint, this.#outcome, instantAt(now));
  }

  #change(endpoint: number, by: number, now: number): void {
    const seen = this.#seen;
    const at = partsEach * endpoint;
    const inside = seen[at + part.inside] ?? 0;
    seen[at + part.area] = (seen[at + part.area] ?? 0) + inside * (now - (seen[at + part.changedAt] ?? now));
    seen[at + part.changedAt] = now;
    seen[at + part.inside] = inside + by;
  }

  /** Mean in flight at an endpoint since the last cut, as seen from here. */
  cutEndpoint(endpoint: number, now: number): number | undefined {
    const seen = this.#seen;
    const at = partsEach * endpoint;
    if (at >= seen.length) return undefined;
    this.#change(endpoint, 0, now);
    const area = seen[at + part.area] ?? 0;
    const span = now - (seen[at + part.cutAt] ?? 0);
    seen[at + part.area] = 0;
    seen[at + part.cutAt] = now;
    return span === 0 ? (seen[at + part.inside] ?? 0) : area / span;
  }

  failed(kind: string): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
  }
}
