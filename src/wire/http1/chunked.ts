// The chunked coding (RFC 9112 section 7.1) as a machine of single bytes, so that a chunk may be cut anywhere.
//
//   size ──digit──► size ──CRLF──► data ──CRLF──► size …            last chunk: 0+ CRLF, then trailers (the reader's business)
//                     └──;──► extension ──CRLF──► data
//
// A size is one to sixteen hexadecimal digits of at most 2^53 − 1: no sign, no 0x, no underscore, no space, for each of these
// is read by some number parser somewhere as another length. Extensions are checked for their grammar and forgotten. A line
// ends in CRLF and nothing else.

import { cr, hexValue, lf, lowerToken, semicolon, tab } from './bytes.ts';
import type { WireError } from './events.ts';

export class Chunked {
  /** After `read`: the bytes just before the returned position that are body. */
  piece = 0;
  failure: WireError | undefined;
  #state: State = 'size';
  /** Of the size: digits seen. */
  #digits = 0;
  /** Of the chunk: bytes still to come. */
  #remaining = 0;
  #extensionBytes = 0;
  readonly #maxExtensionBytes: number;

  constructor(maxExtensionBytes: number) {
    this.#maxExtensionBytes = maxExtensionBytes;
  }

  /** The last chunk has been read; trailers and the empty line follow. */
  get finished(): boolean {
    return this.#state === 'finished';
  }

  begin(): void {
    this.#state = 'size';
    this.#digits = 0;
    this.#remaining = 0;
    this.#extensionBytes = 0;
    this.piece = 0;
    this.failure = undefined;
  }

  /** Hot. Reads up to the end of the next piece of body, the end of the last chunk, or the end of the bytes. */
  read(bytes: Uint8Array, from: number, end: number): number {
    this.piece = 0;
    let at = from;
    while (at < end && this.failure === undefined) {
      if (this.#state === 'data') {
        this.piece = Math.min(this.#remaining, end - at);
        this.#remaining -= this.piece;
        if (this.#remaining === 0) this.#state = 'data-cr';
        return at + this.piece;
      }
      this.#step(bytes[at++] ?? 0);
      if (this.#state === 'finished') return at;
    }
    return at;
  }

  #step(code: number): void {
    switch (this.#state) {
      case 'size':
        this.#size(code);
        break;
      case 'size-lf':
        if (code !== lf) this.#fail('a chunk size must end in CRLF');
        else this.#state = this.#remaining === 0 ? 'finished' : 'data';
        break;
      case 'data-cr':
        if (code !== cr) this.#fail('chunk data longer than its size says');
        else this.#state = 'data-lf';
        break;
      case 'data-lf':
        if (code !== lf) this.#fail('chunk data must end in CRLF');
        else this.#state = 'size';
        this.#digits = 0;
        break;
      default:
        this.#extension(code);
    }
  }

  #size(code: number): void {
    const value = hexValue[code] ?? 255;
    if (value < 16) {
      if (this.#digits === 0) this.#remaining = 0;
      this.#digits++;
      this.#remaining = this.#remaining * 16 + value;
      if (this.#digits > 16 || this.#remaining > Number.MAX_SAFE_INTEGER) this.#fail('a chunk size beyond 2^53 - 1');
    } else if (this.#digits === 0) this.#fail('a chunk without a size');
    else if (code === cr) this.#state = 'size-lf';
    else if (code === semicolon) this.#state = 'extension-name-start';
    else this.#fail('a chunk size is hexadecimal digits and nothing else');
  }

  /** chunk-ext = *( ";" token [ "=" ( token / quoted-string ) ] ), without the white space that the RFC calls bad. */
  #extension(code: number): void {
    if (++this.#extensionBytes > this.#maxExtensionBytes) return this.#fail('chunk extensions too long', 413);
    const token = lowerToken[code] !== 0;
    switch (this.#state) {
      case 'extension-name-start':
        if (token) this.#state = 'extension-name';
        else this.#fail('a chunk extension without a name');
        break;
      case 'extension-name':
        if (token) break;
        if (code === 0x3d) this.#state = 'extension-value-start';
        else this.#extensionEnd(code);
        break;
      case 'extension-value-start':
        if (token) this.#state = 'extension-value';
        else if (code === 0x22) this.#state = 'extension-quoted';
        else this.#fail('a chunk extension without a value');
        break;
      case 'extension-value':
        if (!token) this.#extensionEnd(code);
        break;
      case 'extension-quoted':
        if (code === 0x22) this.#state = 'extension-quoted-end';
        else if (code === 0x5c) this.#state = 'extension-quoted-pair';
        else if (!isQuotable(code)) this.#fail('a control character in a chunk extension');
        break;
      case 'extension-quoted-pair':
        if (isQuotable(code)) this.#state = 'extension-quoted';
        else this.#fail('a control character in a chunk extension');
        break;
      default:
        this.#extensionEnd(code);
    }
    return undefined;
  }

  #extensionEnd(code: number): void {
    if (code === cr) this.#state = 'size-lf';
    else if (code === semicolon) this.#state = 'extension-name-start';
    else this.#fail('a chunk extension is `;name` or `;name=value`');
  }

  #fail(message: string, status = 400): void {
    this.failure = { kind: 'bad-chunk', status, message };
  }
}

type State =
  | 'size'
  | 'size-lf'
  | 'extension-name-start'
  | 'extension-name'
  | 'extension-value-start'
  | 'extension-value'
  | 'extension-quoted'
  | 'extension-quoted-pair'
  | 'extension-quoted-end'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'finished';

const isQuotable = (code: number): boolean => code === tab || (code >= 0x20 && code !== 0x7f);
