// The same key, the same endpoint, unless that one is full: consistent hashing with bounded loads (Mirrokni, Thorup and
// Zadimoghaddam 2016). Nobody may hold more than `factor` times its share of what is in flight:
//
//   bound of an endpoint = ⌈ factor · (in flight in all + 1) · weight ÷ weights in all ⌉
//
// A key whose endpoint is at its bound tries other points of the ring, derived from its hash, not the neighbour: the neighbour
// of a full endpoint would inherit all of its overflow, fill up as well, and pass twice as much on. The points it tries are
// the same each time, so the overflow of a key is found again, too.
//
// With factor 1.25, five endpoints of six have room when one is full. After as many tries as there are endpoints the emptiest
// is taken, which always has room.

import { assert, type Dice, dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { fitEndpoints } from './fit.ts';
import { combine } from './hash.ts';
import { InFlight } from './in-flight.ts';
import { HashRing, type RingSizes } from './ring.ts';

export function boundedLoad(options: { readonly seed: number; readonly factor?: number } & RingSizes): Balancer {
  const factor = options.factor ?? 1.25;
  assert(factor >= 1, 'a bound below the mean cannot hold for everybody');
  return new BoundedLoad(dice(options.seed, 'balance/bounded-load'), factor, options);
}

class BoundedLoad implements Balancer {
  readonly name = 'bounded-load';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  readonly #factor: number;
  readonly #sizes: RingSizes;
  #ring: HashRing | undefined;
  #fit: readonly number[] = [];
  #isFit: readonly boolean[] = [];
  #weights: readonly number[] = [];
  #weightTotal = 0;
  /** In flight in the whole present fleet. */
  #total = 0;

  constructor(source: Dice, factor: number, sizes: RingSizes) {
    this.#dice = source;
    this.#factor = factor;
    this.#sizes = sizes;
  }

  pick(request: PickRequest): number | undefined {
    const ring = this.#ring;
    if (ring === undefined || this.#fit.length === 0) return undefined;
    const hash = request.hash ?? Math.floor(this.#dice.next() * 2 ** 32);
    const tried = request.tried ?? nobody;
    for (let attempt = 0; attempt <= this.#fit.length; attempt++) {
      const owner = this.#fitOwner(ring, attempt === 0 ? hash : combine(hash, attempt));
      if (this.#hasRoom(owner) && (tried.length === 0 || !tried.includes(owner))) return owner;
    }
    return this.#emptiest(tried) ?? this.#emptiest(nobody);
  }

  started(endpoint: number): void {
    this.#total += 1;
    this.#inFlight.started(endpoint);
  }

  finished(endpoint: number): void {
    this.#total -= 1;
    this.#inFlight.finished(endpoint);
  }

  inFlight(endpoint: number): number {
    return this.#inFlight.of(endpoint);
  }

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    this.#fit = fitEndpoints(fleet);
    this.#isFit = fleet.endpoints.map((_, index) => this.#fit.includes(index));
    this.#weights = fleet.endpoints.map((endpoint) => endpoint.weight);
    this.#weightTotal = this.#fit.reduce((sum, endpoint) => sum + (this.#weights[endpoint] ?? 0), 0);
    this.#total = fleet.endpoints.reduce((sum, _, index) => sum + this.#inFlight.of(index), 0);
    this.#ring = new HashRing(fleet, this.#sizes);
  }

  #hasRoom(endpoint: number): boolean {
    const share = (this.#weights[endpoint] ?? 1) / this.#weightTotal;
    return this.#inFlight.of(endpoint) < Math.ceil(this.#factor * (this.#total + 1) * share);
  }

  #fitOwner(ring: HashRing, hash: number): number {
    let place = ring.place(hash);
    // Somebody is fit, so the walk ends.
    while (this.#isFit[ring.owner(place)] !== true) place = ring.next(place);
    return ring.owner(place);
  }

  #emptiest(tried: readonly number[]): number | undefined {
    let best: number | undefined;
    let least = Infinity;
    for (const endpoint of this.#fit) {
      const load = this.#inFlight.of(endpoint) / (this.#weights[endpoint] ?? 1);
      if (load >= least || tried.includes(endpoint)) continue;
      least = load;
      best = endpoint;
    }
    return best;
  }
}

const nobody: readonly number[] = [];
