// The side of a server: what a client sends.

import { ascii, cr, hostText, isDigit, lf, lowerToken, sameToken, space, targetText } from './bytes.ts';
import {
  defaultLimits,
  type HeadNotes,
  type Limits,
  type RequestEvents,
  type RequestHead,
  type RequestReader,
  type WireError,
} from './events.ts';
import { FieldBlock } from './field-block.ts';
import type { FieldNames } from './field-names.ts';
import { Framing } from './framing.ts';
import { type KnownHeads, sharedMemory } from './known-heads.ts';
import { bodyChunked, bodyOther, lineBad, lineMore, MessageReader, type Side } from './message-reader.ts';
import { ParsedRequest } from './parsed-request.ts';

/** `watch`: names in lower case whose values the head shows without allocating, as `watched(index)`. */
export function requestReader(
  events: RequestEvents,
  limits: Partial<Limits> = {},
  watch: readonly string[] = [],
): RequestReader {
  const all = { ...defaultLimits, ...limits };
  return new Requests(events, all, watch, sharedMemory(memories, JSON.stringify([all, watch])));
}

const memories = new Map<string, KnownHeads<ParsedRequest>>();

class Requests implements RequestReader, RequestHead, Side {
  readonly badStatus = 400;
  readonly emptyLinesFirst = true;
  readonly blankBeforeColon = false;
  keepAlive = true;
  readonly #events: RequestEvents;
  readonly #core: MessageReader;
  readonly #known: KnownHeads<ParsedRequest>;
  /** Filled by reading. */
  readonly #own: ParsedRequest;
  /** What is shown: our own, or one that was remembered. */
  #shown: ParsedRequest;
  readonly #uriBytesMax: number;
  #problem: WireError | undefined;

  constructor(events: RequestEvents, limits: Limits, watch: readonly string[], known: KnownHeads<ParsedRequest>) {
    this.#events = events;
    this.#known = known;
    this.#own = new ParsedRequest(new FieldBlock(), new Framing(watch));
    this.#shown = this.#own;
    this.#core = new MessageReader(this, limits, this.#own.block);
    this.#uriBytesMax = limits.maxUriBytes;
  }

  // RequestReader

  read(bytes: Uint8Array): number {
    return this.#core.read(bytes);
  }

  pause(): void {
    this.#core.paused = true;
  }

  resume(): void {
    this.#core.resume();
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
  }

  // RequestHead

  get minorVersion(): 0 | 1 {
    return this.#shown.minorVersion;
  }

  get method(): string {
    return this.#shown.method;
  }

  get target(): string {
    return this.#shown.target;
  }

  get authority(): string | undefined {
    return this.#shown.authority;
  }

  get path(): string {
    return this.#shown.path;
  }

  copyPath(into: Uint8Array, at: number): number {
    return this.#shown.copyPath(into, at);
  }

  get contentLength(): number | undefined {
    return this.#shown.framing.contentLength;
  }

  get chunked(): boolean {
    return this.#shown.framing.chunked;
  }

  get expectsContinue(): boolean {
    return this.#shown.expectsContinue;
  }

  get upgrade(): string | undefined {
    return this.#shown.upgrade;
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
    return undefined;
  }

  plausible(bytes: Uint8Array, from: number, _end: number): boolean {
    return bytes[from] === cr || lowerToken[bytes[from] ?? 0] !== 0;
  }

  /** `GET /path HTTP/1.1` CRLF: three words with one space between, nothing repaired. */
  startLine(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    while (at < end && lowerToken[bytes[at] ?? 0] !== 0) at++;
    if (at === end) return lineMore;
    if (bytes[at] !== space || at === from) return this.#bad('bad-start-line', 'a method is a token, then a space');
    const methodTo = at++;
    const targetFrom = at;
    while (at < end && targetText[bytes[at] ?? 0] === 1) at++;
    if (at === end) return lineMore;
    if (bytes[at] !== space || at === targetFrom) {
      return this.#bad('bad-start-line', 'a target without spaces and control characters, then a space');
    }
    const targetTo = at++;
    if (end - at < 10) {
      return bytes.indexOf(lf, at) === -1 ? lineMore : this.#bad('bad-start-line', 'a version is HTTP/ digit . digit');
    }
    if (!isVersion(bytes, at)) return this.#bad('bad-start-line', 'a version is HTTP/ digit . digit');
    if (bytes[at + 5] !== 0x31) return this.#bad('bad-version', 'only HTTP/1.x is spoken here', 505);
    if (targetTo - targetFrom > this.#uriBytesMax) return this.#bad('uri-too-long', 'a target beyond the limit', 414);
    const own = this.#own;
    own.minorVersion = bytes[at + 7] === 0x30 ? 0 : 1;
    own.methodTo = methodTo - own.block.base;
    own.targetFrom = targetFrom - own.block.base;
    own.targetTo = targetTo - own.block.base;
    return this.#form(bytes, from, methodTo, targetFrom, targetTo) ? at + 10 : lineBad;
  }

  startLineError(): WireError {
    return this.#problem ?? { kind: 'bad-start-line', status: 400, message: 'not a request line' };
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
    const { framing, minorVersion, isConnect } = this.#shown;
    this.keepAlive = !framing.close && (minorVersion === 1 || framing.keepAlive);
    this.#events.onHead(this);
    if (isConnect) return bodyOther;
    return framing.chunked ? bodyChunked : (framing.contentLength ?? 0);
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
    const { block, framing, minorVersion, isConnect } = this.#own;
    const bad = framing.read(block) ?? this.#badHost() ?? framing.judge(minorVersion, 400);
    if (bad !== undefined) return bad;
    // RFC 9110 section 9.3.6: the content of a CONNECT has no meaning; whether the bytes after it belong to the tunnel or to
    // the content is then anybody's guess.
    if (isConnect && (framing.chunked || (framing.contentLength ?? 0) > 0)) {
      return { kind: 'smuggling', status: 400, message: 'CONNECT with content' };
    }
    if (length > 0 && this.#known.wants(length)) this.#known.learn(block.bytes, block.base, this.#own.copy(length));
    return undefined;
  }

  /** The four forms of a target, RFC 9112 section 3.2. */
  #form(bytes: Uint8Array, methodFrom: number, methodTo: number, from: number, to: number): boolean {
    const own = this.#own;
    const { base } = own.block;
    own.authorityFrom = 0;
    own.authorityTo = 0;
    own.isConnect = methodTo - methodFrom === 7 && exactly(bytes, methodFrom, methodTo, connectMethod);
    if (own.isConnect) {
      if (!isAuthority(bytes, from, to) || !endsInPort(bytes, from, to)) {
        this.#bad('bad-target', 'CONNECT is for host:port');
        return false;
      }
      own.authorityFrom = from - base;
      own.authorityTo = to - base;
      return true;
    }
    if (bytes[from] === 0x2f) return true;
    if (to - from === 1 && bytes[from] === 0x2a && exactly(bytes, methodFrom, methodTo, optionsMethod)) return true;
    const authorityFrom = afterScheme(bytes, from, to);
    if (authorityFrom > 0) {
      let authorityTo = authorityFrom;
      while (authorityTo < to && bytes[authorityTo] !== 0x2f && bytes[authorityTo] !== 0x3f) authorityTo++;
      if (authorityTo > authorityFrom && isAuthority(bytes, authorityFrom, authorityTo)) {
        own.authorityFrom = authorityFrom - base;
        own.authorityTo = authorityTo - base;
        return true;
      }
    }
    this.#bad('bad-target', 'a target begins with / or http:// (or is * for OPTIONS)');
    return false;
  }

  #badHost(): WireError | undefined {
    const { block, framing, minorVersion } = this.#own;
    const { hosts, hostField } = framing;
    if (hosts === 1) {
      const from = block.valueFrom(hostField);
      const to = block.valueTo(hostField);
      // Empty is allowed for a target that has no authority (RFC 9110 section 7.2).
      if (from === to || isAuthority(block.bytes, from, to)) return undefined;
      return { kind: 'bad-host', status: 400, message: 'Host is not a host' };
    }
    if (hosts > 1) return { kind: 'bad-host', status: 400, message: 'more than one Host' };
    if (minorVersion === 0) return undefined;
    return { kind: 'bad-host', status: 400, message: 'no Host' };
  }

  #bad(kind: WireError['kind'], message: string, status = 400): number {
    this.#problem = { kind, status, message };
    return lineBad;
  }
}

/** `HTTP/` digit `.` digit CRLF at `at`, which is followed by ten bytes at least. */
function isVersion(bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < httpSlash.length; index++) if (bytes[at + index] !== httpSlash[index]) return false;
  return (
    isDigit(bytes[at + 5] ?? 0) &&
    bytes[at + 6] === 0x2e &&
    isDigit(bytes[at + 7] ?? 0) &&
    bytes[at + 8] === cr &&
    bytes[at + 9] === lf
  );
}

/** host [ ":" port ], where a host is a name, an IPv4 address or something in brackets. No user information: it looks like
 * a host to some and like a name before one to others. */
function isAuthority(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  if (bytes[at] === 0x5b) {
    at++;
    const start = at;
    while (at < to && isAddressText(bytes[at] ?? 0)) at++;
    if (at === start || bytes[at] !== 0x5d) return false;
    at++;
  } else {
    while (at < to && hostText[bytes[at] ?? 0] === 1) at++;
    if (at === from) return false;
  }
  if (at === to) return true;
  if (bytes[at] !== 0x3a) return false;
  return to - at <= 6 && allDigits(bytes, at + 1, to);
}

/** Has the authority a port that is not empty? */
function endsInPort(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = to - 1; at >= from; at--) {
    if (bytes[at] === 0x3a) return at < to - 1;
    if (!isDigit(bytes[at] ?? 0)) return false;
  }
  return false;
}

/** IPv6 and IPvFuture in brackets: hexadecimal digits, colons, dots; `v`, and what a zone would need is not for Host. */
const isAddressText = (code: number): boolean =>
  isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66) || code === 0x3a || code === 0x2e;

function allDigits(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isDigit(bytes[at] ?? 0)) return false;
  return true;
}

/** Where the authority of `scheme://authority…` begins; 0 when it is not of that shape. */
function afterScheme(bytes: Uint8Array, from: number, to: number): number {
  for (const scheme of [httpScheme, httpsScheme]) {
    const stop = from + scheme.length;
    if (stop + 3 > to || !sameToken(bytes, from, stop, scheme)) continue;
    if (bytes[stop] === 0x3a && bytes[stop + 1] === 0x2f && bytes[stop + 2] === 0x2f) return stop + 3;
  }
  return 0;
}

function exactly(bytes: Uint8Array, from: number, to: number, text: Uint8Array): boolean {
  if (to - from !== text.length) return false;
  for (let index = 0; index < text.length; index++) if (bytes[from + index] !== text[index]) return false;
  return true;
}

const httpSlash = ascii('HTTP/');
const connectMethod = ascii('CONNECT');
const optionsMethod = ascii('OPTIONS');
const httpScheme = ascii('http');
const httpsScheme = ascii('https');
