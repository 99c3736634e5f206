// Where bytes wait to be sent. A write is copied into a chunk; the kernel reads the chunk while its send is in flight; then the
// chunk goes back. Small ones come from a pool that hands out the one returned last, which is still in the processor's
// cache: since most sends complete inside the `enter` that submits them, a thousand sockets get by with the chunks of one turn.

import type { Foreign } from './libc.ts';

/** Most requests and responses fit into one. */
const smallBytes = 2048;
/** Whatever does not, goes out in pieces of this size, or, when it was written in one, as it is. */
const largeBytes = 64 * 1024;
const smallOfOneSlab = 64;
const sparesMax = 4096;

export class Chunk {
  readonly bytes: Uint8Array;
  readonly address: number;
  /** What is to be sent: from `start` up to `end`. */
  start = 0;
  end = 0;

  constructor(bytes: Uint8Array, address: number) {
    this.bytes = bytes;
    this.address = address;
  }

  get room(): number {
    return this.bytes.length - this.end;
  }

  /** Hot. Copies `bytes` from `from` on, as many as fit; returns where it stopped. */
  fill(bytes: Uint8Array, from: number): number {
    const count = Math.min(this.room, bytes.length - from);
    if (count <= 64)
      for (let index = 0; index < count; index++) this.bytes[this.end + index] = bytes[from + index] ?? 0;
    else this.bytes.set(count === bytes.length ? bytes : bytes.subarray(from, from + count), this.end);
    this.end += count;
    return from + count;
  }
}

/** What is sent from where it was received. Like a chunk, but nothing can be added, and the bytes are held and not owned. */
export class Loan {
  readonly buffer: number;
  readonly bytes: Uint8Array;
  readonly address: number;
  start = 0;
  readonly end: number;

  constructor(buffer: number, bytes: Uint8Array, address: number) {
    this.buffer = buffer;
    this.bytes = bytes;
    this.address = address;
    this.end = bytes.length;
  }
}

/** What goes out in one send, with others of its kind. */
export type Piece = Chunk | Loan;

export class SendChunks {
  readonly #foreign: Foreign;
  readonly #small: Chunk[] = [];
  readonly #large: Chunk[] = [];

  constructor(foreign: Foreign) {
    this.#foreign = foreign;
  }

  /** An empty chunk, large enough to begin with so many bytes. */
  take(bytes: number): Chunk {
    if (bytes <= smallBytes) {
      const spare = this.#small.pop();
      if (spare !== undefined) return spare;
      return this.#slab();
    }
    if (bytes <= largeBytes) return this.#large.pop() ?? this.#make(new Uint8Array(largeBytes));
    return this.#make(new Uint8Array(bytes));
  }

  giveBack(chunk: Chunk): void {
    chunk.start = 0;
    chunk.end = 0;
    if (chunk.bytes.length === smallBytes) {
      if (this.#small.length < sparesMax) this.#small.push(chunk);
    } else if (chunk.bytes.length === largeBytes && this.#large.length < sparesMax / 64) this.#large.push(chunk);
  }

  #slab(): Chunk {
    const slab = new Uint8Array(smallBytes * smallOfOneSlab);
    const address = this.#foreign.addressOf(slab);
    for (let index = 1; index < smallOfOneSlab; index++) {
      const from = index * smallBytes;
      this.#small.push(new Chunk(slab.subarray(from, from + smallBytes), address + from));
    }
    return new Chunk(slab.subarray(0, smallBytes), address);
  }

  #make(bytes: Uint8Array): Chunk {
    return new Chunk(bytes, this.#foreign.addressOf(bytes));
  }
}
