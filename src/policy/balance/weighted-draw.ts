// One draw from a list of weights in constant time, whatever the length: the alias table (Walker 1977, Vose 1991). Every
// slot of the table holds one unit of probability, shared by at most two entries; a draw picks a slot and then one of its two.
//
//   weights 1 2 3 (mean 2)    slot   0      1      2
//                                  ┌──┐   ┌──┐   ┌──┐
//                            alias │ 2│   │ 1│   │ 2│     entry 2 fills what entry 0 leaves of its slot
//                                  ├──┤   │  │   │  │
//                              own │ 0│   │  │   │  │
//                                  └──┘   └──┘   └──┘
//
// Hot: `draw`. With equal weights it is one die throw and no table.

import { assert, type Dice } from '../../base.ts';

export class WeightedDraw {
  readonly #dice: Dice;
  readonly #size: number;
  /** Empty when all weights are equal. */
  readonly #own: Float64Array;
  readonly #alias: Int32Array;

  /** `weights` are positive; their scale does not matter. */
  constructor(weights: readonly number[], dice: Dice) {
    for (const weight of weights) assert(weight > 0, 'a weight that may be drawn is positive');
    this.#dice = dice;
    this.#size = weights.length;
    const equal = weights.every((weight) => weight === weights[0]);
    const table = equal ? { own: new Float64Array(0), alias: new Int32Array(0) } : aliasTable(weights);
    this.#own = table.own;
    this.#alias = table.alias;
  }

  /** An index into the weights, each with probability weight ÷ sum. The list must not be empty. */
  draw(): number {
    const slot = this.#dice.below(this.#size);
    if (this.#own.length === 0) return slot;
    return this.#dice.next() < (this.#own[slot] ?? 1) ? slot : (this.#alias[slot] ?? slot);
  }
}

/** Vose's construction: pairs each entry that fills less than a slot with one that overflows. */
function aliasTable(weights: readonly number[]): { own: Float64Array; alias: Int32Array } {
  const size = weights.length;
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const own = Float64Array.from(weights, (weight) => (weight / sum) * size);
  const alias = Int32Array.from(weights, (_, index) => index);
  const small: number[] = [];
  const large: number[] = [];
  own.forEach((share, index) => (share < 1 ? small : large).push(index));
  while (small.length > 0 && large.length > 0) {
    const poor = small.pop() ?? 0;
    const rich = large.pop() ?? 0;
    alias[poor] = rich;
    own[rich] = (own[rich] ?? 0) - (1 - (own[poor] ?? 0));
    ((own[rich] ?? 0) < 1 ? small : large).push(rich);
  }
  // What rounding left over fills its slot alone.
  for (const index of small) own[index] = 1;
  for (const index of large) own[index] = 1;
  return { own, alias };
}
