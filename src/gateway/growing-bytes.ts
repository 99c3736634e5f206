// Bytes that are being put together for one write. The array grows by doubling and is used again and again, so that a head
// of the usual size costs no allocation.
//
// Hot: everything here.

import { writeBytes, writeChunkSize, writeDecimal, writeText } from '../wire.ts';

/** More than a whole number below 2^53 has, with a line end. */
const digitsMax = 20;
const keptViewMax = 1024;

export class GrowingBytes {
  array: Uint8Array;
  length = 0;
  #views: (Uint8Array | undefined)[] = [];

  constructor(capacity: number) {
    this.array = new Uint8Array(capacity);
  }

  /** Makes room for `more` bytes beyond `length`. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.array.length) return;
    const larger = new Uint8Array(Math.max(needed, this.array.length * 2));
    larger.set(this.array.subarray(0, this.length));
    this.array = larger;
    this.#views = [];
  }

  /** Text whose characters are bytes (ISO 8859-1), as field values are. */
  text(text: string): void {
    this.reserve(text.length);
    this.length = writeText(this.array, this.length, text);
  }

  bytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.length = writeBytes(this.array, this.length, bytes);
  }

  piece(bytes: Uint8Array, from: number, to: number): void {
    this.bytes(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
  }

  /** A whole number in decimal digits. */
  decimal(value: number): void {
    this.reserve(digitsMax);
    this.length = writeDecimal(this.array, this.length, value);
  }

  /** The line that begins a chunk of `size` bytes. */
  chunkSize(size: number): void {
    this.reserve(digitsMax);
    this.length = writeChunkSize(this.array, this.length, size);
  }

  /** Everything from `from` on, lent until the next change. A view of the whole is made once for each short length, since
   * messages of one kind have few lengths and a view costs some 60 ns. */
  view(from = 0): Uint8Array {
    const { length } = this;
    if (from > 0 || length > keptViewMax) return this.array.subarray(from, length);
    return (this.#views[length] ??= this.array.subarray(0, length));
  }
}
