// By lot, in proportion to the weights. No state to keep in step, so a fleet of balancers cannot march together, and an
// endpoint that fails sheds its share over all the others instead of onto its neighbour. The price is the luck of the draw:
// with m requests over n endpoints the fullest gets about √(2·m·ln n ÷ n) more than its share, where round robin gets none.
//
// O(1) a pick (alias table); a second attempt draws evenly among the endpoints not yet tried.

import { dice, type Dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { countUntried, fitEndpoints, nthUntried } from './fit.ts';
import { InFlight } from './in-flight.ts';
import { WeightedDraw } from './weighted-draw.ts';

export function random(options: { readonly seed: number }): Balancer {
  return new Random(dice(options.seed, 'balance/random'));
}

class Random implements Balancer {
  readonly name = 'random';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  #fit: readonly number[] = [];
  #draw: WeightedDraw;

  constructor(source: Dice) {
    this.#dice = source;
    this.#draw = new WeightedDraw([], source);
  }

  pick(request: PickRequest): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    const endpoint = fit[this.#draw.draw()];
    const tried = request.tried;
    if (tried === undefined || endpoint === undefined || !tried.includes(endpoint)) return endpoint;
    const untried = countUntried(fit, tried);
    return untried === 0 ? endpoint : nthUntried(fit, tried, this.#dice.below(untried));
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
    const weights = this.#fit.map((endpoint) => fleet.endpoints[endpoint]?.weight ?? 1);
    this.#draw = new WeightedDraw(weights, this.#dice);
  }
}
