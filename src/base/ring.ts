// A first-in, first-out queue that cannot grow: a flat array whose ends meet. The bound is in sight, and what happens at it
// is the caller's to decide, because `push` says no instead of growing or overwriting.
//
//   capacity 5      [ d  e  ·  b  c ]      oldest b, then c, d, e
//                           ↑  ↑
//                        free  head
//
// Hot: nothing allocates after the constructor.

import { assert } from './assert.ts';

export class Ring<Item> {
  readonly capacity: number;
  readonly #slots: (Item | undefined)[];
  #head = 0;
  #size = 0;

  constructor(capacity: number) {
    assert(Number.isInteger(capacity) && capacity > 0, 'a ring has room for a positive whole number of items');
    this.capacity = capacity;
    this.#slots = Array.from({ length: capacity }, () => undefined);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds `item` behind the newest. Returns false, and changes nothing, when the ring is full. */
  push(item: Item): boolean {
    if (this.#size === this.capacity) return false;
    this.#slots[this.#slot(this.#size)] = item;
    this.#size += 1;
    return true;
  }

  /** Takes out the oldest; undefined when empty. */
  shift(): Item | undefined {
    if (this.#size === 0) return undefined;
    const oldest = this.#slots[this.#head];
    // The slot lets go of the item: a drained ring keeps nothing alive.
    this.#slots[this.#head] = undefined;
    this.#head = this.#slot(1);
    this.#size -= 1;
    return oldest;
  }

  /** The item that `age` others are older than: `at(0)` is the oldest. undefined beyond the newest. */
  at(age: number): Item | undefined {
    assert(Number.isInteger(age) && age >= 0, 'an age in a ring is a whole number from 0');
    return age < this.#size ? this.#slots[this.#slot(age)] : undefined;
  }

  /** Takes out the oldest of those that are `item`, from wherever it stands; the others keep their order. Returns false when there
   * is none. Goes through the ring, so it is for what seldom happens. */
  remove(item: Item): boolean {
    let found = false;
    for (let age = 0; age < this.#size; age++) {
      if (found) this.#slots[this.#slot(age - 1)] = this.at(age);
      else found = this.at(age) === item;
    }
    if (!found) return false;
    this.#size -= 1;
    this.#slots[this.#slot(this.#size)] = undefined;
    return true;
  }

  clear(): void {
    this.#slots.fill(undefined);
    this.#head = 0;
    this.#size = 0;
  }

  /** Where the item of this age lies. One subtraction does for a modulo, since head and age are both within capacity. */
  #slot(age: number): number {
    const index = this.#head + age;
    return index < this.capacity ? index : index - this.capacity;
  }
}
