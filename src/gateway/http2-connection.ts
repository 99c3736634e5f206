// A client that speaks HTTP/2. `node:http2` reads the frames; what a stream asks for lives the very life of a request of
// HTTP/1.1, because to the rest of the gateway each stream is a connection of its own with one request on it (`Http2Stream`).
//
//   socket ─► node:http2 ─► stream 1 ─► ClientConnection ─► exchange
//                      ├──► stream 3 ─► ClientConnection ─► exchange
//
// One reading of a message, one set of deadlines, retries, counts. The price is a head written and read once more for each request,
// some microseconds beside the forty that `node:http2` takes.
//
// What bounds a connection of HTTP/2, and what becomes of whoever goes beyond it:
//
//   streams at once             http2.streams_max         further ones are refused (REFUSED_STREAM: safe to send again)
//   a list of fields            head_bytes_max            the stream is refused
//   CONTINUATION without end    by nghttp2, 8 frames      GOAWAY
//   streams opened and reset    http2.resets_burst, …     GOAWAY, ENHANCE_YOUR_CALM (CVE-2023-44487)
//   SETTINGS, PING              32 entries, 10 unanswered GOAWAY
//   what waits to be sent       16 MiB                    further streams are refused
//   silence without a stream    idle_timeout              GOAWAY
//
// A drain says GOAWAY with the highest number there is, so that requests on their way are still taken, and a second later the real
// one; what is under way is finished.

import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { after, type Instant, seconds } from '../base.ts';
import { type Socket, type SocketHandler, streamOf } from '../net.ts';
import type { ConnectionEnds } from '../wire.ts';
import type { DataPlane } from './data-plane.ts';
import { Http2Stream } from './http2-stream.ts';
import { Timeout } from './timeouts.ts';

const lastStream = 2 ** 31 - 1;
/** Requests that were on their way when we said that we go. */
const farewell = seconds(1);
const sessionMemoryMb = 16;

export class Http2Connection {
  /** Of the socket below. */
  readonly handler: SocketHandler;
  readonly #plane: DataPlane;
  readonly #session: ServerHttp2Session;
  readonly #ends: ConnectionEnds;
  readonly #secure: boolean;
  #streams = 0;
  readonly #timeout: Timeout;
  #leaving = false;

  constructor(plane: DataPlane, socket: Socket, first: Uint8Array, ends: ConnectionEnds | undefined) {
    this.#plane = plane;
    this.#ends = ends ?? plane.endsOf(socket);
    this.#secure = socket.tls !== undefined;
    this.#timeout = new Timeout(() => this.#tooQuiet());
    const { stream, handler } = streamOf(socket, first);
    this.handler = handler;
    this.#session = handshake(stream, plane);
    this.#session.on('stream', (opened: ServerHttp2Stream, _headers, flags: number, raw: string[]) =>
      this.#opened(opened, raw, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0),
    );
    // What a peer does wrong ends its session, and nobody else's.
    this.#session.on('error', () => this.#session.destroy());
    this.#session.on('close', () => this.#closed());
    plane.guests.add(this);
    plane.timeouts.set(this.#timeout, after(plane.engine.now(), plane.config.limits.idleTimeout));
  }

  #opened(stream: ServerHttp2Stream, raw: readonly string[], endOfRequest: boolean): void {
    const { connectionsMax } = this.#plane.config.limits;
    if (this.#plane.clients.size >= connectionsMax) {
      this.#plane.refusedConnections += 1;
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    this.#streams += 1;
    this.#plane.timeouts.cancel(this.#timeout);
    stream.once('close', () => this.#streamClosed());
    new Http2Stream(this.#plane, stream, this.#ends, this.#secure).begin(raw, endOfRequest);
    this.#plane.flush();
  }

  #streamClosed(): void {
    this.#streams -= 1;
    if (this.#streams > 0 || this.#session.destroyed) return;
    const { limits } = this.#plane.config;
    this.#plane.timeouts.set(this.#timeout, after(this.#plane.engine.now(), limits.idleTimeout));
  }

  /** Nothing has been asked for a while. Half of a header block may have: the session would wait for the rest. */
  #tooQuiet(): void {
    this.#session.close();
    this.#plane.engine.alarm(after(this.#plane.engine.now(), farewell), () => this.#session.destroy());
  }

  drain(now: Instant): void {
    if (this.#leaving || this.#session.destroyed) return;
    this.#leaving = true;
    this.#session.goaway(constants.NGHTTP2_NO_ERROR, lastStream);
    this.#plane.engine.alarm(after(now, farewell), () => {
      if (!this.#session.destroyed) this.#session.close();
    });
  }

  destroy(): void {
    this.#session.destroy();
  }

  #closed(): void {
    this.#plane.timeouts.forget(this.#timeout);
    this.#plane.guestLeft(this);
  }
}

function handshake(stream: ReturnType<typeof streamOf>['stream'], plane: DataPlane): ServerHttp2Session {
  const { limits } = plane.config;
  return performServerHandshake(stream, {
    settings: {
      maxConcurrentStreams: limits.http2StreamsMax,
      maxHeaderListSize: limits.headBytesMax,
      enablePush: false,
      enableConnectProtocol: true,
    },
    maxHeaderListPairs: limits.fieldsMax + pseudoFields,
    maxSessionMemory: sessionMemoryMb,
    streamResetBurst: limits.http2ResetsBurst,
    streamResetRate: limits.http2ResetsPerSecond,
  });
}

/** Method, scheme, authority, path, protocol. */
const pseudoFields = 5;
