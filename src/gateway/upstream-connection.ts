// A connection to an endpoint. It carries one exchange at a time and rests in the endpoint's pool in between.
//
//               onOpen              answer complete, both sides keep it
//   connecting ───────► carrying ◄──────────────────────────────────────► resting
//        │                 │                                                 │
//        └─────────────────┴───────────────► closed ◄────────────────────────┘
//                      failed, discarded, worn, idle too long, or closed by the endpoint
//
// Anything that an endpoint sends on a resting connection answers no request of ours: the connection is closed (RFC 9112
// section 9.2). An answer whose end is the connection's end is complete only when the endpoint closed in order.
//
// Hot: carry, write, onData, rest.

import { after, type Duration, type Instant, ns } from '../base.ts';
import type { NetError, Socket, SocketHandler } from '../net.ts';
import { type Fields, type ResponseHead, type ResponseReader, responseReader } from '../wire.ts';
import type { ClientConnection } from './client-connection.ts';
import type { DataPlane } from './data-plane.ts';
import type { EndpointErrorKind, LiveEndpoint } from './live-endpoint.ts';
import type { Phase } from './request.ts';
import { Timeout } from './timeouts.ts';

/** What a connection carries: an exchange, or the second attempt of one. */
export interface Carried {
  /** For whom. */
  readonly client: ClientConnection;
  readonly phase: Phase;
  readonly status: number;
  readonly answerComplete: boolean;
  connected(connection: UpstreamConnection, now: Instant): void;
  information(head: ResponseHead): void;
  answerHead(head: ResponseHead, now: Instant): void;
  answerBody(bytes: Uint8Array, from: number, to: number): void;
  answerTrailers(trailers: Fields): void;
  answerEnd(): void;
  finishAnswer(now: Instant): void;
  upstreamDrained(now: Instant): void;
  upstreamLost(connection: UpstreamConnection, kind: EndpointErrorKind, now: Instant): void;
  tunnelFromUpstream(bytes: Uint8Array, now: Instant): void;
  tunnelUpstreamEnded(): void;
}

export class UpstreamConnection implements SocketHandler {
  readonly endpoint: LiveEndpoint;
  readonly #plane: DataPlane;
  readonly #reader: ResponseReader;
  readonly #socket: Socket;
  readonly #timeout: Timeout;
  readonly #openedAt: Instant;
  readonly #ageMax: Duration;
  #exchange: Carried | undefined;
  #state: 'connecting' | 'carrying' | 'resting' | 'closed' = 'connecting';
  #paused = false;
  #carried = 0;
  /** Bytes came that answer nothing. */
  #tainted = false;
  /** Bytes of the present answer have come. */
  answerBegun = false;
  idleSince: Instant;
  /** Neighbours in the endpoint's pool. */
  newer: UpstreamConnection | undefined = undefined;
  older: UpstreamConnection | undefined = undefined;

  constructor(plane: DataPlane, endpoint: LiveEndpoint, exchange: Carried, now: Instant) {
    this.#plane = plane;
    this.endpoint = endpoint;
    this.#exchange = exchange;
    this.#openedAt = now;
    this.idleSince = now;
    // Connections that were opened together shall not be closed together.
    this.#ageMax = ns(plane.config.limits.upstreamAgeMax * (0.8 + 0.4 * plane.dice.next()));
    this.#timeout = new Timeout(() => this.discard());
    this.#reader = responseReader(
      {
        onInformation: (head) => this.#exchange?.information(head),
        onHead: (head) => this.#exchange?.answerHead(head, this.#plane.engine.now()),
        onBody: (bytes, from, to) => this.#exchange?.answerBody(bytes, from, to),
        onTrailers: (trailers) => this.#exchange?.answerTrailers(trailers),
        onEnd: () => this.#exchange?.answerEnd(),
      },
      plane.answerLimits,
    );
    endpoint.connections += 1;
    this.#socket = plane.engine.connect(plane.targetOf(endpoint.endpoint), this);
  }

  /** It has carried an exchange before: its peer may have closed it meanwhile without our knowing. */
  get reused(): boolean {
    return this.#carried > 1;
  }

  /** Takes an exchange on: what it writes goes to the endpoint, and what comes back is its answer. */
  carry(exchange: Carried, method: string, upgrade: boolean): void {
    this.#exchange = exchange;
    this.#state = 'carrying';
    this.#carried += 1;
    this.answerBegun = false;
    this.#plane.timeouts.cancel(this.#timeout);
    this.#reader.expect(method, upgrade);
  }

  /** What it carries is taken over by another: an exchange by its second attempt's connection. */
  handTo(exchange: Carried): void {
    this.#exchange = exchange;
  }

  /** False: the endpoint is behind; wait for `upstreamDrained`. */
  write(bytes: Uint8Array): boolean {
    return this.#socket.write(bytes);
  }

  /** The answer is complete and the connection may be used again. */
  rest(now: Instant): void {
    this.#exchange = undefined;
    if (this.#state !== 'carrying') return;
    const { endpoint } = this;
    const { limits } = this.#plane.config;
    if (this.#tainted) return this.discard();
    // It was announced as one client's.
    const spoken = this.#plane.config.upstream.proxyProtocol !== undefined;
    const worn = spoken || now - this.#openedAt > this.#ageMax;
    const unwanted = endpoint.index < 0 || !endpoint.healthy || endpoint.pool.size >= limits.idlePerEndpointMax;
    if (worn || unwanted || this.#socket.queued > 0 || this.#plane.draining) return this.discard();
    if (this.#paused) this.resume();
    this.#state = 'resting';
    this.idleSince = now;
    endpoint.pool.put(this);
    this.#plane.timeouts.set(this.#timeout, after(now, limits.upstreamIdleTimeout));
  }

  /** Closes the connection; whatever it carried has been dealt with. May be called again. */
  discard(): void {
    this.#exchange = undefined;
    if (this.#state === 'closed') return;
    this.#ended();
    this.#socket.destroy();
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** We will send no more (in a tunnel). */
  end(): void {
    this.#socket.end();
  }

  onOpen(_socket: Socket, now: Instant): void {
    if (this.#exchange === undefined) return this.discard();
    const preamble = this.#plane.preambleFor(this.#exchange.client);
    if (preamble !== undefined) this.#socket.write(preamble);
    this.#exchange.connected(this, now);
    this.#plane.flush();
  }

  onData(_socket: Socket, bytes: Uint8Array, now: Instant): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return this.discard();
    if (exchange.phase === 'tunnel') exchange.tunnelFromUpstream(bytes, now);
    else this.#readAnswer(exchange, bytes, now);
    this.#plane.flush();
  }

  #readAnswer(carried: Carried, bytes: Uint8Array, now: Instant): void {
    this.answerBegun = true;
    const consumed = this.#reader.read(bytes);
    // The beginning of an answer may have made a second attempt the exchange's own.
    const exchange = this.#exchange ?? carried;
    const bad = this.#reader.error !== undefined;
    if (bad && !exchange.answerComplete) return this.#failed('protocol', now);
    // What is wrong lies behind a whole answer: that one is good, the connection is not.
    this.#tainted = bad;
    const tunnelled = exchange.status === 101;
    exchange.finishAnswer(now);
    if (tunnelled && consumed < bytes.length) exchange.tunnelFromUpstream(bytes.subarray(consumed), now);
  }

  onDrain(_socket: Socket, now: Instant): void {
    this.#exchange?.upstreamDrained(now);
    this.#plane.flush();
  }

  onEnd(_socket: Socket, now: Instant): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return this.discard();
    if (exchange.phase === 'tunnel') return exchange.tunnelUpstreamEnded();
    if (this.#reader.eof() !== undefined || (this.#reader.idle && exchange.phase === 'sending'))
      this.#failed('closed', now);
    else exchange.finishAnswer(now);
    this.#plane.flush();
  }

  onClose(_socket: Socket, error: NetError | undefined, now: Instant): void {
    if (this.#state === 'closed') return;
    this.#failed(errorKindOf(error), now);
    this.#plane.flush();
  }

  #failed(kind: EndpointErrorKind, now: Instant): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (this.#state !== 'closed') {
      this.#ended();
      this.#socket.destroy();
    }
    exchange?.upstreamLost(this, kind, now);
  }

  #ended(): void {
    if (this.#state === 'resting') this.endpoint.pool.remove(this);
    this.#state = 'closed';
    this.endpoint.connections -= 1;
    this.#plane.timeouts.forget(this.#timeout);
  }
}

function errorKindOf(error: NetError | undefined): EndpointErrorKind {
  if (error === undefined) return 'closed';
  if (error.stage === 'open') return error.kind === 'reset' ? 'reset' : 'closed';
  if (error.kind === 'refused') return 'refused';
  return error.kind === 'connect-timeout' ? 'connect-timeout' : 'connect-other';
}
