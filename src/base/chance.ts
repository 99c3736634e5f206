// Dice with names. Every component draws from a stream of its own, derived from the run's seed and the component's name,
// so that adding one component never shifts what another draws. Equal seed and name give an equal sequence on any machine.
//
// The generator is xoroshiro128+ from pure-rand. Its four state words are four hashes of the name and the run's seed: the
// generator's own seeding leaves the first draws of neighbouring seeds alike.

import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { assert } from './assert.ts';

export interface Dice {
  /** Uniform on [0, 1), 32 bits of it. */
  next(): number;
  /** Uniform on 0 … bound − 1, but for one part in 2^32 / bound. `bound` is a whole number from 1 to 2^32. */
  below(bound: number): number;
  /** Exponential with the given mean (any unit; the result has the same). At most 22.2 means: −ln 2^−32. */
  exponential(mean: number): number;
  /** Normal with mean 0 and deviation 1 (Box–Muller, one of the pair). */
  normal(): number;
}

/** The stream called `name` of the run seeded with `seed`, a whole number from 0 to 2^53. */
export function dice(seed: number, name: string): Dice {
  const source = xoroshiro128plusFromState(firstState(seed, name));
  return diceOver(() => (source.next() >>> 0) / 2 ** 32);
}

/** The state that the stream called `name` of the run seeded with `seed` begins in. */
export function firstState(seed: number, name: string): [number, number, number, number] {
  assert(Number.isSafeInteger(seed) && seed >= 0, 'a seed is a whole number from 0 to 2^53');
  return [mix(seed, name, 1), mix(seed, name, 2), mix(seed, name, 3), mix(seed, name, 4)];
}

/** Dice that get their uniform numbers from `next`. */
export function diceOver(next: () => number): Dice {
  return {
    next,
    below(bound) {
      assert(Number.isInteger(bound) && bound > 0, 'a die has a positive whole number of sides');
      assert(bound <= 2 ** 32, 'a die has at most as many sides as one draw can tell apart');
      return Math.floor(next() * bound);
    },
    exponential(mean) {
      assert(mean >= 0, 'a mean time is not negative');
      return -mean * Math.log1p(-next());
    },
    normal() {
      const radius = Math.sqrt(-2 * Math.log1p(-next()));
      return radius * Math.cos(2 * Math.PI * next());
    },
  };
}

/**
 * One state word: both halves of the seed, each spread over all bits before the next comes in, then FNV-1a over the name.
 * The seed must be spread first: a bare seed would meet the name's first letter in one exclusive or, and seed 1 with name
 * "b" would be seed 2 with name "a".
 */
function mix(seed: number, name: string, word: number): number {
  const low = spread(Math.imul(word, 0x9e3779b1) ^ (seed | 0));
  let hash = spread(low ^ Math.trunc(seed / 2 ** 32));
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return spread(hash);
}

/** Every bit of the argument changes about half the bits of the result: the finaliser of murmur3. */
function spread(bits: number): number {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
