// The same key, the same endpoint, by a contest: each endpoint draws a number from the key and its own name, and the highest
// wins (highest random weight; Thaler and Ravishankar 1996). No table, no ring; when an endpoint leaves, exactly its own keys
// move, each to its runner-up. O(n) a pick: for up to a hundred endpoints or so.
//
//   score of an endpoint = weight ÷ −ln(u),   u = hash(key, endpoint) mapped to (0, 1)
//
// The logarithm makes the chance of winning exactly proportional to the weight (Schindelhauer and Schomaker 2005).

import { type Dice, dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { countUntried, fitEndpoints } from './fit.ts';
import { combine, hashText, unit } from './hash.ts';
import { InFlight } from './in-flight.ts';

export function rendezvous(options: { readonly seed: number }): Balancer {
  return new Rendezvous(dice(options.seed, 'balance/rendezvous'));
}

/** Higher wins. `key` and `name` are hashes of 32 bits. */
export function rendezvousScore(key: number, name: number, weight: number): number {
  return weight / -Math.log(unit(combine(name, key)));
}

class Rendezvous implements Balancer {
  readonly name = 'rendezvous';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  #fit: readonly number[] = [];
  #names = new Float64Array(0);
  #weights = new Float64Array(0);

  constructor(source: Dice) {
    this.#dice = source;
  }

  pick(request: PickRequest): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    const key = request.hash ?? Math.floor(this.#dice.next() * 2 ** 32);
    const tried = request.tried;
    return this.#winner(key, tried === undefined || countUntried(fit, tried) === 0 ? nobody : tried);
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
    this.#names = Float64Array.from(fleet.endpoints, (endpoint) => hashText(endpoint.id));
    this.#weights = Float64Array.from(fleet.endpoints, (endpoint) => endpoint.weight);
  }

  #winner(key: number, tried: readonly number[]): number | undefined {
    const fit = this.#fit;
    let winner: number | undefined;
    let highest = -Infinity;
    for (let place = 0; place < fit.length; place++) {
      const endpoint = fit[place] ?? 0;
      if (tried.length > 0 && tried.includes(endpoint)) continue;
      const score = rendezvousScore(key, this.#names[endpoint] ?? 0, this.#weights[endpoint] ?? 1);
      if (score <= highest) continue;
      highest = score;
      winner = endpoint;
    }
    return winner;
  }
}

const nobody: readonly number[] = [];
