// Weighted turns by a running account, as nginx does it: before each pick everybody is credited its weight, the richest is
// served and pays the sum of all weights. The order repeats after (sum of weights) picks and is as even as whole turns can be.
//
//   weights 5 1 1      a: 5  b: 1  c: 1   ► a pays 7    then −2  1  1
//                      a: 3  b: 2  c: 2   ► a                −4  2  2
//                      a: 1  b: 3  c: 3   ► b                 1 −4  3      … a a b a c a a
//
// Accounts start at a random point of the round, so that gateways that start together do not march in step. Ties go to the
// one that comes first in the fleet. O(n) a pick: for short lists; `weighted-round-robin` scales better.

import { type Dice, dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { carried, idsOf } from './carry.ts';
import { countUntried, fitEndpoints } from './fit.ts';
import { InFlight } from './in-flight.ts';

export function smoothRoundRobin(options: { readonly seed: number }): Balancer {
  return new SmoothRoundRobin(dice(options.seed, 'balance/smooth-round-robin'));
}

class SmoothRoundRobin implements Balancer {
  readonly name = 'smooth-round-robin';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  #fit: readonly number[] = [];
  #ids: readonly string[] = [];
  #weights = new Float64Array(0);
  #accounts = new Float64Array(0);

  constructor(source: Dice) {
    this.#dice = source;
  }

  pick(request: PickRequest): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    const tried = request.tried;
    return this.#richest(tried === undefined || tried.length === 0 || countUntried(fit, tried) === 0 ? nobody : tried);
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
    const ids = idsOf(fleet);
    const first = this.#ids.length === 0;
    this.#accounts = carried(this.#accounts, this.#ids, ids, 0);
    this.#ids = ids;
    this.#weights = Float64Array.from(fleet.endpoints, (endpoint) => endpoint.weight);
    this.#fit = fitEndpoints(fleet);
    if (first && this.#fit.length > 1) {
      const steps = this.#dice.below(this.#fit.length * 8);
      for (let step = 0; step < steps; step++) this.#richest(nobody);
    }
  }

  /** Credits everybody, serves the richest that is not among `tried`, and lets it pay. */
  #richest(tried: readonly number[]): number | undefined {
    const fit = this.#fit;
    let total = 0;
    let best = -1;
    let bestAccount = -Infinity;
    for (let place = 0; place < fit.length; place++) {
      const endpoint = fit[place] ?? 0;
      const weight = this.#weights[endpoint] ?? 1;
      const account = (this.#accounts[endpoint] ?? 0) + weight;
      this.#accounts[endpoint] = account;
      total += weight;
      if (account <= bestAccount || (tried.length > 0 && tried.includes(endpoint))) continue;
      bestAccount = account;
      best = endpoint;
    }
    if (best === -1) return undefined;
    this.#accounts[best] = bestAccount - total;
    return best;
  }
}

const nobody: readonly number[] = [];
