// Texts by number, straight from bytes: the same columns as `texts.ts`, without making a string for a text that is known.
//
// Hot: four or five times a line. Everything is done in words of four bytes (12 ns a text, of which half is waiting for memory):
// a hash over the words, an open table, and a copy of the words of each text to compare with, its last one filled up with zeros.
// Only a text that was never seen becomes a string.

import { tailMask, textOf } from './byte-words.ts';
import type { Texts } from './texts.ts';

export class ByteTexts {
  readonly #texts: Texts;
  /** Entry by slot, plus one; 0 is free. Twice as many slots as entries, at least. */
  #slots = new Int32Array(256);
  #hashes = new Int32Array(128);
  #numbers = new Int32Array(128);
  #lengths = new Int32Array(128);
  #begins = new Int32Array(129);
  #arena = new Int32Array(1024);
  #entries = 0;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  /** The number of the text in these bytes; −1 for none (`from` is −1). */
  intern(bytes: DataView, from: number, to: number): number {
    if (from === -1) return -1;
    const hash = hashOf(bytes, from, to);
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = (slots[slot] ?? 0) - 1;
      if (entry === -1) return this.#add(bytes, from, to, hash);
      if (this.#hashes[entry] === hash && this.#equals(entry, bytes, from, to - from))
        return this.#numbers[entry] ?? -1;
      slot = (slot + 1) & mask;
    }
  }

  #equals(entry: number, bytes: DataView, from: number, length: number): boolean {
    if (this.#lengths[entry] !== length) return false;
    const arena = this.#arena;
    let place = this.#begins[entry] ?? 0;
    let left = length;
    let at = from;
    for (; left >= 4; left -= 4, at += 4, place++) if (arena[place] !== bytes.getInt32(at, true)) return false;
    return left === 0 || arena[place] === (bytes.getInt32(at, true) & tailMask(left));
  }

  #add(bytes: DataView, from: number, to: number, hash: number): number {
    // When no more texts are taken, no more need be known either.
    if (this.#texts.isFull) return this.#texts.others;
    const number = this.#texts.intern(textOf(bytes, from, to));
    if (this.#entries + 1 >= this.#hashes.length) this.#grow();
    const begin = this.#begins[this.#entries] ?? 0;
    const end = begin + Math.ceil((to - from) / 4);
    if (end > this.#arena.length) this.#arena = copied(this.#arena, Math.max(this.#arena.length * 2, end));
    for (let at = from, place = begin; at < to; at += 4, place++) {
      this.#arena[place] = bytes.getInt32(at, true) & tailMask(Math.min(4, to - at));
    }
    this.#hashes[this.#entries] = hash;
    this.#numbers[this.#entries] = number;
    this.#lengths[this.#entries] = to - from;
    this.#begins[this.#entries + 1] = end;
    this.#entries += 1;
    this.#place(hash, this.#entries);
    return number;
  }

  /** Puts an entry (plus one) at its slot or the next free one. */
  #place(hash: number, entry: number): void {
    const mask = this.#slots.length - 1;
    let at = hash & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = entry;
  }

  #grow(): void {
    const room = this.#hashes.length * 2;
    this.#hashes = copied(this.#hashes, room);
    this.#numbers = copied(this.#numbers, room);
    this.#lengths = copied(this.#lengths, room);
    this.#begins = copied(this.#begins, room + 1);
    this.#slots = new Int32Array(room * 2);
    for (let entry = 0; entry < this.#entries; entry++) {
      this.#place(this.#hashes[entry] ?? 0, entry + 1);
    }
  }
}

function copied(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array);
  return larger;
}

function hashOf(bytes: DataView, from: number, to: number): number {
  let hash = to - from;
  let at = from;
  for (; at + 4 <= to; at += 4) hash = mixed(hash, bytes.getInt32(at, true));
  if (at < to) hash = mixed(hash, bytes.getInt32(at, true) & tailMask(to - at));
  return hash;
}

function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1);
  return product ^ (product >>> 15);
}
