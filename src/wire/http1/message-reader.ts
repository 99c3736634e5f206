// What requests and responses have in common: lines until an empty one, then a body of one of four kinds, then the next.
// The two sides differ in their first line and in how they frame the body; they say so through `Side`.
//
//            ┌──────────────────────── next message ───────────────────────┐
//            ▼                                                             │
//   idle ─► head ─┬─ 1xx: head again                                       │
//                 ├─ no body ──────────────────────────────────────────────┤
//                 ├─ length ── so many bytes ──────────────────────────────┤
//                 ├─ chunked ─ chunks ─ trailers ──────────────────────────┤
//                 ├─ until close ─ eof ────────────────────────────────────┘
//                 └─ other: the bytes are not HTTP any more
//
// The fast path is a head that lies whole in one chunk: it is scanned once, in place, and nothing is allocated. A head that
// is cut is moved to a buffer of its own (`#carry`) and goes on there.
//
// When is a line judged? When its LF has come, never earlier, also if the bytes before it are already hopeless. So it makes
// no difference where the stream was cut, and the same bytes always give the same events. (One exception, for both paths
// alike: a first byte that no message begins with is refused at once, since a peer that speaks TLS may never send an LF.)

import { assert } from '../../base.ts';
import { colon, cr, lf, lowerToken, space, tab } from './bytes.ts';
import { Chunked } from './chunked.ts';
import type { Fields, Limits, WireError, WireErrorKind } from './events.ts';
import type { FieldBlock } from './field-block.ts';
import { FieldNames } from './field-names.ts';

/** What a side answers about the body: a length of zero or more, or one of these. */
export const bodyChunked = -1;
export const bodyUntilClose = -2;
/** An interim response: another head follows. */
export const bodyInterim = -3;
/** What follows the head is not HTTP, at least until somebody says so. */
export const bodyOther = -4;
/** What `startLine` answers besides a position. */
export const lineMore = -1;
export const lineBad = -2;

export interface Side {
  /** Of a bad message on this side: 400, or 502 for a response. */
  readonly badStatus: 400 | 502;
  /** Requests may be preceded by empty lines, RFC 9112 section 2.2. */
  readonly emptyLinesFirst: boolean;
  /** White space between a field's name and the colon: requests are refused, responses repaired, RFC 9112 section 5.1. */
  readonly blankBeforeColon: boolean;
  /** The first byte of a message has come. */
  begin(): WireError | undefined;
  /** Can a message start like this? Called with the first bytes that have come. */
  plausible(bytes: Uint8Array, from: number, end: number): boolean;
  /** Hot. Reads the first line; returns the position after its CRLF, `lineMore` or `lineBad`. */
  startLine(bytes: Uint8Array, from: number, end: number): number;
  /** Why the start line is bad; asked for after `lineBad`, once the line is complete. */
  startLineError(): WireError;
  /** Hot. A head that was read before begins here: how many bytes it has. 0: it must be read. */
  recall(bytes: Uint8Array, from: number, end: number): number;
  /** Hot. The head is complete: calls onHead or onInformation and says which body follows. `length`: its bytes, when they
   * lie together in the chunk; 0 otherwise. */
  head(length: number): number | WireError;
  body(bytes: Uint8Array, from: number, to: number): void;
  trailers(fields: Fields): void;
  end(): void;
}

/** Empty lines before a request, in the hope that one follows. */
const emptyLinesMax = 8;

export class MessageReader {
  error: WireError | undefined;
  paused = false;
  /** Where the fields of a head that is read are recorded, and those of trailers. */
  readonly block: FieldBlock;
  readonly #side: Side;
  readonly #limits: Limits;
  readonly #chunked: Chunked;
  #state: 'idle' | 'head' | 'length' | 'chunked' | 'trailers' | 'until-close' | 'other' | 'failed' = 'idle';
  #remaining = 0;
  /** The beginning of a head or trailers that was cut, and how much of it there is. */
  #carry: Uint8Array = nothing;
  #carried = 0;
  /** Where the next line begins, from the beginning of the head. */
  #line = 0;
  #startLineRead = false;
  #emptyLines = 0;
  /** What was wrong with the line that `#fieldLine` called bad. */
  #badField = '';
  #reading = false;

  constructor(side: Side, limits: Limits, block: FieldBlock) {
    this.#side = side;
    this.block = block;
    this.#limits = limits;
    this.#chunked = new Chunked(limits.maxChunkExtensionBytes);
  }

  get idle(): boolean {
    return this.#state === 'idle' && this.#carried === 0;
  }

  read(bytes: Uint8Array): number {
    assert(!this.#reading, 'read is not called inside an event');
    this.#reading = true;
    const end = bytes.length;
    let at = 0;
    while (at < end && !this.paused) {
      const before = at;
      at = this.#step(bytes, at, end);
      if (this.#state === 'failed' || this.#state === 'other') break;
      assert(at > before, 'a reader moves on');
    }
    this.#reading = false;
    return at;
  }

  eof(): WireError | undefined {
    if (this.error !== undefined || this.idle || this.#state === 'other') return this.error;
    if (this.#state === 'until-close') {
      this.#finish('idle');
      return undefined;
    }
    this.fail('truncated', 'the peer closed in the middle of a message');
    return this.error;
  }

  /** The bytes are HTTP after all: a refused CONNECT. */
  resume(): void {
    this.paused = false;
    if (this.#state === 'other') this.#state = 'idle';
  }

  reset(): void {
    assert(!this.#reading, 'reset is not called inside an event');
    this.error = undefined;
    this.paused = false;
    this.#state = 'idle';
    this.#rewind();
  }

  fail(kind: WireErrorKind, message: string, status: number = this.#side.badStatus): void {
    this.failWith({ kind, status, message });
  }

  failWith(error: WireError): void {
    this.error ??= error;
    this.#state = 'failed';
  }

  #step(bytes: Uint8Array, at: number, end: number): number {
    switch (this.#state) {
      case 'idle':
      case 'head':
      case 'trailers':
        return this.#carried === 0 ? this.#inPlace(bytes, at, end) : this.#inCarry(bytes, at, end);
      case 'length': {
        const stop = Math.min(end, at + this.#remaining);
        this.#remaining -= stop - at;
        this.#side.body(bytes, at, stop);
        if (this.#remaining === 0) this.#finish('idle');
        return stop;
      }
      case 'chunked':
        return this.#chunks(bytes, at, end);
      case 'until-close':
        this.#side.body(bytes, at, end);
        return end;
      case 'other':
      case 'failed':
        return at;
      default:
        return at;
    }
  }

  #chunks(bytes: Uint8Array, at: number, end: number): number {
    const chunked = this.#chunked;
    const next = chunked.read(bytes, at, end);
    if (chunked.piece > 0) this.#side.body(bytes, next - chunked.piece, next);
    if (chunked.failure !== undefined)
      this.failWith({ ...chunked.failure, status: this.#status(chunked.failure.status) });
    else if (chunked.finished) {
      this.#state = 'trailers';
      this.#rewind();
      this.#startLineRead = true;
    }
    return next;
  }

  /** The head (or the trailers) begins in this chunk, and with luck ends in it. */
  #inPlace(bytes: Uint8Array, at: number, end: number): number {
    if (this.#state !== 'trailers') {
      const known = this.#side.recall(bytes, at, end);
      if (known > 0) return this.#known(at, known);
    }
    this.block.begin(bytes, at);
    const next = this.#lines(bytes, end);
    if (next !== lineMore) return next;
    this.#keep(bytes, this.block.base, end);
    return end;
  }

  #known(at: number, length: number): number {
    const error = this.#state === 'idle' ? this.#side.begin() : undefined;
    if (error === undefined) this.#headComplete(length);
    else this.failWith(error);
    return at + length;
  }

  /** It began in an earlier chunk: go on in a buffer of its own. New bytes are looked at when they end a line. */
  #inCarry(bytes: Uint8Array, at: number, end: number): number {
    const before = this.#carried;
    const taken = Math.min(end - at, this.#maxBytes() - before);
    this.#append(bytes, at, at + taken);
    this.block.bytes = this.#carry;
    this.block.base = 0;
    const lineEnded = includes(bytes, lf, at, at + taken);
    if (!lineEnded && this.#carried < this.#maxBytes() && (this.#startLineRead || this.#plausible())) return at + taken;
    const next = this.#lines(this.#carry, this.#carried);
    if (next === lineMore) {
      // Empty lines were skipped: what is left begins later.
      this.#keep(this.#carry, this.block.base, this.#carried);
      return at + taken;
    }
    return this.#failed() ? at : at + (next - before);
  }

  #plausible(): boolean {
    return this.#side.plausible(this.#carry, 0, this.#carried);
  }

  #keep(bytes: Uint8Array, from: number, end: number): void {
    if (from === end) {
      this.#carried = 0;
      return;
    }
    if (bytes === this.#carry) {
      this.#carry.copyWithin(0, from, end);
      this.#carried = end - from;
      return;
    }
    this.#carried = 0;
    this.#append(bytes, from, end);
  }

  #append(bytes: Uint8Array, from: number, to: number): void {
    const needed = this.#carried + (to - from);
    if (needed > this.#carry.length) {
      const larger = new Uint8Array(Math.max(needed, 512, this.#carry.length * 2));
      larger.set(this.#carry.subarray(0, this.#carried));
      this.#carry = larger;
    }
    this.#carry.set(bytes.subarray(from, to), this.#carried);
    this.#carried = needed;
  }

  /** Hot. Reads lines from `#line` on. Returns the position after the empty line that ends them, `lineMore` when it has not
   * come, or where it stood when it failed. */
  #lines(bytes: Uint8Array, end: number): number {
    const { block } = this;
    let at = block.base + this.#line;
    if (!this.#startLineRead) {
      at = this.#firstLine(bytes, at, end);
      if (at === lineMore || this.#failed()) return at;
    }
    const max = block.base + this.#maxBytes();
    for (;;) {
      this.#line = at - block.base;
      const next = this.#fieldLine(bytes, at, end);
      if (next === lineMore) {
        if (end < max) return lineMore;
        this.#tooLarge();
        return at;
      }
      if (next === lineBad) {
        if (this.#failed()) return at;
        const stop = bytes.indexOf(lf, at);
        if ((stop === -1 || stop >= end) && end < max) return lineMore;
        if (stop === -1 || stop >= max || stop >= end) this.#tooLarge();
        else this.fail('bad-field', this.#badField);
        return at;
      }
      if (next > max) {
        this.#tooLarge();
        return at;
      }
      if (next === at + 2) return this.#complete(next);
      at = next;
    }
  }

  /** The first line, after the empty ones that may precede a request. */
  #firstLine(bytes: Uint8Array, from: number, end: number): number {
    const { block } = this;
    const side = this.#side;
    let at = from;
    if (side.emptyLinesFirst) {
      while (bytes[at] === cr && at + 1 < end && bytes[at + 1] === lf) {
        at += 2;
        if (++this.#emptyLines > emptyLinesMax) {
          this.fail('bad-start-line', 'empty lines and no request');
          return at;
        }
        block.begin(bytes, at);
        this.#line = 0;
      }
      if (at === end || (bytes[at] === cr && at + 1 === end)) return lineMore;
    }
    if (this.#state === 'idle') {
      const error = side.begin();
      if (error !== undefined) {
        this.failWith(error);
        return at;
      }
      this.#state = 'head';
    }
    const max = block.base + this.#maxBytes();
    const next = side.startLine(bytes, at, end);
    if (next === lineMore || next === lineBad) {
      const plausible = side.plausible(bytes, at, end);
      const stop = plausible ? bytes.indexOf(lf, at) : at;
      const ended = stop !== -1 && stop < end && stop < max;
      if (!ended && end < max) return lineMore;
      if (!ended) this.fail('uri-too-long', 'the first line is longer than a whole head may be', this.#status(414));
      else this.failWith(side.startLineError());
      return at;
    }
    if (next > max) {
      this.fail('uri-too-long', 'the first line is longer than a whole head may be', this.#status(414));
      return at;
    }
    this.#startLineRead = true;
    return next;
  }

  /** Hot. One `name: value` CRLF. Returns the position after it; two after `from` for the empty line. */
  #fieldLine(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    while (at < end && lowerToken[bytes[at] ?? 0] !== 0) at++;
    if (at === end) return lineMore;
    const nameTo = at;
    let code = bytes[at] ?? 0;
    if (code !== colon) {
      if (at === from && code === cr) return this.#emptyLine(bytes, at, end);
      if (this.#side.blankBeforeColon && at > from) {
        while (at < end && (code === space || code === tab)) code = bytes[++at] ?? 0;
        if (at >= end) return lineMore;
      }
      if (code !== colon) return this.#bad(at === from ? 'a line that begins with no name' : 'a name that is no token');
    }
    if (nameTo === from) return this.#bad('a field without a name');
    at++;
    while (at < end && ((code = bytes[at] ?? 0) === space || code === tab)) at++;
    const valueFrom = at;
    at = textEnd(bytes, at, end);
    if (at + 1 >= end) return at < end && bytes[at] !== cr ? this.#bad('a control character in a value') : lineMore;
    if (bytes[at] !== cr || bytes[at + 1] !== lf)
      return this.#bad('a control character in a value, or a bare CR or LF');
    let valueTo = at;
    while (valueTo > valueFrom && ((code = bytes[valueTo - 1] ?? 0) === space || code === tab)) valueTo--;
    return this.#record(bytes, from, nameTo, valueFrom, valueTo, at + 2);
  }

  #record(
    bytes: Uint8Array,
    nameFrom: number,
    nameTo: number,
    valueFrom: number,
    valueTo: number,
    next: number,
  ): number {
    if (this.block.count === this.#limits.maxHeaders) {
      this.#tooLarge();
      return lineBad;
    }
    if (this.#state !== 'trailers' || !neverInTrailers(bytes, nameFrom, nameTo)) {
      this.block.add(nameFrom, nameTo, valueFrom, valueTo);
    }
    return next;
  }

  #emptyLine(bytes: Uint8Array, at: number, end: number): number {
    if (at + 1 === end) return lineMore;
    return bytes[at + 1] === lf ? at + 2 : this.#bad('a bare CR');
  }

  #bad(message: string): number {
    this.#badField = message;
    return lineBad;
  }

  #complete(next: number): number {
    const trailers = this.#state === 'trailers';
    if (trailers) {
      if (this.block.count > 0) this.#side.trailers(this.block);
      this.#finish('idle');
    } else this.#headComplete(this.#carried === 0 ? next - this.block.base : 0);
    return next;
  }

  #headComplete(length: number): void {
    const body = this.#side.head(length);
    this.#rewind();
    this.#enter(body);
  }

  #enter(body: number | WireError): void {
    if (typeof body === 'object') return this.failWith(body);
    switch (body) {
      case 0:
        return this.#finish('idle');
      case bodyInterim:
        this.#state = 'head';
        return undefined;
      case bodyChunked:
        this.#chunked.begin();
        this.#state = 'chunked';
        return undefined;
      case bodyUntilClose:
        this.#state = 'until-close';
        return undefined;
      case bodyOther:
        return this.#finish('other');
      default:
        this.#remaining = body;
        this.#state = 'length';
        return undefined;
    }
  }

  #finish(next: 'idle' | 'other'): void {
    this.#state = next;
    this.#rewind();
    this.#side.end();
  }

  #rewind(): void {
    this.#carried = 0;
    if (this.#carry.length > carryKeptBytes) this.#carry = nothing;
    this.#line = 0;
    this.#startLineRead = false;
    this.#emptyLines = 0;
  }

  #failed(): boolean {
    return this.#state === 'failed';
  }

  #tooLarge(): void {
    if (this.#state === 'trailers') this.fail('trailer-too-large', 'trailers beyond the limit', this.#status(431));
    else this.fail('head-too-large', 'a head beyond the limit', this.#status(431));
  }

  #maxBytes(): number {
    return this.#state === 'trailers' ? this.#limits.maxTrailerBytes : this.#limits.maxHeadBytes;
  }

  /** Only requests are answered with a particular status; a bad response is a 502 whatever was wrong with it. */
  #status(ofRequest: number): number {
    return this.#side.badStatus === 400 ? ofRequest : this.#side.badStatus;
  }
}

/** Hot. Where field text ends: the same bytes as in `fieldText`, asked by comparing, which is faster than a table here. */
function textEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const code = bytes[at] ?? 0;
    if (code < space ? code !== tab : code === 0x7f) return at;
    at++;
  }
  return at;
}

function includes(bytes: Uint8Array, code: number, from: number, to: number): boolean {
  const at = bytes.indexOf(code, from);
  return at !== -1 && at < to;
}

/** RFC 9110 section 6.5.1: framing, routing, controls, credentials and `content-*` have no business behind the body. */
function neverInTrailers(bytes: Uint8Array, from: number, to: number): boolean {
  return forbiddenTrailers.has(bytes, from, to) || (to - from > 8 && contentPrefix.has(bytes, from, from + 8));
}

const forbiddenTrailers = new FieldNames([
  'age',
  'authorization',
  'cache-control',
  'connection',
  'cookie',
  'date',
  'expect',
  'expires',
  'forwarded',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'location',
  'max-forwards',
  'pragma',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'retry-after',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'vary',
  'warning',
  'www-authenticate',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]);
const contentPrefix = new FieldNames(['content-']);

/** A buffer for cut heads is kept for the next one when it is no larger than this. */
const carryKeptBytes = 2048;
const nothing = new Uint8Array(0);
