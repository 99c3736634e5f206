// Hands the lines of a file to its reader, piece by piece, so that a log may be larger than memory: what is kept is the line
// that is not yet complete. A line longer than a mebibyte is nobody's; it is counted as foreign and dropped.
//
// Hot: the loop over lines. Where the reader takes bytes, no string is made.

import type { LineReader } from './parse/format.ts';
import type { Sink } from './parse/sink.ts';
import type { Unwrap } from './parse/wrapping.ts';

const newline = 10;
const carriageReturn = 13;
const lineMax = 1 << 20;

export class LineFeeder {
  readonly #reader: LineReader;
  readonly #sink: Sink;
  readonly #unwrap: Unwrap | undefined;
  /** The beginning of a line whose end is in the next piece. */
  #begun: Buffer = Buffer.alloc(0);
  #number = 0;
  #taken = 0;

  constructor(reader: LineReader, sink: Sink, unwrap: Unwrap | undefined) {
    this.#reader = reader;
    this.#sink = sink;
    this.#unwrap = unwrap;
  }

  /** The next bytes of the file. They may be reused afterwards. */
  feed(piece: Buffer): void {
    let at = 0;
    if (this.#begun.length > 0) {
      const end = piece.indexOf(newline);
      const own = end === -1 ? piece : piece.subarray(0, end);
      // What is too long already stays cut.
      this.#begun = this.#begun.length > lineMax ? this.#begun : Buffer.concat([this.#begun, own]);
      if (end === -1) return;
      const line = this.#begun;
      this.#begun = Buffer.alloc(0);
      this.#line(line, 0, line.length);
      at = end + 1;
    }
    for (;;) {
      const end = piece.indexOf(newline, at);
      if (end === -1) break;
      this.#line(piece, at, end);
      at = end + 1;
    }
    if (at < piece.length) this.#begun = Buffer.from(piece.subarray(at));
  }

  /** After the last piece. */
  end(): void {
    if (this.#begun.length > 0) this.#line(this.#begun, 0, this.#begun.length);
    this.#sink.understood(this.#taken);
    this.#reader.end?.();
  }

  #line(bytes: Buffer, from: number, next: number): void {
    const to = next > from && bytes[next - 1] === carriageReturn ? next - 1 : next;
    this.#number += 1;
    if (to === from) return;
    if (this.#unwrap === undefined && this.#reader.take?.(bytes, from, to) === true) this.#taken += 1;
    else if (to - from > lineMax) this.#sink.foreign(this.#number, bytes.toString('utf8', from, from + 160));
    else this.#slowLine(bytes.toString('utf8', from, to));
  }

  #slowLine(line: string): void {
    const inner = this.#unwrap === undefined ? line : this.#unwrap(line);
    if (this.#unwrap !== undefined) {
      const bytes = Buffer.from(inner);
      if (this.#reader.take?.(bytes, 0, bytes.length) === true) {
        this.#taken += 1;
        return;
      }
    }
    if (inner === '' || this.#reader.line(inner, this.#number)) this.#sink.understood();
    else this.#sink.foreign(this.#number, inner);
  }
}
