// The endpoints behind the gateway and the balancer that chooses among them. Whatever changes (the list, somebody's health, the
// policy) ends in `#rebuild`: a new immutable snapshot, handed to the balancer in one call between two picks. No request is
// touched by it: an exchange holds its endpoint by reference, and an endpoint that has left simply finishes what it has.

import { isDeepStrictEqual } from 'node:util';
import { assert, type Instant } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import type { Balancer, BalancerName, Endpoint, PickOutcome, PickRequest } from '../policy.ts';
import { balancerOf, viewOf } from './fleet-view.ts';
import { Fuses } from './fuses.ts';
import { LiveEndpoint, type OperatorOrder, retired } from './live-endpoint.ts';
import type { Outliers } from './outliers.ts';
import type { ChoiceConfig } from './policy-config.ts';

export interface FleetSettings {
  readonly policy: BalancerName;
  readonly seed: number;
  /** Share of healthy endpoints below which health is no longer believed; 0: never. */
  readonly panicBelow: number;
  readonly choice: ChoiceConfig;
}

export class LiveFleet {
  #live: readonly LiveEndpoint[] = [];
  /** Left the list with requests inside: kept until the last of them has ended, so that the metrics lose nothing. */
  readonly #leaving = new Set<LiveEndpoint>();
  /** Who compares the endpoints by what they answer; undefined: nobody. */
  outliers: Outliers | undefined;
  /** Called when endpoints have joined or left. */
  membersChanged: (() => void) | undefined;
  readonly #clock: Pick<Engine, 'now' | 'alarm'>;
  #settings: FleetSettings;
  #balancer: Balancer;
  #policy: BalancerName;
  #seed: number;
  /** Sent since the start, to endpoints that have left too. */
  attempts = 0;
  /** The balancer is one of levels. */
  #layered = false;
  #version = 0;
  #fuses: Fuses | undefined;
  /** Rings when newcomers weigh more. */
  #warmer: Alarm | undefined;

  constructor(clock: Pick<Engine, 'now' | 'alarm'>, settings: FleetSettings) {
    const { policy, seed, choice } = settings;
    this.#clock = clock;
    this.#settings = settings;
    this.#policy = policy;
    this.#seed = seed;
    this.#balancer = this.#madeBalancer();
    this.#fuses = choice.breaker === undefined ? undefined : new Fuses(clock, this, choice.breaker, seed);
  }

  get endpoints(): readonly LiveEndpoint[] {
    return this.#live;
  }

  get leaving(): Iterable<LiveEndpoint> {
    return this.#leaving;
  }

  get policy(): BalancerName {
    return this.#policy;
  }

  get version(): number {
    return this.#version;
  }

  get healthyCount(): number {
    return this.#live.reduce((count, live) => count + (live.healthy && live.member ? 1 : 0), 0);
  }

  /** Hot. The endpoint for a request with this key that has failed at `tried`, or undefined when none is fit. */
  pick(tried: readonly LiveEndpoint[], hash: number | undefined, now: Instant): LiveEndpoint | undefined {
    const request = tried.length === 0 && hash === undefined ? plainRequest : requestOf(tried, hash);
    const index = this.#balancer.pick(request, now);
    return index === undefined ? undefined : this.#live[index];
  }

  /** Is anybody fit who has not been tried? */
  hasUntried(tried: readonly LiveEndpoint[]): boolean {
    return this.#live.some((live) => live.fit && !tried.includes(live));
  }

  /** What the balancer holds against an endpoint now, lower is better; undefined where it does not compare. */
  scoreOf(live: LiveEndpoint, now: Instant): number | undefined {
    return live.index === retired ? undefined : this.#balancer.score?.(live.index, now);
  }

  /** Who was compared in the last pick, where that was not everybody. */
  drawn(): readonly LiveEndpoint[] {
    const drawn = this.#balancer.drawn?.() ?? [];
    return drawn.map((index) => this.#live[index]).filter((live) => live !== undefined);
  }

  /** Hot. */
  started(live: LiveEndpoint, now: Instant): void {
    live.started(now);
    this.attempts += 1;
    this.#balancer.started(live.index, now);
    this.#fuses?.started(live, now);
  }

  /** Hot. `judged`: the endpoint is held to what it answered; not when the attempt was broken off on our side. */
  finished(live: LiveEndpoint, outcome: PickOutcome, judged: boolean, now: Instant): void {
    live.finished(now);
    if (this.#fuses !== undefined) {
      if (judged) this.#fuses.finished(live, outcome.ok, now);
      else this.#fuses.forgiven(live, now);
    }
    if (live.index !== retired) this.#balancer.finished(live.index, outcome, now);
    else if (live.inFlight === 0) this.#leaving.delete(live);
  }

  /** Takes a whole new list. An endpoint of the same id and address stays itself, with its connections and counts; one whose
   * address has changed is somebody new. Returns those that joined. */
  replace(endpoints: readonly Endpoint[], now: Instant): readonly LiveEndpoint[] {
    const before = new Map(this.#live.map((live) => [live.endpoint.id, live]));
    const joined: LiveEndpoint[] = [];
    const next = endpoints.map((endpoint) => {
      const old = before.get(endpoint.id);
      if (old !== undefined && sameAddress(old.endpoint, endpoint)) {
        before.delete(endpoint.id);
        old.endpoint = endpoint;
        return old;
      }
      const fresh = new LiveEndpoint(endpoint, now);
      if (this.#version > 0) fresh.fitSince = now;
      joined.push(fresh);
      return fresh;
    });
    for (const left of before.values()) this.#retire(left);
    // The balancer knows endpoints by id. Those that leave must be gone before somebody new comes under the same id.
    this.#live = next.filter((live) => !joined.includes(live));
    this.#rebuild();
    this.#live = next;
    this.#fuses?.follow();
    const layered = this.#settings.panicBelow > 0 || next.some((live) => (live.endpoint.priority ?? 0) > 0);
    if (layered === this.#layered) this.#rebuild();
    else {
      this.#layered = layered;
      this.#newBalancer(now);
    }
    this.membersChanged?.();
    return joined;
  }

  /** Other settings and a whole new list, in force from the next request on. Who is in flight stays so, and health is kept; what a
   * breaker held against an endpoint is forgotten when there is another breaker. */
  reconfigure(settings: FleetSettings, endpoints: readonly Endpoint[], now: Instant): void {
    const { choice, panicBelow } = this.#settings;
    const { breaker } = settings.choice;
    const chooses = this.#policy !== settings.policy || this.#seed !== settings.seed;
    const differs = chooses || panicBelow !== settings.panicBelow || !isDeepStrictEqual(choice, settings.choice);
    this.#settings = settings;
    this.#policy = settings.policy;
    this.#seed = settings.seed;
    if (!isDeepStrictEqual(choice.breaker, breaker)) {
      this.#fuses?.end();
      this.#fuses = breaker === undefined ? undefined : new Fuses(this.#clock, this, breaker, settings.seed);
      for (const live of this.#live) live.tripped = false;
    }
    if (differs) this.#newBalancer(now);
    if (differs || !this.#isThis(endpoints)) this.replace(endpoints, now);
  }

  /** Is it the list that there is already? Of ten thousand endpoints a new configuration changes few. */
  #isThis(endpoints: readonly Endpoint[]): boolean {
    return (
      endpoints.length === this.#live.length &&
      this.#live.every(({ endpoint }, index) => isDeepStrictEqual(endpoint, endpoints[index]))
    );
  }

  /** What its active checks say. */
  setPasses(live: LiveEndpoint, passes: boolean): void {
    const before = live.healthy;
    if (live.passes && !passes) live.falls += 1;
    live.passes = passes;
    this.#healthChanged(live, before);
  }

  /** What its answers say. */
  setEjected(live: LiveEndpoint, ejected: boolean): void {
    const before = live.healthy;
    live.ejected = ejected;
    this.#healthChanged(live, before);
  }

  /** What its breaker says. */
  setTripped(live: LiveEndpoint, tripped: boolean): void {
    const before = live.healthy;
    live.tripped = tripped;
    this.#healthChanged(live, before);
  }

  /** What an operator says; undefined: go by checks and answers again. */
  setOrder(live: LiveEndpoint, order: OperatorOrder | undefined): void {
    const before = live.healthy;
    live.order = order;
    this.#healthChanged(live, before);
  }

  #healthChanged(live: LiveEndpoint, before: boolean): void {
    if (live.healthy === before) return;
    if (live.healthy) live.fitSince = this.#clock.now();
    else live.pool.closeAll();
    if (live.index !== retired) this.#rebuild();
  }

  /** Another way to choose, from the next request on. */
  setPolicy(policy: BalancerName, seed: number | undefined, now: Instant): void {
    this.#policy = policy;
    this.#seed = seed ?? this.#seed;
    this.#newBalancer(now);
  }

  /** The new one is told what is in flight. */
  #newBalancer(now: Instant): void {
    this.#balancer = this.#madeBalancer();
    this.#rebuild();
    for (const live of this.#live) {
      for (let count = 0; count < live.inFlight; count++) this.#balancer.started(live.index, now);
    }
  }

  #madeBalancer(): Balancer {
    const { panicBelow, choice } = this.#settings;
    const layered = this.#layered;
    return balancerOf({ policy: this.#policy, seed: this.#seed, layered, panicBelow, zone: choice.zone });
  }

  /** The fuses and the warming ring no more. */
  end(): void {
    this.#fuses?.end();
    this.#warmer?.cancel();
  }

  /** Connections open or being opened, to those that have left as well. */
  get connections(): number {
    let count = 0;
    for (const live of this.#live) count += live.connections;
    for (const live of this.#leaving) count += live.connections;
    return count;
  }

  /** Closes one idle connection to the endpoint that has most of them. False: there is none. */
  closeOneIdleConnection(): boolean {
    const fullest = this.#live.reduce<LiveEndpoint | undefined>(
      (most, live) => (live.pool.size > (most?.pool.size ?? 0) ? live : most),
      undefined,
    );
    return fullest?.pool.closeOne() ?? false;
  }

  closeIdleConnections(): void {
    for (const live of this.#live) live.pool.closeAll();
  }

  #retire(live: LiveEndpoint): void {
    live.index = retired;
    live.pool.closeAll();
    if (live.inFlight > 0) this.#leaving.add(live);
  }

  #rebuild(): void {
    this.#version += 1;
    this.#live.forEach((live, index) => {
      live.index = index;
    });
    const { choice } = this.#settings;
    const configured = {
      version: this.#version,
      endpoints: this.#live.map((live) => live.endpoint),
      healthy: this.#live.map((live) => live.healthy),
    };
    const since = this.#live.map((live) => live.fitSince);
    const { fleet, again } = viewOf(configured, since, this.#clock.now(), choice);
    if (choice.subset !== undefined) {
      this.#live.forEach((live, index) => {
        live.member = live.endpoint.weight === 0 || (fleet.endpoints[index]?.weight ?? 0) > 0;
      });
    }
    this.#warmer?.cancel();
    this.#warmer = again === undefined ? undefined : this.#clock.alarm(again, () => this.#rebuild());
    this.#balancer.rebuild(fleet);
    assert(new Set(fleet.endpoints.map((endpoint) => endpoint.id)).size === fleet.endpoints.length, 'ids are unique');
  }
}

const plainRequest: PickRequest = {};
/** Used again and again: a pick does not keep it. */
const keyedRequest = { hash: 0 };

function requestOf(tried: readonly LiveEndpoint[], hash: number | undefined): PickRequest {
  if (hash === undefined) return { tried: indicesOf(tried) };
  if (tried.length > 0) return { hash, tried: indicesOf(tried) };
  keyedRequest.hash = hash;
  return keyedRequest;
}

function indicesOf(tried: readonly LiveEndpoint[]): readonly number[] {
  return tried.map((live) => live.index).filter((index) => index !== retired);
}

function sameAddress(one: Endpoint, other: Endpoint): boolean {
  return one.host === other.host && one.port === other.port;
}
