// Dice with names. Every component draws from a stream of its own, derived from the run's seed and the component's name,
// so that adding one component never shifts what another draws. Equal seed and name give an equal sequence on any machine.
//
// The generator is xoroshiro128+ (xoroshiro.ts). Its four state words are four hashes of the name and the run's seed, so that the
// first draws of neighbouring seeds are unlike.

import { assert } from './assert.ts';
import type { Dice } from './dice.ts';
import { Xoroshiro } from './xoroshiro.ts';

/** The stream called `name` of the run seeded with `seed`, a whole number from 0 to 2^53. */
export function dice(seed: number, name: string): Dice {
  const source = new Xoroshiro();
  source.load(firstState(seed, name), 0);
  return source;
}

/** The state that the stream called `name` of the run seeded with `seed` begins in. */
export function firstState(seed: number, name: string): [number, number, number, number] {
  assert(Number.isSafeInteger(seed) && seed >= 0, 'a seed is a whole number from 0 to 2^53');
  return [mix(seed, name, 1), mix(seed, name, 2), mix(seed, name, 3), mix(seed, name, 4)];
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
