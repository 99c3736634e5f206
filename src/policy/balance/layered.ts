// Several balancers over one fleet, each for a part of it, and a die that says which part a request goes to. Levels of priority
// and zones are both this, with different parts and shares.
//
// Every part sees the whole fleet with the others' endpoints marked unfit, so that an index means the same to all, and every
// part is told of every request, so that its counts are the truth even when parts overlap.
//
// A second attempt leaves its part when everybody there has been tried.
//
// Hot: `pick`, `started`, `finished`; one die more than a plain balancer.

import { assert, type Dice, type Instant, start } from '../../base.ts';
import type { Balancer, Fleet, PickOutcome, PickRequest } from './balancer.ts';
import { combine, unit } from './hash.ts';
import { InFlight } from './in-flight.ts';

/** So that the place on a ring and the part are drawn independently. */
const partSeed = 0x9a27;

export interface Layer {
  /** Who belongs to it and may be picked, by index into the fleet. */
  readonly members: readonly boolean[];
  /** Its part of the requests; parts need not add up to anything. */
  readonly share: number;
}

export class Layered {
  readonly #dice: Dice;
  readonly #make: (layer: number) => Balancer;
  readonly #balancers: Balancer[] = [];
  readonly #inFlight = new InFlight();
  #shares: readonly number[] = [];
  #members: readonly (readonly boolean[])[] = [];
  /** The layer of the last pick. */
  #drawn = 0;
  #total = 0;
  #latest: Instant = start;

  constructor(dice: Dice, make: (layer: number) => Balancer) {
    this.#dice = dice;
    this.#make = make;
  }

  pick(request: PickRequest, now: Instant): number | undefined {
    this.#latest = now;
    if (this.#total === 0) return undefined;
    const drawn = this.#draw(request.hash);
    this.#drawn = drawn;
    const endpoint = this.#balancers[drawn]?.pick(request, now);
    if (endpoint !== undefined && request.tried?.includes(endpoint) !== true) return endpoint;
    return this.#elsewhere(request, now, drawn) ?? endpoint;
  }

  started(endpoint: number, now: Instant): void {
    this.#inFlight.started(endpoint);
    for (const balancer of this.#balancers) balancer.started(endpoint, now);
  }

  finished(endpoint: number, outcome: PickOutcome, now: Instant): void {
    this.#inFlight.finished(endpoint);
    for (const balancer of this.#balancers) balancer.finished(endpoint, outcome, now);
  }

  inFlight(endpoint: number): number {
    return this.#inFlight.of(endpoint);
  }

  /** By the layer that the endpoint is in, those with a share first. */
  score(endpoint: number, now: Instant): number | undefined {
    return this.#layerOf(endpoint)?.score?.(endpoint, now);
  }

  drawn(): readonly number[] {
    return this.#balancers[this.#drawn]?.drawn?.() ?? [];
  }

  #layerOf(endpoint: number): Balancer | undefined {
    const inside = (index: number): boolean => this.#members[index]?.[endpoint] === true;
    const shared = this.#balancers.find((_, index) => inside(index) && (this.#shares[index] ?? 0) > 0);
    return shared ?? this.#balancers.find((_, index) => inside(index));
  }

  rebuild(fleet: Fleet, layers: readonly Layer[]): void {
    this.#inFlight.rebuild(fleet);
    const known = this.#balancers.length;
    while (this.#balancers.length < layers.length) this.#balancers.push(this.#make(this.#balancers.length));
    this.#balancers.forEach((balancer, index) => {
      const healthy = layers[index]?.members ?? fleet.endpoints.map(() => false);
      balancer.rebuild({ version: fleet.version, endpoints: fleet.endpoints, healthy });
      if (index >= known) this.#tell(balancer, fleet);
    });
    this.#members = layers.map((layer) => layer.members);
    this.setShares(layers.map((layer) => layer.share));
  }

  /** Other parts of the requests for the same layers. */
  setShares(shares: readonly number[]): void {
    for (const share of shares) assert(share >= 0, 'a share is not negative');
    this.#shares = shares;
    this.#total = shares.reduce((sum, share) => sum + share, 0);
  }

  /** A layer that has just come learns what is in flight already. */
  #tell(balancer: Balancer, fleet: Fleet): void {
    fleet.endpoints.forEach((_, endpoint) => {
      for (let count = this.#inFlight.of(endpoint); count > 0; count--) balancer.started(endpoint, this.#latest);
    });
  }

  /** A request with a key is drawn by its key: the same key finds the same part, and there the same endpoint. */
  #draw(hash: number | undefined): number {
    let ticket = (hash === undefined ? this.#dice.next() : unit(combine(hash, partSeed))) * this.#total;
    for (let layer = 0; layer < this.#shares.length; layer++) {
      ticket -= this.#shares[layer] ?? 0;
      if (ticket < 0) return layer;
    }
    return this.#shares.length - 1;
  }

  /** From another layer, the first that has somebody who has not been tried. Those without a share are asked last. */
  #elsewhere(request: PickRequest, now: Instant, except: number): number | undefined {
    return this.#fromOthers(request, now, except, true) ?? this.#fromOthers(request, now, except, false);
  }

  #fromOthers(request: PickRequest, now: Instant, except: number, withShare: boolean): number | undefined {
    for (let layer = 0; layer < this.#shares.length; layer++) {
      if (layer === except || (this.#shares[layer] ?? 0) > 0 !== withShare) continue;
      const endpoint = this.#balancers[layer]?.pick(request, now);
      if (endpoint !== undefined && request.tried?.includes(endpoint) !== true) return endpoint;
    }
    return undefined;
  }
}
