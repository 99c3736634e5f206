// Answers that have been read before. A server under test mostly says the same thing: the same head (but for the second in Date)
// and the same small body. Equal bytes mean equal things, so a chunk that equals one that was read as a whole answer needs no
// reading, which takes some four hundred nanoseconds.
//
// Of an answer whose head says how long its body is, only the head is compared: the body is counted by its length and not looked
// at. And it is compared eight bytes at a time, as numbers. (Whole answers of 270 bytes through the C library were 6 % of a request,
// less for comparing them than for the way there; so were as many bytes by a DataView.) As a number 0 equals −0, and not a
// number equals nothing: no head has eight zero bytes, a body's may differ in what nobody looks at, and what is not found is read.
//
// A handful of answers are kept, the oldest replaced by the next new one: that is enough for as many replicas. Where answers are
// never alike the attempt is given up, so that it costs nothing.
//
// Hot: `find` allocates nothing; `learn` copies.

import type { ReadyRequest } from './request-bytes.ts';

/** What reading the answer came to. */
export interface KnownAnswer {
  readonly status: number;
  readonly replica: number | undefined;
}

interface Entry extends KnownAnswer {
  readonly method: string;
  /** Of the whole answer. */
  readonly length: number;
  /** What is compared: the beginning of the answer, or all of it. */
  readonly bytes: Uint8Array;
  readonly words: Float64Array;
}

const entriesMax = 8;
/** Longer answers are mostly body, which is not read byte by byte anyway. */
const bytesMax = 2048;
/** A hit is worth this many misses. */
const hitWorth = 4;
/** After so many more misses than hits pay for, we give up. */
const patience = 512;

export class KnownAnswers {
  readonly #entries: Entry[] = [];
  #oldest = 0;
  #credit = patience;
  /** The last view over the memory that chunks come from: engines lend parts of few buffers. */
  #lent: Float64Array = new Float64Array(0);

  /** The answer that these bytes are, if they were read before as the whole answer to a request of this method. */
  find(bytes: Uint8Array, { method }: Pick<ReadyRequest, 'method'>): KnownAnswer | undefined {
    if (this.#credit <= 0) return undefined;
    for (const entry of this.#entries) {
      if (entry.length !== bytes.length || entry.method !== method) continue;
      if (!this.#begins(bytes, entry)) continue;
      if (this.#credit < patience) this.#credit += hitWorth;
      return entry;
    }
    this.#credit -= 1;
    return undefined;
  }

  /** These bytes were the whole answer, nothing before and nothing after, on a connection that may be used again. The first `told`
   * of them say everything about it but what the body is. */
  learn(
    bytes: Uint8Array,
    told: number,
    { method }: Pick<ReadyRequest, 'method'>,
    { status, replica }: KnownAnswer,
  ): void {
    if (this.#credit <= 0 || bytes.length > bytesMax) return;
    const compared = copyOf(bytes, told);
    const words = new Float64Array(compared.buffer, 0, compared.length >> 3);
    this.#entries[this.#oldest] = { method, length: bytes.length, bytes: compared, words, status, replica };
    this.#oldest = (this.#oldest + 1) % entriesMax;
  }

  /** Hot. Do the bytes begin with what is compared? They are at least as long. */
  #begins(bytes: Uint8Array, { bytes: known, words }: Entry): boolean {
    const from = bytes.byteOffset;
    // Engines lend from the beginning of a cache line. Of others only the last few bytes would be compared in this way.
    const whole = (from & 7) === 0 ? words.length : 0;
    if (whole > 0) {
      if (this.#lent.buffer !== bytes.buffer)
        this.#lent = new Float64Array(bytes.buffer, 0, bytes.buffer.byteLength >> 3);
      const lent = this.#lent;
      const first = from >> 3;
      for (let word = 0; word < whole; word++) if (lent[first + word] !== words[word]) return false;
    }
    for (let at = whole * 8; at < known.length; at++) if (bytes[at] !== known[at]) return false;
    return true;
  }
}

/** A copy whose memory is its own: `slice` of a Buffer is a view of the memory that was lent. */
const copyOf = (bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(0, length));
