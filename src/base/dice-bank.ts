// Dice with names by the ten thousand: the streams of `dice`, draw for draw, with their states side by side in one array. A stream
// of its own takes five objects, which in a large fleet are five waits for memory at each draw; here it takes 16 bytes.
//
//   states   │ s01 s00 s11 s10 │ s01 s00 s11 s10 │ …        one stream each
//                ▲
//                └ at(0): the one set of dice draws from here until the next `at`
//
// The generator is xoroshiro128+ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018) with shifts 24, 16
// and 37, in halves of 32 bits; the lower half of the sum is the draw.
//
// Hot: `at` and every draw.

import { assert } from './assert.ts';
import { type Dice, diceOver, firstState } from './chance.ts';

const firstCapacity = 64;
const words = 4;

export class DiceBank {
  #states = new Int32Array(words * firstCapacity);
  #count = 0;
  #place = -1;
  /** Draws from the stream that `at` was last called with. */
  readonly dice: Dice = diceOver(() => this.#next());

  /** Opens the stream called `name` of the run seeded with `seed`. Returns its number: 0, 1, 2, … */
  add(seed: number, name: string): number {
    if (words * this.#count === this.#states.length) this.#grow();
    this.#states.set(firstState(seed, name), words * this.#count);
    return this.#count++;
  }

  /** From now on the dice draw from this stream. Returns them: the same object every time. */
  at(stream: number): Dice {
    assert(stream >= 0 && stream < this.#count, 'a stream is opened before it is drawn from');
    this.#place = words * stream;
    return this.dice;
  }

  #next(): number {
    const states = this.#states;
    const place = this.#place;
    const s01 = states[place] ?? 0;
    const s00 = states[place + 1] ?? 0;
    const s11 = states[place + 2] ?? 0;
    const s10 = states[place + 3] ?? 0;
    const low = s10 ^ s00;
    const high = s11 ^ s01;
    states[place] = (s01 << 24) ^ (s00 >>> 8) ^ high ^ ((high << 16) | (low >>> 16));
    states[place + 1] = (s00 << 24) ^ (s01 >>> 8) ^ low ^ (low << 16);
    states[place + 2] = (low << 5) ^ (high >>> 27);
    states[place + 3] = (high << 5) ^ (low >>> 27);
    return ((s00 + s10) >>> 0) / 2 ** 32;
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#states.length);
    grown.set(this.#states);
    this.#states = grown;
  }
}
