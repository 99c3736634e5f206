// Arrivals that know nothing of each other, as those of many independent people. The gaps in area are exponential with mean
// 1; the inverse of the curve stretches them into time, so a Poisson process over any rate curve is one sum and one look-up
// (the time-change theorem for Poisson processes).

import { assert, type Dice, type Duration } from '../../base.ts';
import type { RateCurve } from './curve.ts';
import type { Pacer } from './pacer.ts';

export function poisson(curve: RateCurve, dice: Dice): Pacer {
  return new Poisson(curve, dice);
}

class Poisson implements Pacer {
  readonly #curve: RateCurve;
  readonly #dice: Dice;
  /** The request that `#area` belongs to; −1 before the first. */
  #index = -1;
  #area = 0;

  constructor(curve: RateCurve, dice: Dice) {
    this.#curve = curve;
    this.#dice = dice;
  }

  due(index: number): Duration | undefined {
    assert(index >= this.#index, 'random arrivals are asked for in rising order');
    while (this.#index < index) {
      this.#index += 1;
      this.#area += this.#dice.exponential(1);
    }
    return this.#curve.inverse(this.#area);
  }
}
