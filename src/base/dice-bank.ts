// Dice with names by the ten thousand: the streams of `dice`, draw for draw, with their states side by side in one array. A stream
// of its own takes five objects, which in a large fleet are five waits for memory at each draw; here it takes 16 bytes.
//
//   states   │ s01 s00 s11 s10 │ s01 s00 s11 s10 │ …        one stream each
//                │      ▲
//            at(0)      └ the next `at`
//                ▼      │
//               the one set of dice
//
// Hot: `at` and every draw.

import { assert } from './assert.ts';
import { firstState } from './chance.ts';
import type { Dice } from './dice.ts';
import { Xoroshiro } from './xoroshiro.ts';

const firstCapacity = 64;
const words = 4;

export class DiceBank {
  #states = new Int32Array(words * firstCapacity);
  #count = 0;
  /** The stream whose state the dice hold; −1 for none. */
  #held = -1;
  readonly #source = new Xoroshiro();

  /** Draws from the stream that `at` was last called with. */
  get dice(): Dice {
    return this.#source;
  }

  /** Opens the stream called `name` of the run seeded with `seed`. Returns its number: 0, 1, 2, … */
  add(seed: number, name: string): number {
    if (words * this.#count === this.#states.length) this.#grow();
    this.#states.set(firstState(seed, name), words * this.#count);
    return this.#count++;
  }

  /** From now on the dice draw from this stream. Returns them: the same object every time. */
  at(stream: number): Dice {
    assert(stream >= 0 && stream < this.#count, 'a stream is opened before it is drawn from');
    if (stream === this.#held) return this.#source;
    if (this.#held >= 0) this.#source.save(this.#states, words * this.#held);
    this.#source.load(this.#states, words * stream);
    this.#held = stream;
    return this.#source;
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#states.length);
    grown.set(this.#states);
    this.#states = grown;
  }
}
