// Hands the lines of a file to its reader, piece by piece, so that a log may be larger than memory: what is kept is the line
// that is not yet complete. A line longer than a mebibyte is nobody's; it is counted as foreign and dropped.
//
// Hot: the loop over lines. Where the reader takes bytes, no string is made, and the search for a line's end tells as well that
// the line is printable ASCII, which spares the reader every other thought (30 ns a line against 20 for a bare search).

import { findUnprintable, lineBytes, slack } from './parse/byte-words.ts';
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
      this.#otherLine(this.#begun, 0, lineEnd(this.#begun, 0, this.#begun.length));
      this.#begun = Buffer.alloc(0);
      at = end + 1;
    }
    at = this.#lines(piece, at);
    if (at < piece.length) this.#begun = Buffer.from(piece.subarray(at));
  }

  /** After the last piece. */
  end(): void {
    if (this.#begun.length > 0) this.#otherLine(this.#begun, 0, lineEnd(this.#begun, 0, this.#begun.length));
    this.#sink.understood(this.#taken);
    this.#reader.end?.();
  }

  /** All lines that are complete. Where the next one begins. */
  #lines(piece: Buffer, from: number): number {
    const bytes = new DataView(piece.buffer, piece.byteOffset, piece.length);
    // Nearer to the end of a piece no line is read in place.
    const placeMax = piece.length - slack;
    for (let at = from; ;) {
      const printableTo = at < placeMax ? findUnprintable(bytes, at, placeMax) : at;
      const next = piece[printableTo] === newline ? printableTo : piece.indexOf(newline, printableTo);
      if (next === -1) return at;
      const to = lineEnd(piece, at, next);
      if (to !== printableTo) this.#otherLine(piece, at, to);
      else this.#printableLine(piece, bytes, at, to);
      at = next + 1;
    }
  }

  #printableLine(piece: Buffer, bytes: DataView, from: number, to: number): void {
    if (this.#unwrap !== undefined || to - from > lineMax) this.#otherLine(piece, from, to);
    else if (to > from && this.#reader.take?.(bytes, from, to) === true) {
      this.#number += 1;
      this.#taken += 1;
    } else {
      this.#number += 1;
      if (to > from) this.#slowLine(piece.toString('latin1', from, to));
    }
  }

  /** One that stands within something, between two pieces, or has more than printable ASCII. */
  #otherLine(piece: Buffer, from: number, to: number): void {
    this.#number += 1;
    if (to === from) return;
    if (to - from > lineMax) {
      this.#sink.foreign(this.#number, piece.toString('utf8', from, from + 160));
      return;
    }
    const line = piece.toString('utf8', from, to);
    const inner = this.#unwrap === undefined ? line : this.#unwrap(line);
    const isPrintable = this.#reader.take !== undefined && /^[ -~]+$/.test(inner);
    if (isPrintable && this.#reader.take?.(lineBytes(inner), 0, inner.length) === true) this.#taken += 1;
    else this.#slowLine(inner);
  }

  #slowLine(line: string): void {
    if (line === '' || this.#reader.line(line, this.#number)) this.#sink.understood();
    else this.#sink.foreign(this.#number, line);
  }
}

/** Where a line ends that has its newline here. */
function lineEnd(piece: Buffer, from: number, next: number): number {
  return next > from && piece[next - 1] === carriageReturn ? next - 1 : next;
}
