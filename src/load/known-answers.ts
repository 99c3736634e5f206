// Answers that have been read before. A server under test mostly says the same thing: the same head (but for the second in Date)
// and the same small body. Equal bytes mean equal things, so a chunk that equals, byte for byte, one that was read as a whole
// answer needs no reading: the comparison is one call into the C library, the reading some four hundred nanoseconds.
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
  readonly bytes: Uint8Array;
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

  /** The answer that these bytes are, if they were read before as the whole answer to a request of this method. */
  find(bytes: Uint8Array, { method }: Pick<ReadyRequest, 'method'>): KnownAnswer | undefined {
    if (this.#credit <= 0) return undefined;
    for (const entry of this.#entries) {
      if (entry.bytes.length !== bytes.length || entry.method !== method) continue;
      if (Buffer.compare(entry.bytes, bytes) !== 0) continue;
      if (this.#credit < patience) this.#credit += hitWorth;
      return entry;
    }
    this.#credit -= 1;
    return undefined;
  }

  /** These bytes were the whole answer, nothing before and nothing after, on a connection that may be used again. */
  learn(bytes: Uint8Array, { method }: Pick<ReadyRequest, 'method'>, { status, replica }: KnownAnswer): void {
    if (this.#credit <= 0 || bytes.length > bytesMax) return;
    // A copy: `slice` of a Buffer is a view of the memory that was lent.
    this.#entries[this.#oldest] = { method, bytes: new Uint8Array(bytes), status, replica };
    this.#oldest = (this.#oldest + 1) % entriesMax;
  }
}
