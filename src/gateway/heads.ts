// What a message's head becomes on its way through: the fields of this hop are taken away, ours are added, and where the body
// ends is said anew in one way only. Since we write the framing ourselves, what stands behind us never sees the client's
// version of it.
//
// Fields that are not passed on: those RFC 9110 section 7.6.1 lists, those `Connection` names, and the framing and forwarding
// fields that are written here. Trailers go on where both hops are chunked: those of a request always, those of an answer to a
// client that said `TE: trailers`; the endpoint is then told that it may send some.
//
// Via is added to requests, as section 7.6.3 demands of a gateway, and not to responses, where it is optional and a few
// bytes of every answer. (nginx behind us then leaves out gzip unless told `gzip_proxied any`.)
//
// A head that comes again byte for byte becomes the same again but for what is in it of this client and this moment. So what
// was written for it is kept in its notes, and written in one piece from the third time on: some 0.5 µs a head less.
//
//   GET / HTTP/1.1⏎host: …⏎ … ⏎│x-request-id: …⏎│x-forwarded-for: │127.0.0.1│⏎via: 1.1 plimsoll⏎⏎
//   └───────── before ─────────┘                └──── middle ────┘          └─────── after ──────┘
//
// Hot: all of it. No allocation for a head of the usual size.

import { assert } from '../base.ts';
import { type Fields, type FieldNames, notForwarded, type RequestHead, type ResponseHead } from '../wire.ts';
import type { GrowingBytes } from './growing-bytes.ts';
import { type Identities, type Identity, identityFields, traceFields, writeRequestId } from './identity.ts';
import { timeLeftFields, type TimeLeftLines } from './time-left.ts';

export type BodyFraming = 'none' | 'length' | 'chunked' | 'until-close';

/** What is said of the client's connection; undefined: nothing. */
export type Connection = 'keep-alive' | 'close' | undefined;

/** Who sent a request, as far as the endpoint is told. */
export interface Caller {
  readonly address: string;
  /** Over TLS: said in `X-Forwarded-Proto`, instead of whatever stood there. */
  readonly secure: boolean;
}

/** Writes the request as the endpoint will see it. `fallbackHost` is for an HTTP/1.0 request that names no host;
 * `timeLeft` writes the deadline, where it is passed on. */
export function writeRequestHead(
  out: GrowingBytes,
  head: RequestHead,
  body: BodyFraming,
  upgrade: string | undefined,
  caller: Caller,
  fallbackHost: string,
  timeLeft: TimeLeftLines | undefined,
  takesTrailers = false,
  identities?: Identities,
  identity?: Identity,
): void {
  const left = dropped(caller.secure, timeLeft !== undefined, identities);
  const notes = timeLeft === undefined && head.authority !== undefined ? head.notes : undefined;
  const kept = notes?.made;
  const told = identities !== undefined && identity !== undefined ? identity : undefined;
  if (kept instanceof MadeRequest && kept.fits(left, body, upgrade, takesTrailers)) {
    out.bytes(kept.before);
    if (told !== undefined) identities?.write(out, told);
    out.bytes(kept.middle);
    out.text(caller.address);
    return out.bytes(kept.after);
  }
  const from = out.length;
  out.text(head.method);
  out.text(' ');
  copyPath(out, head);
  out.bytes(requestVersionAndHost);
  out.text(head.authority ?? fallbackHost);
  out.bytes(lineEnd);
  copyFields(out, head, left);
  timeLeft?.write(out, head);
  const beforeTo = out.length;
  if (told !== undefined) identities?.write(out, told);
  const middleFrom = out.length;
  if (caller.secure) out.bytes(forwardedProto);
  out.bytes(forwardedFor);
  const earlier = head.header('x-forwarded-for');
  if (earlier !== undefined && earlier !== '') {
    out.text(earlier);
    out.text(', ');
  }
  const middleTo = out.length;
  out.text(caller.address);
  const afterFrom = out.length;
  out.bytes(viaLine);
  if (upgrade !== undefined) writeUpgrade(out, upgrade);
  else if (takesTrailers) out.bytes(teTrailers);
  if (body === 'chunked') copyTrailerNames(out, head);
  writeFraming(out, body, head.contentLength);
  out.bytes(lineEnd);
  if (notes === undefined) return;
  const piece = (start: number, end: number): Uint8Array => out.array.slice(start, end);
  const parts = [piece(from, beforeTo), piece(middleFrom, middleTo), piece(afterFrom, out.length)] as const;
  notes.made = new MadeRequest(left, body, upgrade, takesTrailers, ...parts);
}

/** Writes the answer as the client will see it. `date` is used when the endpoint sent none. */
export function writeResponseHead(
  out: GrowingBytes,
  head: ResponseHead,
  body: BodyFraming,
  connection: Connection,
  date: string,
  takesTrailers = false,
  requestId?: string,
): void {
  const left = requestId === undefined ? responseFieldsDropped : responseFieldsDroppedWithId;
  // Without a date of its own it gets that of this second, and with an id that of this request: made anew each time.
  const notes = requestId === undefined ? head.notes : undefined;
  const kept = notes?.made;
  if (kept instanceof MadeResponse && kept.fits(body, connection, takesTrailers)) return out.bytes(kept.whole);
  const from = out.length;
  const dated = head.has('date');
  writeStatusLine(out, head.status, head.reason);
  copyFields(out, head, left);
  if (requestId !== undefined) writeRequestId(out, requestId);
  if (!dated) {
    out.text('date: ');
    out.text(date);
    out.bytes(lineEnd);
  }
  if (head.status === 101) writeUpgrade(out, head.header('upgrade') ?? '');
  else if (connection !== undefined) writeConnection(out, connection);
  if (takesTrailers && body === 'chunked') copyTrailerNames(out, head);
  writeFraming(out, body, head.contentLength);
  out.bytes(lineEnd);
  if (notes === undefined || !dated) return;
  notes.made = new MadeResponse(body, connection, takesTrailers, out.array.slice(from, out.length));
}

/** Ends a chunked body with fields behind it. */
export function writeTrailers(out: GrowingBytes, trailers: Fields): void {
  out.bytes(lastChunkSize);
  copyFields(out, trailers, hopFields);
  out.bytes(lineEnd);
}

/** What will come behind the body, as far as its sender says. */
function copyTrailerNames(out: GrowingBytes, head: Fields): void {
  if (!head.has('trailer')) return;
  out.text(`trailer: ${head.header('trailer') ?? ''}\r\n`);
}

/** Writes a 1xx that is not the answer yet: its fields, and nothing of ours. */
export function writeInformation(out: GrowingBytes, head: ResponseHead): void {
  writeStatusLine(out, head.status, head.reason);
  copyFields(out, head, responseFieldsDropped);
  out.bytes(lineEnd);
}

export function writeStatusLine(out: GrowingBytes, status: number, reason: string): void {
  if (status === 200 && reason === 'OK') return out.bytes(statusLine200);
  out.text('HTTP/1.1 ');
  out.decimal(status);
  out.text(' ');
  out.text(reason);
  out.bytes(lineEnd);
}

export function writeConnection(out: GrowingBytes, connection: 'keep-alive' | 'close'): void {
  out.bytes(connection === 'close' ? connectionClose : connectionKeepAlive);
}

function writeUpgrade(out: GrowingBytes, protocol: string): void {
  out.bytes(upgradeLine);
  out.text(protocol);
  out.bytes(lineEnd);
}

function writeFraming(out: GrowingBytes, body: BodyFraming, length: number | undefined): void {
  switch (body) {
    case 'chunked':
      return out.bytes(transferChunked);
    case 'length':
      assert(length !== undefined, 'a body framed by its length has one');
      out.bytes(contentLength);
      out.decimal(length);
      return out.bytes(lineEnd);
    case 'none':
    case 'until-close':
      return;
  }
}

function copyPath(out: GrowingBytes, head: RequestHead): void {
  for (;;) {
    const length = head.copyPath(out.array, out.length);
    if (length >= 0) {
      out.length = length;
      return;
    }
    out.reserve(out.array.length - out.length + 1);
  }
}

function copyFields(out: GrowingBytes, fields: Fields, except: FieldNames): void {
  for (;;) {
    const length = fields.copyFields(out.array, out.length, except);
    if (length >= 0) {
      out.length = length;
      return;
    }
    out.reserve(out.array.length - out.length + 1);
  }
}

/** What was written for a head, and under which circumstances. */
class MadeRequest {
  readonly before: Uint8Array;
  readonly middle: Uint8Array;
  readonly after: Uint8Array;
  readonly #left: FieldNames;
  readonly #body: BodyFraming;
  readonly #upgrade: string | undefined;
  readonly #takesTrailers: boolean;

  constructor(
    left: FieldNames,
    body: BodyFraming,
    upgrade: string | undefined,
    takesTrailers: boolean,
    before: Uint8Array,
    middle: Uint8Array,
    after: Uint8Array,
  ) {
    this.#left = left;
    this.#body = body;
    this.#upgrade = upgrade;
    this.#takesTrailers = takesTrailers;
    this.before = before;
    this.middle = middle;
    this.after = after;
  }

  fits(left: FieldNames, body: BodyFraming, upgrade: string | undefined, takesTrailers: boolean): boolean {
    const alike = this.#left === left && this.#body === body && this.#takesTrailers === takesTrailers;
    return alike && this.#upgrade === upgrade;
  }
}

class MadeResponse {
  readonly whole: Uint8Array;
  readonly #body: BodyFraming;
  readonly #connection: Connection;
  readonly #takesTrailers: boolean;

  constructor(body: BodyFraming, connection: Connection, takesTrailers: boolean, whole: Uint8Array) {
    this.#body = body;
    this.#connection = connection;
    this.#takesTrailers = takesTrailers;
    this.whole = whole;
  }

  fits(body: BodyFraming, connection: Connection, takesTrailers: boolean): boolean {
    return this.#body === body && this.#connection === connection && this.#takesTrailers === takesTrailers;
  }
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function dropped(secure: boolean, withTime: boolean, identities: Identities | undefined): FieldNames {
  const known = identities === undefined ? 0 : identities.config.trace === undefined ? 1 : 2;
  return requestFieldsDropped[known * 4 + (withTime ? 2 : 0) + (secure ? 1 : 0)] ?? plainFieldsDropped;
}

const rewritten = ['host', 'content-length', 'x-forwarded-for'];
const plainFieldsDropped = notForwarded(rewritten);
const requestFieldsDropped = [[], identityFields, [...identityFields, ...traceFields]].flatMap((known) =>
  [[], timeLeftFields].flatMap((time) =>
    [[], ['x-forwarded-proto']].map((proto) => notForwarded([...rewritten, ...known, ...time, ...proto])),
  ),
);
const responseFieldsDropped = notForwarded(['content-length']);
const responseFieldsDroppedWithId = notForwarded(['content-length', ...identityFields]);

const hopFields = notForwarded();
const lastChunkSize = ascii('0\r\n');
const teTrailers = ascii('te: trailers\r\nconnection: te\r\n');
const lineEnd = ascii('\r\n');
const requestVersionAndHost = ascii(' HTTP/1.1\r\nhost: ');
const forwardedFor = ascii('x-forwarded-for: ');
const forwardedProto = ascii('x-forwarded-proto: https\r\n');
const viaLine = ascii('\r\nvia: 1.1 plimsoll\r\n');
const statusLine200 = ascii('HTTP/1.1 200 OK\r\n');
const connectionClose = ascii('connection: close\r\n');
const connectionKeepAlive = ascii('connection: keep-alive\r\n');
const upgradeLine = ascii('connection: upgrade\r\nupgrade: ');
const transferChunked = ascii('transfer-encoding: chunked\r\n');
const contentLength = ascii('content-length: ');
