// The endpoints behind the gateway and the balancer that chooses among them. Whatever changes (the list, somebody's health, the
// policy) ends in `#rebuild`: a new immutable snapshot, handed to the balancer in one call between two picks. No request is
// touched by it: an exchange holds its endpoint by reference, and an endpoint that has left simply finishes what it has.

import { assert, type Instant } from '../base.ts';
import {
  type Balancer,
  balancerByName,
  byPriority,
  type BalancerName,
  type Endpoint,
  type Fleet,
  type PickOutcome,
  type PickRequest,
} from '../policy.ts';
import { LiveEndpoint, retired } from './live-endpoint.ts';

export class LiveFleet {
  #live: readonly LiveEndpoint[] = [];
  /** Left the list with requests inside: kept until the last of them has ended, so that the metrics lose nothing. */
  readonly #leaving = new Set<LiveEndpoint>();
  #balancer: Balancer;
  #policy: BalancerName;
  #seed: number;
  readonly #panicBelow: number;
  /** The balancer is one of levels. */
  #layered = false;
  #version = 0;

  /** `panicBelow`: the share of healthy endpoints below which health is no longer believed; 0: never. */
  constructor(policy: BalancerName, seed: number, panicBelow: number) {
    this.#policy = policy;
    this.#seed = seed;
    this.#panicBelow = panicBelow;
    this.#balancer = balancerByName(policy, { seed });
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
    return this.#live.reduce((count, live) => count + (live.healthy ? 1 : 0), 0);
  }

  /** Hot. The endpoint for a request that has failed at `tried`, or undefined when none is fit. */
  pick(tried: readonly LiveEndpoint[], now: Instant): LiveEndpoint | undefined {
    const index = this.#balancer.pick(tried.length === 0 ? plainRequest : { tried: indicesOf(tried) }, now);
    return index === undefined ? undefined : this.#live[index];
  }

  /** Is anybody fit who has not been tried? */
  hasUntried(tried: readonly LiveEndpoint[]): boolean {
    return this.#live.some((live) => live.healthy && live.endpoint.weight > 0 && !tried.includes(live));
  }

  /** Hot. */
  started(live: LiveEndpoint, now: Instant): void {
    live.started(now);
    this.#balancer.started(live.index, now);
  }

  /** Hot. */
  finished(live: LiveEndpoint, outcome: PickOutcome, now: Instant): void {
    live.finished(now);
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
      joined.push(fresh);
      return fresh;
    });
    for (const left of before.values()) this.#retire(left);
    // The balancer knows endpoints by id. Those that leave must be gone before somebody new comes under the same id.
    this.#live = next.filter((live) => !joined.includes(live));
    this.#rebuild();
    this.#live = next;
    const layered = this.#panicBelow > 0 || next.some((live) => (live.endpoint.priority ?? 0) > 0);
    if (layered === this.#layered) this.#rebuild();
    else {
      this.#layered = layered;
      this.#newBalancer(now);
    }
    return joined;
  }

  /** What its active checks say. */
  setPasses(live: LiveEndpoint, passes: boolean): void {
    live.passes = passes;
    this.#healthChanged(live);
  }

  /** What its answers say. */
  setEjected(live: LiveEndpoint, ejected: boolean): void {
    live.ejected = ejected;
    this.#healthChanged(live);
  }

  #healthChanged(live: LiveEndpoint): void {
    if (!live.healthy) live.pool.closeAll();
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
    const policy = this.#policy;
    const seed = this.#seed;
    const plain = (level: number): Balancer => balancerByName(policy, { seed: seed + level });
    this.#balancer = this.#layered ? byPriority({ seed, panicBelow: this.#panicBelow, level: plain }) : plain(0);
    this.#rebuild();
    for (const live of this.#live) {
      for (let count = 0; count < live.inFlight; count++) this.#balancer.started(live.index, now);
    }
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
    const fleet: Fleet = {
      version: this.#version,
      endpoints: this.#live.map((live) => live.endpoint),
      healthy: this.#live.map((live) => live.healthy),
    };
    this.#balancer.rebuild(fleet);
    assert(new Set(fleet.endpoints.map((endpoint) => endpoint.id)).size === fleet.endpoints.length, 'ids are unique');
  }
}

const plainRequest: PickRequest = {};

function indicesOf(tried: readonly LiveEndpoint[]): readonly number[] {
  return tried.map((live) => live.index).filter((index) => index !== retired);
}

function sameAddress(one: Endpoint, other: Endpoint): boolean {
  return one.host === other.host && one.port === other.port;
}
