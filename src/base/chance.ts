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
  /** Uniform on 0 … bound − 1. `bound` must be a positive integer. */
  below(bound: number): number;
  /** Exponential with the given mean (any unit; the result has the same). */
  exponential(mean: number): number;
  /** Normal with mean 0 and deviation 1 (Box–Muller, one of the pair). */
  normal(): number;
}

/** The stream called `name` of the run seeded with `seed`. */
export function dice(seed: number, name: string): Dice {
  const source = xoroshiro128plusFromState([
    mix(seed, name, 1),
    mix(seed, name, 2),
    mix(seed, name, 3),
    mix(seed, name, 4),
  ]);
  const next = (): number => (source.next() >>> 0) / 2 ** 32;
  return {
    next,
    below(bound) {
      assert(Number.isInteger(bound) && bound > 0, 'a die has a positive whole number of sides');
      return Math.floor(next() * bound);
    },
    exponential(mean) {
      return -mean * Math.log1p(-next());
    },
    normal() {
      const radius = Math.sqrt(-2 * Math.log1p(-next()));
      return radius * Math.cos(2 * Math.PI * next());
    },
  };
}

/** FNV-1a over the name, then a finaliser (murmur3's) that spreads the seed over all bits. */
function mix(seed: number, name: string, word: number): number {
  let hash = 0x811c9dc5 ^ (seed | 0) ^ Math.imul(word, 0x9e3779b1);
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  hash ^= Math.trunc(seed / 2 ** 32);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
