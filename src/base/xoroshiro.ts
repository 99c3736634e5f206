// The generator behind all dice: xoroshiro128+ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018) with
// shifts 24, 16 and 37, in halves of 32 bits. The draw is the lower half of the sum; where a draw needs eight bits more, they are the
// top of the upper halves' sum.
//
// Hot: every draw.

import { assert } from './assert.ts';
import type { Dice } from './dice.ts';
import { exponentialInside, exponentialSteps, exponentialTail, isUnderExponential } from './exponential.ts';

export class Xoroshiro implements Dice {
  #s01 = 0;
  #s00 = 0;
  #s11 = 0;
  #s10 = 0;
  /** The upper halves' sum of the last step. */
  #upper = 0;

  /** Goes on from the four words at `place`. */
  load(states: ArrayLike<number>, place: number): void {
    this.#s01 = states[place] ?? 0;
    this.#s00 = states[place + 1] ?? 0;
    this.#s11 = states[place + 2] ?? 0;
    this.#s10 = states[place + 3] ?? 0;
  }

  /** Writes the four words from which it would go on. */
  save(states: Int32Array, place: number): void {
    states[place] = this.#s01;
    states[place + 1] = this.#s00;
    states[place + 2] = this.#s11;
    states[place + 3] = this.#s10;
  }

  next(): number {
    return (this.#step() >>> 0) / 2 ** 32;
  }

  below(bound: number): number {
    assert(Number.isInteger(bound) && bound > 0, 'a die has a positive whole number of sides');
    assert(bound <= 2 ** 32, 'a die has at most as many sides as one draw can tell apart');
    return Math.floor(this.next() * bound);
  }

  exponential(mean: number): number {
    assert(mean >= 0, 'a mean time is not negative');
    const place = this.#step() >>> 0;
    const layer = this.#upper >>> 24;
    const at = place * (exponentialSteps[layer] ?? 0);
    return mean * (at < (exponentialInside[layer] ?? 0) ? at : this.#beyondInside(layer, at));
  }

  /** One draw in fifty: in a wedge of its layer, or in the tail. */
  #beyondInside(layer: number, at: number): number {
    if (layer === 0) return exponentialTail + this.exponential(1);
    return isUnderExponential(layer, at, this.next()) ? at : this.exponential(1);
  }

  normal(): number {
    const radius = Math.sqrt(-2 * Math.log1p(-this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  #step(): number {
    const s01 = this.#s01;
    const s00 = this.#s00;
    const s11 = this.#s11;
    const s10 = this.#s10;
    const low = s10 ^ s00;
    const high = s11 ^ s01;
    this.#s01 = (s01 << 24) ^ (s00 >>> 8) ^ high ^ ((high << 16) | (low >>> 16));
    this.#s00 = (s00 << 24) ^ (s01 >>> 8) ^ low ^ (low << 16);
    this.#s11 = (low << 5) ^ (high >>> 27);
    this.#s10 = (high << 5) ^ (low >>> 27);
    this.#upper = (s01 + s11) | 0;
    return (s00 + s10) | 0;
  }
}
