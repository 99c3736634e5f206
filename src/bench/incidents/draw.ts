// What is drawn for one incident: names, addresses, sizes and noise, all from one seed. Two incidents of a kind look alike in
// what the fault does, and in nothing else.

import { assert, type Dice, dice } from '../../base.ts';

const words = [
  'cart',
  'orders',
  'billing',
  'search',
  'ledger',
  'quote',
  'media',
  'profile',
  'stock',
  'geo',
  'mailer',
  'pricing',
  'catalog',
  'session',
  'report',
  'notify',
  'rating',
  'ticket',
  'render',
  'invoice',
] as const;
const letters = 'bcdfghjklmnpqrstvwxz2456789';

export class Draw {
  readonly #die: Dice;
  /** The service that has the trouble. */
  readonly service: string;
  /** When the evidence begins, epoch milliseconds. */
  readonly beganMs: number;
  readonly #usedWords: string[];

  /** `taken`: words that mean something else already. */
  constructor(seed: number, kind: string, taken: readonly string[] = []) {
    this.#die = dice(seed, `incident ${kind}`);
    this.#usedWords = words.filter((word) => !taken.includes(word));
    this.service = this.word();
    this.beganMs = Date.UTC(2026, this.below(12), 1 + this.below(28), this.below(24), this.below(60));
  }

  below(count: number): number {
    return this.#die.below(count);
  }

  /** 0 … 1. */
  share(): number {
    return this.#die.next();
  }

  chance(probability: number): boolean {
    return this.#die.next() < probability;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.#die.next();
  }

  /** Whole, both ends included. */
  count(low: number, high: number): number {
    return low + this.#die.below(high - low + 1);
  }

  pick<T>(choices: readonly T[]): T {
    const found = choices[this.#die.below(choices.length)];
    assert(found !== undefined, 'there is something to choose from');
    return found;
  }

  /** Around the value, by so much of it to either side. */
  near(value: number, spread = 0.02): number {
    return value * (1 + spread * (2 * this.#die.next() - 1));
  }

  /** The same as a whole number. */
  about(value: number, spread = 0.02): number {
    return Math.round(this.near(value, spread));
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.#die.next());
  }

  shuffled<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, key: this.#die.next() }))
      .toSorted((one, other) => one.key - other.key)
      .map(({ value }) => value);
  }

  /** A name that no other part of this incident has. */
  word(): string {
    const [word] = this.#usedWords.splice(this.#die.below(this.#usedWords.length), 1);
    assert(word !== undefined, 'there are words left');
    return word;
  }

  /** Names of replicas as one platform or another gives them. */
  replicas(count: number, service = this.service): string[] {
    const scheme = this.below(3);
    const hash = this.#letters(9);
    return Array.from({ length: count }, (_, index) => {
      if (scheme === 0) return `${service}-${index}`;
      return scheme === 1 ? `${service}-${hash}-${this.#letters(5)}` : `${service}${index + 1}`;
    });
  }

  /** `address:port`, all in one network. */
  addresses(count: number, port = this.pick([80, 8080, 3000, 9000])): string[] {
    const net = `10.${this.count(2, 250)}.${this.below(200)}`;
    const from = this.count(1, 150);
    return Array.from({ length: count }, (_, index) => `${net}.${from + index}:${port}`);
  }

  #letters(count: number): string {
    return Array.from({ length: count }, () => letters[this.#die.below(letters.length)]).join('');
  }
}
