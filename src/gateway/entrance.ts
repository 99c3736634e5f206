// A door of the gateway: one listener, and what stands between a connection and its first request.
//
//   accepted ─► too many? ─► preamble? ─► TLS? ─► which HTTP? ─► ClientConnection
//                  │             │                       └─────► Http2Connection
//                  ▼             ▼
//               closed     not trusted, not exact, not in time: closed
//
// A plain listener of HTTP/1.1 has nothing of that: its sockets are handled by a `ClientConnection` at once. On any other an
// `Arrival` hands the socket's callbacks to whoever is in charge at present, and gives its place back when it closes.
//
// Nothing is ever said to a connection that does not get through here: whoever is refused may be anybody.

import type { BlockList } from 'node:net';
import { after, type Instant } from '../base.ts';
import type { Engine, Listener, NetError, ServerTls, Socket, SocketHandler } from '../net.ts';
import { type ConnectionEnds, readPreamble } from '../wire.ts';
import type { DataPlane } from './data-plane.ts';
import { Http2Connection } from './http2-connection.ts';
import { type ListenerConfig, networksOf } from './listener-config.ts';
import { Timeout } from './timeouts.ts';

/** What the client says first in HTTP/2 without TLS (RFC 9113 section 3.4). */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

const nothing = new Uint8Array(0);

export class Entrance {
  config: ListenerConfig;
  readonly tls: ServerTls | undefined;
  trusted: BlockList | undefined;
  readonly plane: DataPlane;
  /** Connections that are in. */
  #inside = 0;
  #listener: Listener | undefined;

  constructor(plane: DataPlane, config: ListenerConfig, tls: ServerTls | undefined) {
    this.plane = plane;
    this.config = config;
    this.tls = tls;
    this.trusted = config.proxyProtocol === undefined ? undefined : networksOf(config.proxyProtocol.trusted);
  }

  /** Opens the door, on a socket that exists already where `fd` is given. Rejects with a `NetError`. */
  async open(
    engine: Engine,
    options: { readonly fd?: number | undefined; readonly reusePort?: boolean } = {},
  ): Promise<void> {
    const { host, port, proxyProtocol } = this.config;
    const behind = proxyProtocol !== undefined;
    this.#listener = await engine.listen(
      {
        host,
        port,
        ...(options.fd === undefined ? {} : { fd: options.fd }),
        ...(options.reusePort === true ? { reusePort: true } : {}),
        // What comes before TLS is in the clear: there it begins behind the preamble.
        ...(this.tls === undefined || behind ? {} : { tls: this.tls }),
      },
      (socket) => (this.#isPlain ? this.plane.accept(socket) : this.#arrive(socket)),
    );
  }

  /** Other settings for the same address: whoever comes from now on meets them. `openedLike` says that this is possible. */
  become(config: ListenerConfig): void {
    this.config = config;
    this.trusted = config.proxyProtocol === undefined ? undefined : networksOf(config.proxyProtocol.trusted);
  }

  /** A socket that listens for TLS cannot become one that does not, nor can one whose TLS begins behind a preamble. */
  openedLike(config: ListenerConfig): boolean {
    const secure = config.tls !== undefined;
    const behind = config.proxyProtocol !== undefined;
    return secure === (this.tls !== undefined) && (!secure || behind === (this.config.proxyProtocol !== undefined));
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** To be handed to another process. */
  get fd(): number | undefined {
    return this.#listener?.fd;
  }

  /** Whoever is inside stays. */
  async close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.close();
  }

  get #isPlain(): boolean {
    const { tls, http2, proxyProtocol, connectionsMax } = this.config;
    const { connectionsPerAddressMax } = this.plane.config.limits;
    const bounded = connectionsMax !== undefined || connectionsPerAddressMax !== undefined;
    return tls === undefined && !http2 && proxyProtocol === undefined && !bounded;
  }

  #arrive(socket: Socket): SocketHandler {
    const { connectionsMax } = this.config;
    const arrival = new Arrival(this, socket);
    if (connectionsMax !== undefined && this.#inside >= connectionsMax) {
      this.plane.refusedConnections += 1;
      socket.destroy();
      return arrival;
    }
    this.#inside += 1;
    arrival.begin();
    return arrival;
  }

  left(): void {
    this.#inside -= 1;
  }
}

/** A socket on its way in. */
class Arrival implements SocketHandler {
  readonly #entrance: Entrance;
  readonly #plane: DataPlane;
  readonly #socket: Socket;
  #inCharge: SocketHandler = nobody;
  #inside = false;
  #ends: ConnectionEnds | undefined;
  /** Counted under this address. */
  #countedAt: string | undefined;

  constructor(entrance: Entrance, socket: Socket) {
    this.#entrance = entrance;
    this.#plane = entrance.plane;
    this.#socket = socket;
  }

  begin(): void {
    this.#inside = true;
    const { trusted, config, tls } = this.#entrance;
    if (trusted === undefined || config.proxyProtocol === undefined) return this.#known(nothing, tls !== undefined);
    if (!isTrusted(trusted, this.#socket.remoteAddress)) return this.#refuse();
    const until = after(this.#plane.engine.now(), config.proxyProtocol.timeout);
    this.#inCharge = new Introduction(this.#plane, this.#socket, until, (ends, rest) => {
      this.#ends = ends;
      if (ends === undefined && rest === undefined) return this.#refuse();
      if (tls === undefined) return this.#known(rest ?? nothing, false);
      if (!this.#mayEnter()) return this.#refuse();
      this.#inCharge = this.#plane.engine.secure(this.#socket, rest ?? nothing, tls, (inner) => {
        const within = new Chooser(this.#plane, inner, this.#ends ?? this.#plane.endsOf(this.#socket));
        return within.chosen(inner.tls?.alpn === 'h2', nothing);
      });
      return undefined;
    });
  }

  /** It is known who is there: what do they speak? */
  #known(first: Uint8Array, secure: boolean): void {
    if (!this.#mayEnter()) return this.#refuse();
    const chooser = new Chooser(this.#plane, this.#socket, this.#ends);
    if (secure) this.#inCharge = chooser.chosen(this.#socket.tls?.alpn === 'h2', nothing);
    else if (this.#entrance.config.http2) {
      this.#inCharge = chooser;
      if (first.length > 0) chooser.onData(this.#socket, first, this.#plane.engine.now());
    } else this.#inCharge = chooser.chosen(false, first);
  }

  #mayEnter(): boolean {
    if (this.#plane.config.limits.connectionsPerAddressMax === undefined) return true;
    const address = this.#ends?.source.address ?? this.#socket.remoteAddress;
    if (!this.#plane.crowd.enter(address)) return false;
    this.#countedAt = address;
    return true;
  }

  #refuse(): void {
    this.#plane.refusedConnections += 1;
    this.#inCharge = nobody;
    this.#socket.destroy();
  }

  onData(socket: Socket, bytes: Uint8Array, now: Instant): void {
    this.#inCharge.onData(socket, bytes, now);
  }

  onDrain(socket: Socket, now: Instant): void {
    this.#inCharge.onDrain?.(socket, now);
  }

  onEnd(socket: Socket, now: Instant): void {
    if (this.#inCharge.onEnd === undefined) socket.end();
    else this.#inCharge.onEnd(socket, now);
  }

  onClose(socket: Socket, error: NetError | undefined, now: Instant): void {
    if (this.#countedAt !== undefined) this.#plane.crowd.leave(this.#countedAt);
    if (this.#inside) this.#entrance.left();
    this.#inCharge.onClose(socket, error, now);
  }
}

/** Waits for the preamble of the PROXY protocol. */
class Introduction implements SocketHandler {
  readonly #plane: DataPlane;
  readonly #socket: Socket;
  readonly #timeout: Timeout;
  /** Both undefined: no preamble. The ends alone undefined: the socket's own. */
  readonly #done: (ends: ConnectionEnds | undefined, rest: Uint8Array | undefined) => void;
  #heard: Uint8Array = nothing;

  constructor(
    plane: DataPlane,
    socket: Socket,
    until: Instant,
    done: (ends: ConnectionEnds | undefined, rest: Uint8Array | undefined) => void,
  ) {
    this.#plane = plane;
    this.#socket = socket;
    this.#done = done;
    this.#timeout = new Timeout(() => done(undefined, undefined));
    plane.timeouts.set(this.#timeout, until);
    plane.guests.add(this);
  }

  onData(_socket: Socket, bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#heard.length + bytes.length);
    joined.set(this.#heard);
    joined.set(bytes, this.#heard.length);
    this.#heard = joined;
    const read = readPreamble(joined);
    if (read.kind === 'incomplete') return;
    this.#over();
    if (read.kind === 'bad') this.#done(undefined, undefined);
    else this.#done(read.ends, joined.subarray(read.length));
  }

  onClose(): void {
    this.#over();
  }

  /** The gateway stops: nothing has been asked yet. */
  drain(): void {
    this.destroy();
  }

  destroy(): void {
    this.#over();
    this.#socket.destroy();
  }

  #over(): void {
    this.#plane.timeouts.forget(this.#timeout);
    this.#plane.guestLeft(this);
  }
}

/** Tells HTTP/2 from HTTP/1.1 by the first bytes: the preface of the one is no request of the other, and they differ within the
 * first three bytes of any method that begins with another letter. */
class Chooser implements SocketHandler {
  readonly #plane: DataPlane;
  readonly #socket: Socket;
  readonly #ends: ConnectionEnds | undefined;
  #heard: Uint8Array = nothing;
  #chosen: SocketHandler | undefined;
  readonly #timeout: Timeout;

  constructor(plane: DataPlane, socket: Socket, ends: ConnectionEnds | undefined) {
    this.#plane = plane;
    this.#socket = socket;
    this.#ends = ends;
    this.#timeout = new Timeout(() => socket.destroy());
  }

  chosen(http2: boolean, first: Uint8Array): SocketHandler {
    if (http2) return new Http2Connection(this.#plane, this.#socket, first, this.#ends).handler;
    const client = this.#plane.accept(this.#socket, this.#ends);
    if (first.length > 0) client.onData(this.#socket, first, this.#plane.engine.now());
    return client;
  }

  onData(socket: Socket, bytes: Uint8Array, now: Instant): void {
    if (this.#chosen !== undefined) return this.#chosen.onData(socket, bytes, now);
    const joined = Buffer.concat([this.#heard, bytes]);
    const compared = Math.min(joined.length, preface.length);
    const like = joined.subarray(0, compared).equals(preface.subarray(0, compared));
    if (like && compared < preface.length) {
      if (this.#heard.length === 0) {
        this.#plane.guests.add(this);
        this.#plane.timeouts.set(this.#timeout, after(now, this.#plane.config.limits.headTimeout));
      }
      this.#heard = joined;
      return undefined;
    }
    this.#over();
    this.#chosen = this.chosen(like, joined);
    return undefined;
  }

  onDrain(socket: Socket, now: Instant): void {
    this.#chosen?.onDrain?.(socket, now);
  }

  onEnd(socket: Socket, now: Instant): void {
    if (this.#chosen?.onEnd === undefined) socket.end();
    else this.#chosen.onEnd(socket, now);
  }

  onClose(socket: Socket, error: NetError | undefined, now: Instant): void {
    this.#over();
    this.#chosen?.onClose(socket, error, now);
  }

  drain(): void {
    this.destroy();
  }

  destroy(): void {
    this.#over();
    this.#socket.destroy();
  }

  #over(): void {
    this.#plane.timeouts.forget(this.#timeout);
    this.#plane.guestLeft(this);
  }
}

function isTrusted(networks: BlockList, address: string): boolean {
  // An address of IPv4 that came to a listener of IPv6.
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return networks.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4');
}

const nobody: SocketHandler = { onData: () => {}, onClose: () => {} };
