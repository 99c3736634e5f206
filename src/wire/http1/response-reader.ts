// The side of a client: what a server sends.
//
// A response cannot be understood alone: after HEAD there is no body, after CONNECT there may be a tunnel. So each request
// is announced by `expect`, and a response that nobody expects is an error: the connection has been told something that
// was meant for someone else.

import { ascii, fieldText, isDigit, cr, lf, space } from './bytes.ts';
import {
  defaultLimits,
  type HeadNotes,
  type Limits,
  type ResponseEvents,
  type ResponseHead,
  type ResponseReader,
  type WireError,
} from './events.ts';
import { FieldBlock } from './field-block.ts';
import type { FieldNames } from './field-names.ts';
import { Framing } from './framing.ts';
import { type KnownHeads, sharedMemory } from './known-heads.ts';
import {
  bodyChunked,
  bodyInterim,
  bodyOther,
  bodyUntilClose,
  lineBad,
  lineMore,
  MessageReader,
  type Side,
} from './message-reader.ts';
import { ParsedResponse } from './parsed-response.ts';

/** `watch`: names in lower case whose values the head shows without allocating, as `watched(index)`. */
export function responseReader(
  events: ResponseEvents,
  limits: Partial<Limits> = {},
  watch: readonly string[] = [],
): ResponseReader {
  const all = { ...defaultLimits, ...limits };
  return new Responses(events, all, watch, sharedMemory(memories, JSON.stringify([all, watch])));
}

const memories = new Map<string, KnownHeads<ParsedResponse>>();

/** What the requests in flight make of their responses. */
const plain = 0;
const head = 1;
const connect = 2;
const upgrade = 4;

class Responses implements ResponseReader, ResponseHead, Side {
  readonly badStatus = 502;
  readonly emptyLinesFirst = false;
  readonly blankBeforeColon = true;
  keepAlive = true;
  readonly #events: ResponseEvents;
  readonly #core: MessageReader;
  readonly #known: KnownHeads<ParsedResponse>;
  /** Filled by reading. */
  readonly #own: ParsedResponse;
  /** What is shown: our own, or one that was remembered. */
  #shown: ParsedResponse;
  readonly #informationMax: number;
  /** Requests in flight. The oldest stands apart: without pipelining it is the only one, and a list that is filled and
   * emptied for each request costs 150 bytes each time. */
  #expected = 0;
  #oldest = plain;
  readonly #younger: number[] = [];
  #information = 0;
  #problem: WireError | undefined;

  constructor(events: ResponseEvents, limits: Limits, watch: readonly string[], known: KnownHeads<ParsedResponse>) {
    this.#events = events;
    this.#known = known;
    this.#own = new ParsedResponse(new FieldBlock(), new Framing(watch));
    this.#shown = this.#own;
    this.#core = new MessageReader(this, limits, this.#own.block);
    this.#informationMax = limits.maxInformation;
  }

  // ResponseReader

  expect(method: string, mayUpgrade = false): void {
    const kind = method === 'HEAD' ? head : method === 'CONNECT' ? connect : plain;
    const expected = mayUpgrade ? kind | upgrade : kind;
    if (this.#expected === 0) this.#oldest = expected;
    else this.#younger.push(expected);
    this.#expected += 1;
  }

  read(bytes: Uint8Array): number {
    return this.#core.read(bytes);
  }

  eof(): WireError | undefined {
    return this.#core.eof();
  }

  get error(): WireError | undefined {
    return this.#core.error;
  }

  get idle(): boolean {
    return this.#core.idle;
  }

  reset(): void {
    this.#core.reset();
    this.#expected = 0;
    this.#younger.length = 0;
    this.#information = 0;
  }

  // ResponseHead

  get minorVersion(): 0 | 1 {
    return this.#shown.minorVersion;
  }

  get status(): number {
    return this.#shown.status;
  }

  get reason(): string {
    return this.#shown.reason;
  }

  get contentLength(): number | undefined {
    return this.#shown.framing.contentLength;
  }

  get chunked(): boolean {
    return this.#shown.framing.chunked;
  }

  get notes(): HeadNotes | undefined {
    return this.#shown === this.#own ? undefined : this.#shown;
  }

  watched(index: number): string | undefined {
    return this.#shown.watched(index);
  }

  header(lowerCaseName: string): string | undefined {
    return this.#shown.block.header(lowerCaseName);
  }

  has(lowerCaseName: string): boolean {
    return this.#shown.block.has(lowerCaseName);
  }

  each(visit: (name: string, value: string) => void): void {
    this.#shown.block.each(visit);
  }

  copyFields(into: Uint8Array, at: number, except: FieldNames): number {
    return this.#shown.block.copyFields(into, at, except);
  }

  // Side

  begin(): WireError | undefined {
    if (this.#expected > 0) return undefined;
    return { kind: 'unsolicited', status: 502, message: 'a response that no request asked for' };
  }

  plausible(bytes: Uint8Array, from: number, end: number): boolean {
    const stop = Math.min(end, from + protocol.length);
    for (let at = from; at < stop; at++) if (bytes[at] !== protocol[at - from]) return false;
    return true;
  }

  /** `HTTP/1.1 200 OK` CRLF. The space after the status is forgiven when the reason is missing too. */
  startLine(bytes: Uint8Array, from: number, end: number): number {
    if (!this.plausible(bytes, from, end)) return this.#bad('bad-start-line', 'a response begins with HTTP/');
    if (end - from < 12) return bytes.indexOf(lf, from) === -1 ? lineMore : this.#bad('bad-start-line', 'too short');
    const major = bytes[from + 5] ?? 0;
    const minor = bytes[from + 7] ?? 0;
    if (!isDigit(major) || bytes[from + 6] !== 0x2e || !isDigit(minor) || bytes[from + 8] !== space) {
      return this.#bad('bad-start-line', 'a version is HTTP/ digit . digit');
    }
    if (major !== 0x31) return this.#bad('bad-version', 'only HTTP/1.x is spoken here');
    const hundreds = (bytes[from + 9] ?? 0) - 0x30;
    const tens = (bytes[from + 10] ?? 0) - 0x30;
    const ones = (bytes[from + 11] ?? 0) - 0x30;
    if (hundreds < 1 || hundreds > 9 || tens < 0 || tens > 9 || ones < 0 || ones > 9) {
      return this.#bad('bad-start-line', 'a status is three digits');
    }
    let at = from + 12;
    if (at < end && bytes[at] === space) at++;
    else if (at < end && bytes[at] !== cr) return this.#bad('bad-start-line', 'a status is three digits');
    const reasonFrom = at;
    while (at < end && fieldText[bytes[at] ?? 0] === 1) at++;
    if (at === end) return lineMore;
    if (bytes[at] !== cr) return this.#bad('bad-start-line', 'a control character in the reason');
    if (at + 1 === end) return lineMore;
    if (bytes[at + 1] !== lf) return this.#bad('bad-start-line', 'a bare CR in the reason');
    const own = this.#own;
    own.minorVersion = minor === 0x30 ? 0 : 1;
    own.status = hundreds * 100 + tens * 10 + ones;
    own.reasonFrom = reasonFrom - own.block.base;
    own.reasonTo = at - own.block.base;
    return at + 2;
  }

  startLineError(): WireError {
    return this.#problem ?? { kind: 'bad-start-line', status: 502, message: 'not a status line' };
  }

  recall(bytes: Uint8Array, from: number, end: number): number {
    const known = this.#known.recall(bytes, from, end);
    this.#shown = known ?? this.#own;
    return known === undefined ? 0 : known.length;
  }

  head(length: number): number | WireError {
    if (this.#shown === this.#own) {
      const bad = this.#understand(length);
      if (bad !== undefined) return bad;
    }
    const { framing, minorVersion, status } = this.#shown;
    const expected = this.#oldest;
    this.keepAlive = !framing.close && (minorVersion === 1 || framing.keepAlive);
    if (status < 200 && status !== 101) return this.#inform();
    if (status === 101 && (expected & upgrade) === 0) {
      return { kind: 'unsolicited', status: 502, message: 'a switch of protocols that no request asked for' };
    }
    let body: number;
    const tunnel = status === 101 || ((expected & connect) !== 0 && status < 300);
    if (tunnel || (expected & head) !== 0 || status === 204 || status === 304) {
      body = tunnel ? bodyOther : 0;
    } else {
      const contradiction = framing.judge(minorVersion, 502);
      if (contradiction !== undefined) return contradiction;
      body = framing.chunked ? bodyChunked : (framing.contentLength ?? bodyUntilClose);
      if (body === bodyUntilClose) this.keepAlive = false;
    }
    this.#expected -= 1;
    if (this.#expected > 0) this.#oldest = this.#younger.shift() ?? plain;
    this.#information = 0;
    this.#events.onHead(this);
    return body;
  }

  body(bytes: Uint8Array, from: number, to: number): void {
    this.#events.onBody(bytes, from, to);
  }

  trailers(): void {
    this.#events.onTrailers?.(this.#core.block);
  }

  end(): void {
    this.#events.onEnd();
  }

  /** What the fields of a head that was read say; it is remembered when it says something sound. */
  #understand(length: number): WireError | undefined {
    const own = this.#own;
    const bad = own.framing.read(own.block);
    if (bad !== undefined) return { ...bad, status: 502 };
    if (length > 0 && this.#known.wants(length)) {
      this.#known.learn(own.block.bytes, own.block.base, own.copy(length));
    }
    return undefined;
  }

  #inform(): number | WireError {
    if (++this.#information > this.#informationMax) {
      return { kind: 'head-too-large', status: 502, message: 'interim responses without end' };
    }
    this.#events.onInformation?.(this);
    return bodyInterim;
  }

  #bad(kind: WireError['kind'], message: string): number {
    this.#problem = { kind, status: 502, message };
    return lineBad;
  }
}

const protocol = ascii('HTTP/');
