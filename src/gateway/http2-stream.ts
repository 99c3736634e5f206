// One stream of HTTP/2 as a socket of HTTP/1.1: what the client sends in frames comes out as the bytes of one request, what is
// written to it as the bytes of an answer goes back in frames. `ClientConnection` handles it like any other socket.
//
//   HEADERS  ─►  GET /path HTTP/1.1 …       HTTP/1.1 200 OK …  ─►  HEADERS
//   DATA     ─►  a piece of the body        a piece of the body ─►  DATA
//   trailers ─►  after the last chunk       after the last chunk ─►  HEADERS, END_STREAM
//   RST_STREAM ─► the client has gone       destroy             ─►  RST_STREAM
//
// The request is written so that it can be read in one way only, and is then read by the same strict reader as everybody's:
// pseudo fields are checked here (RFC 9113 section 8.3.1), the rest there. A WebSocket over HTTP/2 (RFC 8441) becomes an
// upgrade: the extended CONNECT a GET with `Upgrade`, the 101 a 200, and then DATA is passed on raw both ways.

import { randomBytes } from 'node:crypto';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Instant } from '../base.ts';
import type { Socket, SocketHandler } from '../net.ts';
import {
  type ConnectionEnds,
  type Fields,
  isTarget,
  isText,
  isToken,
  type ResponseHead,
  type ResponseReader,
  responseReader,
} from '../wire.ts';
import type { DataPlane } from './data-plane.ts';

export class Http2Stream implements Socket {
  context: unknown = undefined;
  readonly #ends: ConnectionEnds;
  readonly tls = undefined;
  readonly #plane: DataPlane;
  readonly #stream: ServerHttp2Stream;
  readonly #secure: boolean;
  readonly #reader: ResponseReader;
  #handler: SocketHandler | undefined;
  /** What the request is told in once its head is. */
  #body: 'none' | 'length' | 'chunked' | 'raw' = 'none';
  #trailers: readonly string[] = [];
  /** The head of the answer, not sent yet: whether a body follows is known with the next event. */
  #head: OutgoingHttpHeaders | undefined;
  #answerTrailers: OutgoingHttpHeaders | undefined;
  /** Trailers may follow. */
  #chunked = false;
  #answerComplete = false;
  #full = false;
  #tunnel = false;
  #closed = false;

  constructor(plane: DataPlane, stream: ServerHttp2Stream, ends: ConnectionEnds, secure: boolean) {
    this.#plane = plane;
    this.#stream = stream;
    this.#secure = secure;
    this.#ends = ends;
    this.#reader = responseReader(
      {
        onInformation: (head) => this.#inform(head),
        onHead: (head) => {
          this.#head = fieldsOf(head, head.status === 101 ? 200 : head.status);
          this.#tunnel = head.status === 101;
          this.#chunked = head.chunked;
        },
        onBody: (bytes, from, to) => this.#pass(bytes.subarray(from, to)),
        onTrailers: (trailers) => (this.#answerTrailers = fieldsOf(trailers)),
        onEnd: () => this.#answered(),
      },
      plane.answerLimits,
    );
  }

  /** Begins the request. `raw`: names and values in turn, pseudo fields first. */
  begin(raw: readonly string[], endOfRequest: boolean): void {
    const stream = this.#stream;
    stream.on('error', () => {});
    stream.on('close', () => this.#over());
    const asked = requestOf(raw, endOfRequest);
    if (asked === undefined) {
      stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    this.#body = asked.body;
    this.#reader.expect(asked.method, asked.upgrade);
    stream.on('trailers', (_headers, _flags, trailers: string[]) => (this.#trailers = trailers));
    stream.on('data', (bytes: Buffer) => this.#received(bytes));
    stream.on('end', () => this.#requestEnded());
    stream.on('drain', () => this.#drained());
    const handler = this.#plane.acceptStream(this, this.#ends, this.#secure);
    this.#handler = handler;
    handler.onData(this, Buffer.from(asked.head, 'latin1'), this.#now);
  }

  get localPort(): number {
    return this.#ends.destination.port;
  }

  get remotePort(): number {
    return this.#ends.source.port;
  }

  get remoteAddress(): string {
    return this.#ends.source.address;
  }

  get #now(): Instant {
    return this.#plane.engine.now();
  }

  // ── the request ───────────────────────────────────────────────────────────────────────────────────────────────────

  #received(bytes: Buffer): void {
    if (this.#closed || bytes.length === 0) return;
    const chunked = this.#body === 'chunked';
    const piece = chunked ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd]) : bytes;
    this.#handler?.onData(this, piece, this.#now);
  }

  #requestEnded(): void {
    if (this.#closed) return;
    if (this.#body === 'raw') this.#handler?.onEnd?.(this, this.#now);
    if (this.#body !== 'chunked') return;
    const lines = linesOf(pairsOf(this.#trailers));
    // A trailer that cannot be written as a line ends the request unfinished.
    if (lines === undefined) return this.#stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
    this.#handler?.onData(this, Buffer.from(`0\r\n${lines}\r\n`, 'latin1'), this.#now);
  }

  #drained(): void {
    if (!this.#full || this.#closed) return;
    this.#full = false;
    this.#handler?.onDrain?.(this, this.#now);
  }

  /** The stream is closed, by whoever. */
  #over(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#handler?.onClose(this, undefined, this.#now);
  }

  // ── the answer ────────────────────────────────────────────────────────────────────────────────────────────────────

  get queued(): number {
    return this.#stream.writableLength;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#closed || this.#stream.destroyed) return true;
    let from = 0;
    if (!this.#tunnel) from = this.#reader.read(bytes);
    if (this.#tunnel && from < bytes.length) this.#send(bytes.subarray(from));
    return !this.#full;
  }

  #inform(head: ResponseHead): void {
    if (!this.#stream.headersSent) this.#stream.additionalHeaders(fieldsOf(head, head.status));
  }

  #pass(bytes: Uint8Array): void {
    this.#respond(false);
    this.#send(bytes);
  }

  #send(bytes: Uint8Array): void {
    // The bytes are lent to us and wait in the stream: copied.
    if (!this.#stream.write(Buffer.from(bytes))) this.#full = true;
  }

  #answered(): void {
    if (this.#tunnel) return this.#respond(false);
    this.#answerComplete = true;
    if (this.#head !== undefined && this.#answerTrailers === undefined) return this.#respond(true);
    this.#respond(false);
    this.#stream.end();
    return undefined;
  }

  #respond(endStream: boolean): void {
    const head = this.#head;
    if (head === undefined || this.#stream.destroyed) return;
    this.#head = undefined;
    if (endStream) return this.#stream.respond(head, { endStream: true });
    this.#stream.once('wantTrailers', () => {
      // Without any: an empty DATA frame that ends the stream.
      if (!this.#stream.destroyed) this.#stream.sendTrailers(this.#answerTrailers ?? {});
    });
    this.#stream.respond(head, { waitForTrailers: this.#chunked });
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** No more will be written. An answer that is whole has been ended already. */
  end(): void {
    if (this.#tunnel) this.#stream.end();
    else if (!this.#answerComplete) this.destroy();
    // An answer before the end of the request: the rest is not wanted (RFC 9113 section 8.1).
    else if (!this.#stream.readableEnded) setImmediate(() => this.#stopReading());
  }

  #stopReading(): void {
    if (this.#stream.writableFinished && !this.#stream.readableEnded) this.#stream.close(constants.NGHTTP2_NO_ERROR);
  }

  destroy(): void {
    if (this.#closed || this.#stream.destroyed) return;
    // What is complete is still on its way out.
    if (this.#answerComplete) return;
    // Not `close`, which would end the body first: somebody could take it for whole.
    this.#stream.destroy(brokenOff);
  }
}

interface Asked {
  /** As HTTP/1.1 has it, up to the empty line. */
  readonly head: string;
  readonly method: string;
  readonly body: 'none' | 'length' | 'chunked' | 'raw';
  readonly upgrade: boolean;
}

/** The request that a list of fields makes; undefined when it is malformed (RFC 9113 section 8.1.1). */
function requestOf(raw: readonly string[], endOfRequest: boolean): Asked | undefined {
  const fields = pairsOf(raw);
  const pseudo = new Map(fields.filter(([name]) => name.startsWith(':')));
  const rest = fields.filter(([name]) => !name.startsWith(':'));
  const method = pseudo.get(':method') ?? '';
  const host = rest.find(([name]) => name === 'host')?.[1];
  const authority = pseudo.get(':authority') ?? host;
  const path = pseudo.get(':path');
  const protocol = pseudo.get(':protocol');
  const connects = method === 'CONNECT' && protocol === undefined;
  const target = connects ? authority : path;
  // Whoever names two hosts is asked which by two readers.
  if (authority === undefined || (host !== undefined && host !== authority)) return undefined;
  if (target === undefined || !isToken(method) || !isTarget(target)) return undefined;
  const upgrade = protocol !== undefined;
  const body = upgrade ? 'raw' : endOfRequest ? 'none' : has(rest, 'content-length') ? 'length' : 'chunked';
  const lines = linesOf([['host', authority], ...rest.filter(([name]) => !notPassed.has(name)), ...crumbs(rest)]);
  if (lines === undefined || (upgrade && !isToken(protocol))) return undefined;
  const head =
    `${upgrade ? 'GET' : method} ${target} HTTP/1.1\r\n${lines}` +
    (has(rest, 'te') ? 'te: trailers\r\n' : '') +
    (body === 'chunked' ? 'transfer-encoding: chunked\r\n' : '') +
    (upgrade
      ? `connection: upgrade\r\nupgrade: ${protocol}\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n`
      : 'connection: close\r\n') +
    '\r\n';
  return { head, method: upgrade ? 'GET' : method, body, upgrade };
}

/** Of HTTP/1.1's connections (malformed in HTTP/2, and refused by nghttp2), and what is written anew. */
const notPassed = new Set([
  'host',
  'cookie',
  'te',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Cookies may come in pieces, and go on as one (RFC 9113 section 8.2.3). */
function crumbs(fields: readonly Pair[]): readonly Pair[] {
  const cookies = fields.filter(([name]) => name === 'cookie').map(([, value]) => value);
  return cookies.length === 0 ? [] : [['cookie', cookies.join('; ')]];
}

type Pair = readonly [name: string, value: string];

function pairsOf(raw: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return pairs;
}

function has(fields: readonly Pair[], name: string): boolean {
  return fields.some(([candidate]) => candidate === name);
}

/** Undefined when one would break out of its line. */
function linesOf(fields: readonly Pair[]): string | undefined {
  if (!fields.every(([name, value]) => isToken(name) && isText(value))) return undefined;
  return fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

/** An answer's fields as HTTP/2 has them. */
function fieldsOf(fields: Fields, status?: number): OutgoingHttpHeaders {
  const out: Record<string, number | string | string[]> = status === undefined ? {} : { ':status': status };
  fields.each((name, value) => {
    const lower = name.toLowerCase();
    if (hopOnly.has(lower)) return;
    const before = out[lower];
    if (before === undefined) out[lower] = value;
    else if (Array.isArray(before)) before.push(value);
    else out[lower] = [String(before), value];
  });
  return out;
}

const hopOnly = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'sec-websocket-accept',
]);

const brokenOff = new Error('the answer broke off');

const lineEnd = Buffer.from('\r\n');
