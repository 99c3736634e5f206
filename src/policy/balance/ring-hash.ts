// The same key, the same endpoint, on a ring (see `ring.ts`). For caches and sessions: what an endpoint knows about a key is
// found again. When an endpoint is unfit its keys go to the owners of the next points, and come back with it.
//
// Blind to load: a popular key is served by one endpoint however full it is (`bounded-load` is the answer). A request without
// a hash goes by lot.

import { type Dice, dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { fitEndpoints } from './fit.ts';
import { InFlight } from './in-flight.ts';
import { HashRing, type RingSizes } from './ring.ts';

export function ringHash(options: { readonly seed: number } & RingSizes): Balancer {
  return new RingHash(dice(options.seed, 'balance/ring-hash'), options);
}

class RingHash implements Balancer {
  readonly name = 'ring-hash';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  readonly #sizes: RingSizes;
  #ring: HashRing | undefined;
  #fit: readonly number[] = [];
  #isFit: readonly boolean[] = [];

  constructor(source: Dice, sizes: RingSizes) {
    this.#dice = source;
    this.#sizes = sizes;
  }

  pick(request: PickRequest): number | undefined {
    const ring = this.#ring;
    if (ring === undefined || this.#fit.length === 0) return undefined;
    const hash = request.hash ?? this.#dice.next() * 2 ** 32;
    const tried = request.tried ?? nobody;
    let place = ring.place(hash);
    let firstFit: number | undefined;
    for (let step = 0; step < ring.size; step++) {
      const owner = ring.owner(place);
      if (this.#isFit[owner] === true) {
        if (tried.length === 0 || !tried.includes(owner)) return owner;
        firstFit ??= owner;
      }
      place = ring.next(place);
    }
    return firstFit;
  }

  started(endpoint: number): void {
    this.#inFlight.started(endpoint);
  }

  finished(endpoint: number): void {
    this.#inFlight.finished(endpoint);
  }

  inFlight(endpoint: number): number {
    return this.#inFlight.of(endpoint);
  }

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    this.#fit = fitEndpoints(fleet);
    this.#isFit = fleet.endpoints.map((_, index) => this.#fit.includes(index));
    this.#ring = new HashRing(fleet, this.#sizes);
  }
}

const nobody: readonly number[] = [];
