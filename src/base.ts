// base: what a standard library should have had. Pure.

export { assert, AssertionError, unreachable } from './base/assert.ts';
export { dice } from './base/chance.ts';
export type { Dice } from './base/dice.ts';
export { DiceBank } from './base/dice-bank.ts';
export { Heap } from './base/heap.ts';
export { Ring } from './base/ring.ts';
export {
  after,
  between,
  type Duration,
  formatDuration,
  inMs,
  inSeconds,
  type Instant,
  instantAt,
  minutes,
  ms,
  ns,
  parseDuration,
  seconds,
  start,
  us,
} from './base/time.ts';
