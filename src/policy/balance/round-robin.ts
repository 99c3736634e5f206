// Each in turn. Every endpoint gets the same number of requests, whatever they cost and however full it is: fair in counts,
// blind to load. That blindness has a price with closed-loop users: an endpoint that is a little slower than the rest fills
// up while the others wait for their turn to come round, since nobody is passed over (the convoy).
//
// The first turn starts at a random place. Otherwise every gateway that restarts would send its first request to the first
// endpoint of the list, and a fleet of gateways would march in step (Envoy pull request 3271). A new fleet goes on from
// where the turn was, so that frequent health changes do not favour the head of the list.
//
// Weights other than 0 are ignored: `weighted-round-robin` is the one that counts them.
// O(1) a pick; a second attempt walks on past the endpoints already tried.

import { dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { fitEndpoints } from './fit.ts';
import { InFlight } from './in-flight.ts';

export function roundRobin(options: { readonly seed: number }): Balancer {
  return new RoundRobin(options.seed);
}

class RoundRobin implements Balancer {
  readonly name = 'round-robin';
  readonly #inFlight = new InFlight();
  readonly #seed: number;
  #fit: readonly number[] = [];
  /** Place in `#fit` whose turn is next. */
  #next = 0;
  /** Ids of the whole fleet, in order: to find our place again in the next one. */
  #ids: readonly string[] = [];

  constructor(seed: number) {
    this.#seed = seed;
  }

  pick(request: PickRequest): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    const tried = request.tried;
    if (tried !== undefined && tried.length > 0) this.#passOver(tried);
    const endpoint = fit[this.#next];
    this.#next = this.#next + 1 === fit.length ? 0 : this.#next + 1;
    return endpoint;
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
    const first = this.#ids.length === 0;
    const nextId = this.#ids[this.#fit[this.#next] ?? -1];
    const fit = fitEndpoints(fleet);
    this.#next = first ? randomPlace(this.#seed, fit.length) : placeOf(nextId, this.#next, fleet, fit);
    this.#fit = fit;
    this.#ids = fleet.endpoints.map((endpoint) => endpoint.id);
  }

  /** Moves the turn to the next endpoint that has not been tried; a whole round without one leaves it where it was. */
  #passOver(tried: readonly number[]): void {
    const fit = this.#fit;
    for (let step = 0; step < fit.length; step++) {
      const place = (this.#next + step) % fit.length;
      if (tried.includes(fit[place] ?? -1)) continue;
      this.#next = place;
      return;
    }
  }
}

function randomPlace(seed: number, length: number): number {
  return length === 0 ? 0 : dice(seed, 'balance/round-robin').below(length);
}

/** The place of the endpoint whose turn it was, or of the next fit one after it, or the old place if it left the fleet. */
function placeOf(id: string | undefined, oldPlace: number, fleet: Fleet, fit: readonly number[]): number {
  if (fit.length === 0) return 0;
  const index = fleet.endpoints.findIndex((endpoint) => endpoint.id === id);
  if (index === -1) return oldPlace % fit.length;
  const place = fit.findIndex((endpoint) => endpoint >= index);
  return place === -1 ? 0 : place;
}
