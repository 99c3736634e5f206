// The same key, the same endpoint, by one look-up in a table (Maglev; Eisenbud and others, NSDI 2016). Every endpoint has a
// preference list of the table's slots, a permutation of its own; they take turns claiming the best slot that is still free.
//
//   turn     a  b  c  a  b  c …
//   claims   3  0  1  4  2  5          slot   0 1 2 3 4 5
//                                      owner  b c b a a c
//
// The shares are as even as whole slots can be (within 1 in 65,537 for equal weights), which a ring of any sensible size is not. The
// price: when an endpoint leaves, a few more keys than its own move. Weights: an endpoint takes its turn when it has fewer
// slots than its weight deserves so far.
//
// Unfit endpoints are left out of the table. A pick is one division and one load; building takes some milliseconds.

import { assert, type Dice, dice } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { fitEndpoints } from './fit.ts';
import { combine, hashText } from './hash.ts';
import { InFlight } from './in-flight.ts';

export interface MaglevOptions {
  readonly seed: number;
  /** A prime, much larger than the number of endpoints. 65,537 by default. */
  readonly tableSize?: number;
}

export function maglev(options: MaglevOptions): Balancer {
  const tableSize = options.tableSize ?? 65_537;
  assert(isPrime(tableSize), 'the table has a prime size, so that every skip visits every slot');
  return new Maglev(dice(options.seed, 'balance/maglev'), tableSize);
}

class Maglev implements Balancer {
  readonly name = 'maglev';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  readonly #tableSize: number;
  #table: Int32Array = new Int32Array(0);
  #fit: readonly number[] = [];

  constructor(source: Dice, tableSize: number) {
    this.#dice = source;
    this.#tableSize = tableSize;
  }

  pick(request: PickRequest): number | undefined {
    if (this.#fit.length === 0) return undefined;
    const hash = request.hash ?? Math.floor(this.#dice.next() * 2 ** 32);
    const first = this.#table[hash % this.#tableSize];
    const tried = request.tried;
    if (tried === undefined || first === undefined || !tried.includes(first)) return first;
    // Another slot, and the same one next time, until one belongs to somebody else.
    for (let attempt = 1; attempt <= 8 * this.#fit.length; attempt++) {
      const other = this.#table[combine(hash, attempt) % this.#tableSize];
      if (other !== undefined && !tried.includes(other)) return other;
    }
    return this.#fit.find((endpoint) => !tried.includes(endpoint)) ?? first;
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

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    this.#fit = fitEndpoints(fleet);
    assert(this.#fit.length < this.#tableSize, 'there is a slot for every endpoint');
    this.#table = maglevTable(fleet, this.#fit, this.#tableSize);
  }
}

/** Owner of each slot, as index into the fleet. Empty when nobody is fit. */
export function maglevTable(fleet: Fleet, fit: readonly number[], size: number): Int32Array {
  if (fit.length === 0) return new Int32Array(0);
  const table = new Int32Array(size).fill(-1);
  const heaviest = Math.max(...fit.map((endpoint) => fleet.endpoints[endpoint]?.weight ?? 1));
  // In the order of their names, so that the order of the list does not matter.
  const claimants = fit
    .map((index) => {
      const { id = '', weight = 1 } = fleet.endpoints[index] ?? {};
      const slot = hashText(id, 1) % size;
      const skip = (hashText(id, 2) % (size - 1)) + 1;
      return { index, id, pace: weight / heaviest, slot, skip, due: 0, claimed: 0 };
    })
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  let free = size;
  while (free > 0) {
    for (const claimant of claimants) {
      if (free === 0) break;
      claimant.due += claimant.pace;
      if (claimant.claimed >= claimant.due && claimant.claimed > 0) continue;
      while (table[claimant.slot] !== -1) claimant.slot = (claimant.slot + claimant.skip) % size;
      table[claimant.slot] = claimant.index;
      claimant.claimed += 1;
      free -= 1;
    }
  }
  return table;
}

function isPrime(value: number): boolean {
  if (!Number.isInteger(value) || value < 2) return false;
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false;
  return true;
}
