// Where does this message end? RFC 9112 section 6.3, decided in one place for both readers, because every request smuggling
// that ever was is two programs answering this question differently.
//
//   the fields say                      request                 response
//   ──────────────────────────────────  ──────────────────────  ──────────────────────────────
//   (HEAD, 1xx, 204, 304)               –                       no body, whatever the fields say
//   (2xx to CONNECT, 101)               –                       no body, then not HTTP any more
//   Transfer-Encoding and C-Length      400                     error
//   Transfer-Encoding in HTTP/1.0       400                     error
//   Transfer-Encoding: chunked          chunked                 chunked
//   chunked twice, not last, not alone  400, unknown: 501       error
//   Content-Length, or equal ones       so many bytes           so many bytes
//   Content-Lengths that differ, or none 400                    error
//   neither                             no body                 until the peer closes
//
// Stricter than the RFC in two places: a tab after the last coding is refused, because not everybody takes it for white
// space; and a response whose last coding is not chunked might be read until close, but nobody here
// could decode it, and a gateway that passed it on would have to lie about it.

import { ascii, cr, isDigit, lowerToken, sameToken, tab } from './bytes.ts';
import type { WireError } from './events.ts';
import { elementEnd, elementStart, type FieldBlock, trimmedEnd } from './field-block.ts';
import { FieldNames } from './field-names.ts';

export class Framing {
  contentLength: number | undefined;
  chunked = false;
  close = false;
  keepAlive = false;
  upgrade = false;
  expectsContinue = false;
  hosts = 0;
  /** The last field of the name, −1 for none. */
  hostField = -1;
  upgradeField = -1;
  /** For each watched name the first field that has it, −1 for none. */
  watchedFields: Int32Array;
  readonly #watched: readonly Uint8Array[];
  #codings = 0;
  #chunkedCodings = 0;
  #lastIsChunked = false;
  #error: WireError | undefined;

  constructor(watched: readonly string[]) {
    this.#watched = watched.map(ascii);
    this.watchedFields = new Int32Array(watched.length);
  }

  /** What was read, to be kept. */
  copy(): Framing {
    const copy = new Framing([]);
    copy.contentLength = this.contentLength;
    copy.chunked = this.chunked;
    copy.close = this.close;
    copy.keepAlive = this.keepAlive;
    copy.upgrade = this.upgrade;
    copy.expectsContinue = this.expectsContinue;
    copy.hosts = this.hosts;
    copy.hostField = this.hostField;
    copy.upgradeField = this.upgradeField;
    copy.watchedFields = this.watchedFields.slice();
    copy.#codings = this.#codings;
    copy.#chunkedCodings = this.#chunkedCodings;
    copy.#lastIsChunked = this.#lastIsChunked;
    return copy;
  }

  /** Hot. Reads what the fields say about the message as a whole. */
  read(block: FieldBlock): WireError | undefined {
    this.#clear();
    const { bytes } = block;
    for (let field = 0; field < block.count; field++) {
      const from = block.nameFrom(field);
      const to = block.nameTo(field);
      // A name's length tells nearly all names apart; only those of the right length are compared.
      switch (to - from) {
        case 4:
          if (sameToken(bytes, from, to, names.host)) {
            this.hosts++;
            this.hostField = field;
          }
          break;
        case 6:
          if (sameToken(bytes, from, to, names.expect)) this.#readExpect(block, field);
          break;
        case 7:
          if (sameToken(bytes, from, to, names.upgrade)) this.upgradeField = field;
          break;
        case 10:
          if (sameToken(bytes, from, to, names.connection)) this.#readConnection(block, field);
          break;
        case 14:
          if (sameToken(bytes, from, to, names.contentLength)) this.#readLength(block, field);
          break;
        case 17:
          if (sameToken(bytes, from, to, names.transferEncoding)) this.#readCodings(block, field);
          break;
        default:
      }
      for (let index = 0; index < this.#watched.length; index++) {
        const name = this.#watched[index];
        if (name !== undefined && this.watchedFields[index] === -1 && sameToken(bytes, from, to, name)) {
          this.watchedFields[index] = field;
        }
      }
    }
    return this.#error;
  }

  /** Do codings and lengths agree on one end of the message? `bad` is the status for a message that contradicts itself. */
  judge(minorVersion: 0 | 1, bad: 400 | 502): WireError | undefined {
    if (this.#codings === 0) return undefined;
    if (this.contentLength !== undefined) {
      return { kind: 'smuggling', status: bad, message: 'both Transfer-Encoding and Content-Length' };
    }
    if (minorVersion === 0) {
      return { kind: 'smuggling', status: bad, message: 'Transfer-Encoding in HTTP/1.0' };
    }
    if (this.#chunkedCodings > 1 || !this.#lastIsChunked) {
      const message = 'chunked must be the last transfer coding, once';
      return this.#chunkedCodings === 0 && bad === 502
        ? { kind: 'unsupported-coding', status: bad, message: 'a transfer coding other than chunked' }
        : { kind: 'smuggling', status: bad, message };
    }
    if (this.#codings > 1) {
      const status = bad === 400 ? 501 : bad;
      return { kind: 'unsupported-coding', status, message: 'a transfer coding other than chunked' };
    }
    return undefined;
  }

  #clear(): void {
    this.contentLength = undefined;
    this.chunked = false;
    this.close = false;
    this.keepAlive = false;
    this.upgrade = false;
    this.expectsContinue = false;
    this.hosts = 0;
    this.hostField = -1;
    this.upgradeField = -1;
    this.watchedFields.fill(-1);
    this.#codings = 0;
    this.#chunkedCodings = 0;
    this.#lastIsChunked = false;
    this.#error = undefined;
  }

  /** `5`, and also `5, 5` and two fields that say 5: the RFC lets equal valid ones stand for one. */
  #readLength(block: FieldBlock, field: number): void {
    const { bytes } = block;
    const to = block.valueTo(field);
    let from = block.valueFrom(field);
    do {
      const stop = elementEnd(bytes, from, to);
      const length = decimal(bytes, from, trimmedEnd(bytes, from, stop));
      if (length === undefined) this.#fail('bad-length', 'Content-Length is not a number of bytes');
      else if (this.contentLength !== undefined && this.contentLength !== length) {
        this.#fail('bad-length', 'Content-Lengths that differ');
      }
      this.contentLength = length;
      if (stop === to) return;
      from = elementStart(bytes, stop, to);
    } while (this.#error === undefined);
  }

  #readCodings(block: FieldBlock, field: number): void {
    const { bytes } = block;
    const to = block.valueTo(field);
    let from = block.valueFrom(field);
    // A tab behind the last coding is white space to the RFC, and part of an unknown coding to llhttp and others.
    for (let at = to; bytes[at] !== cr; at++) {
      if (bytes[at] === tab) this.#fail('smuggling', 'a tab after the transfer coding');
    }
    do {
      const stop = elementEnd(bytes, from, to);
      const end = trimmedEnd(bytes, from, stop);
      if (!isToken(bytes, from, end)) this.#fail('smuggling', 'Transfer-Encoding is not a list of codings');
      this.#codings++;
      this.#lastIsChunked = sameToken(bytes, from, end, names.chunked);
      if (this.#lastIsChunked) this.#chunkedCodings++;
      this.chunked = this.#lastIsChunked;
      if (stop === to) return;
      from = elementStart(bytes, stop, to);
    } while (this.#error === undefined);
  }

  #readConnection(block: FieldBlock, field: number): void {
    const { bytes } = block;
    const to = block.valueTo(field);
    for (let from = block.valueFrom(field); from < to;) {
      const stop = elementEnd(bytes, from, to);
      const end = trimmedEnd(bytes, from, stop);
      if (sameToken(bytes, from, end, names.keepAlive)) this.keepAlive = true;
      else if (sameToken(bytes, from, end, names.close)) this.close = true;
      else if (sameToken(bytes, from, end, names.upgrade)) this.upgrade = true;
      else if (endToEnd.has(bytes, from, end)) {
        this.#fail('smuggling', 'Connection names a field that is not for this hop alone');
      } else block.connectionNamesOthers = true;
      from = elementStart(bytes, stop, to);
    }
  }

  #readExpect(block: FieldBlock, field: number): void {
    this.expectsContinue = sameToken(block.bytes, block.valueFrom(field), block.valueTo(field), names.continue);
  }

  #fail(kind: 'bad-length' | 'smuggling', message: string): void {
    this.#error ??= { kind, status: 400, message };
  }
}

/** Digits only, at least one, at most 2^53 − 1 in value; undefined for anything else. Signs, `0x`, `_`, fractions and
 * exponents are what lenient number readers trip over; a leading zero is just a zero, never octal. */
export function decimal(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (from >= to) return undefined;
  let value = 0;
  for (let at = from; at < to; at++) {
    const code = bytes[at] ?? 0;
    if (!isDigit(code)) return undefined;
    value = value * 10 + (code - 0x30);
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
  }
  return value;
}

function isToken(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (lowerToken[bytes[at] ?? 0] === 0) return false;
  return from < to;
}

const names = {
  host: ascii('host'),
  expect: ascii('expect'),
  upgrade: ascii('upgrade'),
  connection: ascii('connection'),
  contentLength: ascii('content-length'),
  transferEncoding: ascii('transfer-encoding'),
  keepAlive: ascii('keep-alive'),
  close: ascii('close'),
  chunked: ascii('chunked'),
  continue: ascii('100-continue'),
} as const;

/** A client that could have these removed on the way would make the next hop see another message, or another sender. */
const endToEnd = new FieldNames([
  'host',
  'content-length',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'authorization',
  'cookie',
]);
