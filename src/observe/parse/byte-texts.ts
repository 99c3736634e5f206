// Texts by number, straight from bytes: the same columns as `texts.ts`, without making a string for a text that is known.
//
// Hot: four or five times a line. A hash over the bytes, four at a time; an open table; a copy of the bytes of each text to
// compare with. Only a text that was never seen becomes a string.

import type { Texts } from './texts.ts';

const dash = 45;

export class ByteTexts {
  readonly #texts: Texts;
  /** Entry by slot, plus one; 0 is free. Twice as many slots as entries, at least. */
  #slots = new Int32Array(256);
  #hashes = new Int32Array(128);
  #numbers = new Int32Array(128);
  #begins = new Int32Array(129);
  #arena = new Uint8Array(4096);
  #entries = 0;
  /** The entry that was found last. */
  #last = 0;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  /** The number of the text in these bytes; −1 for none (`from` is −1) and for a dash. */
  intern(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from;
    if (from < 0 || length <= 0 || (length === 1 && bytes[from] === dash)) return -1;
    // Many columns say the same for many lines.
    if (this.#entries > 0 && this.#equals(this.#last, bytes, from, length)) return this.#numbers[this.#last] ?? -1;
    const hash = hashOf(bytes, from, to);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = (this.#slots[slot] ?? 0) - 1;
      if (entry === -1) return this.#add(bytes, from, to, hash);
      if (this.#hashes[entry] === hash && this.#equals(entry, bytes, from, length)) {
        this.#last = entry;
        return this.#numbers[entry] ?? -1;
      }
      slot = (slot + 1) & mask;
    }
  }

  #equals(entry: number, bytes: Uint8Array, from: number, length: number): boolean {
    const begin = this.#begins[entry] ?? 0;
    if ((this.#begins[entry + 1] ?? 0) - begin !== length) return false;
    const arena = this.#arena;
    // From the end: addresses and paths of one log differ there.
    for (let at = length - 1; at >= 0; at--) if (arena[begin + at] !== bytes[from + at]) return false;
    return true;
  }

  #add(bytes: Uint8Array, from: number, to: number, hash: number): number {
    // When no more texts are taken, no more need be known either.
    if (this.#texts.isFull) return this.#texts.others;
    const number = this.#texts.intern(textOf(bytes, from, to));
    if (this.#entries + 1 >= this.#hashes.length) this.#grow();
    const begin = this.#begins[this.#entries] ?? 0;
    if (begin + to - from > this.#arena.length) {
      const larger = new Uint8Array(Math.max(this.#arena.length * 2, begin + to - from));
      larger.set(this.#arena);
      this.#arena = larger;
    }
    this.#arena.set(bytes.subarray(from, to), begin);
    this.#hashes[this.#entries] = hash;
    this.#numbers[this.#entries] = number;
    this.#begins[this.#entries + 1] = begin + to - from;
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

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  let at = from;
  for (; at + 3 < to; at += 4) {
    const four =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    hash = Math.imul(hash ^ four, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

/** The text of bytes that are ASCII; others are read as UTF-8 as far as it goes. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > 127) return decoded(bytes, from, to);
    text += String.fromCharCode(byte);
  }
  return text;
}

/** UTF-8 without a decoder of the platform, which a pure file does not have: through the escapes of an address. */
function decoded(bytes: Uint8Array, from: number, to: number): string {
  let escaped = '';
  for (let at = from; at < to; at++) escaped += `%${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return Array.from(bytes.subarray(from, to), (byte) => (byte > 127 ? '\uFFFD' : String.fromCharCode(byte))).join('');
  }
}
