// The client's side of HTTP/2, by Node's own implementation behind a few plain callbacks: one link is one connection, on which
// any number of requests are under way at once, each a stream.
//
//   connecting ── TCP, TLS, both sides' SETTINGS ──► ready ── GOAWAY ──► draining ──► closed
//                                                      │ request: onHead, onBody …, onEnd
//                                                      └────────────────────── or onFailed, exactly one of the two
//
// A link is ready when the peer's SETTINGS are there and not before: how many streams the peer allows is in them, and Node would
// otherwise keep what is beyond in a queue of its own, where nobody sees it wait.
//
// Flow control: what comes in is consumed at once, so the windows are as large as a fast download needs and never close for
// long; what goes out waits for the peer's window inside Node.

import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import type { NetError, Target } from './engine.ts';
import { netError } from './errors.ts';

export interface Http2Link {
  /** Streams that the peer allows at once; Infinity when it says nothing. Known when the link is ready. */
  readonly streamsMax: number;
  /** Begins a request: `fields` are names and values in turn, pseudo-fields first. The link must be ready. Callbacks come in
   * later turns. */
  request(fields: readonly string[], body: Uint8Array | undefined, handler: Http2Answer): Http2Request;
  /** Drops everything at once. `onClosed` still comes, later, without an error. */
  destroy(): void;
}

export interface Http2LinkHandler {
  onReady(): void;
  /** The peer takes no more requests; those that it has seen go on. */
  onGoAway(): void;
  /** The end, exactly once. Requests that were under way have failed before. */
  onClosed(error: NetError | undefined): void;
}

/** The fields of an answer's head, pseudo-fields left out. */
export interface Http2Fields {
  header(lowerCaseName: string): string | undefined;
  each(visit: (name: string, value: string) => void): void;
}

export interface Http2Answer {
  /** `bytes`: what the head would be as text; how far HPACK shortened it is not told. */
  onHead(status: number, fields: Http2Fields, bytes: number): void;
  onBody(bytes: Uint8Array): void;
  onEnd(): void;
  onFailed(failure: Http2Failure): void;
}

/** `refused`: the peer says that it has not looked at the request (REFUSED_STREAM, or beyond the last stream of a GOAWAY).
 * `reset`: RST_STREAM with any other code before a head. `truncated`: after it, or an end before its Content-Length. `link`: the connection ended; why
 * is told by `onClosed`. */
export type Http2Failure = 'refused' | 'reset' | 'truncated' | 'link';

export interface Http2Request {
  /** Gives it up: RST_STREAM with CANCEL. Nothing more is called. */
  cancel(): void;
}

const streamWindow = 4 * 1024 * 1024;
const linkWindow = 32 * 1024 * 1024;
/** Megabytes that Node may keep for one link, instead of 10: with thousands of streams it would refuse them by itself. */
const memoryMax = 256;
const noSuchLimit = 0xffff_ffff;
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

/** Opens a link: with TLS the protocol is agreed on by ALPN (h2), without it both sides know beforehand (h2c). */
export function connectHttp2(target: Target, handler: Http2LinkHandler): Http2Link {
  return new Link(target, handler);
}

class Link implements Http2Link {
  streamsMax = Infinity;
  readonly #session: http2.ClientHttp2Session;
  readonly #handler: Http2LinkHandler;
  #error: NetError | undefined;
  #stage: 'connect' | 'open' = 'connect';
  #ready = false;

  constructor(target: Target, handler: Http2LinkHandler) {
    this.#handler = handler;
    const socket = socketTo(target);
    const authority = `${target.tls === undefined ? 'http' : 'https'}://${authorityOf(target)}`;
    const session = http2.connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      maxSessionMemory: memoryMax,
    });
    this.#session = session;
    session.on('connect', () => this.#connected(socket));
    session.on('remoteSettings', (settings: http2.Settings) => this.#settled(settings.maxConcurrentStreams));
    session.on('goaway', () => handler.onGoAway());
    session.on('error', (error: NodeJS.ErrnoException) => {
      this.#error ??= netError(this.#stage, error.code ?? 'UNKNOWN', error.message);
    });
    session.on('close', () => handler.onClosed(this.#error));
  }

  request(fields: readonly string[], body: Uint8Array | undefined, handler: Http2Answer): Http2Request {
    if (this.#session.closed || this.#session.destroyed) return new LateRequest(this.#session.destroyed, handler);
    const stream = this.#session.request([...fields], { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return new Request(stream, this.#session, handler, fields[1] === 'HEAD');
  }

  destroy(): void {
    if (!this.#session.destroyed) this.#session.destroy();
  }

  #connected(socket: net.Socket): void {
    this.#stage = 'open';
    // Node tells of it even when we have left meanwhile.
    if (this.#session.destroyed) return;
    if (socket instanceof tls.TLSSocket && socket.alpnProtocol !== 'h2') {
      const agreed = socket.alpnProtocol === false || socket.alpnProtocol === null ? 'nothing' : socket.alpnProtocol;
      const message = `the server does not offer HTTP/2: of h2, ALPN agreed on ${agreed}`;
      this.#error = { kind: 'tls', stage: 'connect', code: 'ALPN', message };
      this.#session.destroy();
      return;
    }
    this.#session.setLocalWindowSize(linkWindow);
  }

  #settled(streamsMax: number | undefined): void {
    this.streamsMax = streamsMax === undefined || streamsMax === noSuchLimit ? Infinity : streamsMax;
    if (this.#ready || this.#session.destroyed) return;
    this.#ready = true;
    this.#handler.onReady();
  }
}

/** One stream. */
class Request implements Http2Request {
  readonly #stream: http2.ClientHttp2Stream;
  readonly #session: http2.ClientHttp2Session;
  readonly #handler: Http2Answer;
  readonly #isHead: boolean;
  #over = false;
  #answered = false;
  #promised: number | undefined;
  #received = 0;

  constructor(
    stream: http2.ClientHttp2Stream,
    session: http2.ClientHttp2Session,
    handler: Http2Answer,
    isHead: boolean,
  ) {
    this.#stream = stream;
    this.#session = session;
    this.#handler = handler;
    this.#isHead = isHead;
    stream.on('response', (headers, _flags, raw) => this.#head(Number(headers[':status']), raw));
    stream.on('data', (bytes: Uint8Array) => {
      this.#received += bytes.length;
      if (!this.#over) handler.onBody(bytes);
    });
    stream.on('end', () => this.#ended());
    // The code of the error is on the stream too; without a listener it would be thrown.
    stream.on('error', () => {});
    stream.on('close', () => this.#closed());
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream.close(NGHTTP2_CANCEL);
  }

  #head(status: number, raw: readonly string[]): void {
    if (this.#over) return;
    this.#answered = true;
    const fields = new RawFields(raw);
    const length = this.#isHead || status === 204 || status === 304 ? undefined : fields.header('content-length');
    this.#promised = length === undefined ? undefined : Number(length);
    this.#handler.onHead(status, fields, fields.bytes);
  }

  /** A stream that was reset without an error ends in Node's eyes too: only its length tells. */
  #ended(): void {
    if (this.#over || !this.#answered) return;
    if (this.#stream.rstCode !== NGHTTP2_NO_ERROR || this.#session.destroyed) return;
    this.#over = true;
    if (this.#promised !== undefined && this.#received < this.#promised) this.#handler.onFailed('truncated');
    else this.#handler.onEnd();
  }

  #closed(): void {
    if (this.#over) return;
    this.#over = true;
    this.#handler.onFailed(this.#failure());
  }

  #failure(): Http2Failure {
    const code = this.#stream.rstCode;
    if (code === NGHTTP2_REFUSED_STREAM) return 'refused';
    if (this.#session.destroyed) return 'link';
    return this.#answered ? 'truncated' : 'reset';
  }
}

/** A request between a GOAWAY and its event, or in the turn in which the connection broke: it fails in a later turn, when whoever
 * asked has heard of that. */
class LateRequest implements Http2Request {
  readonly #immediate: NodeJS.Immediate;

  constructor(broken: boolean, handler: Http2Answer) {
    this.#immediate = setImmediate(() => handler.onFailed(broken ? 'link' : 'refused'));
  }

  cancel(): void {
    clearImmediate(this.#immediate);
  }
}

class RawFields implements Http2Fields {
  readonly #raw: readonly string[];

  constructor(raw: readonly string[]) {
    this.#raw = raw;
  }

  get bytes(): number {
    return this.#raw.reduce((sum, text) => sum + text.length, 0);
  }

  header(lowerCaseName: string): string | undefined {
    const index = this.#raw.findIndex((text, at) => at % 2 === 0 && text === lowerCaseName);
    return index === -1 ? undefined : this.#raw[index + 1];
  }

  each(visit: (name: string, value: string) => void): void {
    for (let at = 0; at + 1 < this.#raw.length; at += 2) {
      const name = this.#raw[at] ?? '';
      if (!name.startsWith(':')) visit(name, this.#raw[at + 1] ?? '');
    }
  }
}

function socketTo(target: Target): net.Socket {
  const at = {
    host: target.host,
    port: target.port,
    ...(target.localAddress === undefined ? {} : { localAddress: target.localAddress }),
  };
  const socket = target.tls === undefined ? net.connect(at) : tls.connect({ ...at, ...tlsOptions(target, target.tls) });
  socket.setNoDelay(true);
  return socket;
}

function tlsOptions(target: Target, given: NonNullable<Target['tls']>): tls.ConnectionOptions {
  const name = given.serverName ?? target.host;
  return {
    ALPNProtocols: ['h2'],
    rejectUnauthorized: given.insecure !== true,
    // SNI carries names only; an address is left out (RFC 6066, 3).
    ...(net.isIP(name) === 0 ? { servername: name } : {}),
    ...(given.ca === undefined ? {} : { ca: given.ca }),
  };
}

const authorityOf = ({ host, port }: Target): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
