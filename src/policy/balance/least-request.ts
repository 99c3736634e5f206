// The one with the fewest requests inside. A slow endpoint keeps its requests longer, so it is passed over until it has
// caught up: nobody has to be told how fast anybody is, and the convoy of round robin cannot form.
//
// Two ways to find it:
//
//   full scan     look at all, draw among the emptiest. Exact, O(n). Used up to `fullScanMax` endpoints.
//   two choices   ask two at random, take the less loaded (Mitzenmacher 2001): the second look removes most of the queue, and
//                 the cost does not grow with the fleet. Envoy and gRPC do this always; above `fullScanMax` so do we.
//
// Why not two choices for a small fleet: with 2 endpoints a draw with replacement takes the fuller one a quarter of the time;
// with 4, even a distinct pair misses an idle endpoint in half of the picks. A scan of 8 counters costs less than the die.
// Why not a scan for a large one: its cost grows, and many balancers that all see the same emptiest endpoint all run to it.
//
// Load is in flight ÷ weight, and weights also weigh the draws: an idle fleet is used in proportion to its weights, and a busy
// one filled in proportion to them.
// It misbehaves when an endpoint fails fast: it is always the emptiest, and attracts what it will fail. Outlier ejection is
// the answer to that, not the balancer.

import { assert, dice, type Dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { countUntried, fitEndpoints, nthUntried } from './fit.ts';
import { InFlight } from './in-flight.ts';
import { WeightedDraw } from './weighted-draw.ts';

/** Largest number of fit endpoints that is scanned in full, unless the options say otherwise. */
export const fullScanMax = 8;

export interface LeastRequestOptions {
  readonly seed: number;
  /** true: always scan; false: always draw; undefined: scan up to `fullScanMax` endpoints. */
  readonly full?: boolean;
  /** How many to draw and compare, 2 by default. */
  readonly choices?: number;
}

export function leastRequest(options: LeastRequestOptions): Balancer {
  const choices = options.choices ?? 2;
  assert(Number.isInteger(choices) && choices >= 2, 'a choice is between two at least');
  return new LeastRequest(dice(options.seed, 'balance/least-request'), options.full, choices);
}

class LeastRequest implements Balancer {
  readonly name: string;
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  readonly #full: boolean | undefined;
  readonly #choices: number;
  #fit: readonly number[] = [];
  #weights = new Float64Array(0);
  /** Whether all weights are one, so that nobody need look at them. */
  #alike = true;
  #draw: WeightedDraw;
  #scans = true;
  /** Who was compared last. */
  readonly #drawn: number[] = [];

  constructor(source: Dice, full: boolean | undefined, choices: number) {
    this.name = full === false ? 'two-choices' : 'least-request';
    this.#dice = source;
    this.#full = full;
    this.#choices = choices;
    this.#draw = new WeightedDraw([], source);
  }

  pick(request: PickRequest): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    if (fit.length === 1) return fit[0];
    const tried = request.tried ?? nobody;
    if (this.#scans) return this.#emptiest(tried.length === 0 || countUntried(fit, tried) === 0 ? nobody : tried);
    const chosen = this.#emptierOfSome();
    if (!tried.includes(chosen)) return chosen;
    const untried = countUntried(fit, tried);
    return untried === 0 ? chosen : nthUntried(fit, tried, this.#dice.below(untried));
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

  score(endpoint: number): number {
    return this.#load(endpoint);
  }

  drawn(): readonly number[] {
    return this.#scans ? [] : this.#drawn;
  }

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    this.#fit = fitEndpoints(fleet);
    this.#weights = Float64Array.from(fleet.endpoints, (endpoint) => endpoint.weight);
    this.#alike = this.#weights.every((weight) => weight === 1);
    this.#draw = new WeightedDraw(
      this.#fit.map((endpoint) => this.#weights[endpoint] ?? 1),
      this.#dice,
    );
    this.#scans = this.#full ?? this.#fit.length <= fullScanMax;
  }

  #load(endpoint: number): number {
    const inFlight = this.#inFlight.of(endpoint);
    return this.#alike ? inFlight : inFlight / (this.#weights[endpoint] ?? 1);
  }

  /** Looks at all but the tried. Two walks, so that one die decides among equals however many there are; equals of unequal
   * weight share the draw by weight. */
  #emptiest(tried: readonly number[]): number {
    const fit = this.#fit;
    let least = Infinity;
    let share = 0;
    for (let place = 0; place < fit.length; place++) {
      const endpoint = fit[place] ?? 0;
      if (tried.length > 0 && tried.includes(endpoint)) continue;
      const load = this.#load(endpoint);
      if (load > least) continue;
      if (load < least) share = 0;
      least = load;
      share += this.#weights[endpoint] ?? 1;
    }
    let ticket = this.#dice.next() * share;
    let last = fit[0] ?? 0;
    for (let place = 0; place < fit.length; place++) {
      const endpoint = fit[place] ?? 0;
      if (tried.length > 0 && tried.includes(endpoint)) continue;
      if (this.#load(endpoint) !== least) continue;
      last = endpoint;
      ticket -= this.#weights[endpoint] ?? 1;
      if (ticket < 0) break;
    }
    return last;
  }

  /** Draws `choices` and keeps the emptiest; the first drawn wins a tie. With equal weights nobody is compared with itself. */
  #emptierOfSome(): number {
    const fit = this.#fit;
    let bestPlace = this.#draw.draw();
    let best = fit[bestPlace] ?? 0;
    let least = this.#load(best);
    this.#drawn[0] = best;
    for (let draw = 1; draw < this.#choices; draw++) {
      const place = this.#otherPlace(bestPlace);
      const endpoint = fit[place] ?? 0;
      const load = this.#load(endpoint);
      this.#drawn[draw] = endpoint;
      if (load >= least) continue;
      bestPlace = place;
      best = endpoint;
      least = load;
    }
    return best;
  }

  /** Another place than `place`. By weight this takes a second throw now and then; four equal throws settle it. */
  #otherPlace(place: number): number {
    for (let attempt = 0; attempt < 4; attempt++) {
      const other = this.#draw.draw();
      if (other !== place) return other;
    }
    return place + 1 === this.#fit.length ? 0 : place + 1;
  }
}

const nobody: readonly number[] = [];
