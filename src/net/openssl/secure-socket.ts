// The inside of a TLS connection as one of our sockets, on top of another one of ours, whichever engine that is of.
//
//   handshake ──► open ──► dropped ──► over     after onClose of the socket below, or at once when what the peer sends is not
//       └──────────┴───────────────────►        TLS (the alert that says so is still sent)
//
//   below: onData ─► incoming ─► SSL_read  ─► `plain`, lent to the handler
//   below: write  ◄─ outgoing ◄─ SSL_write ◄─ write
//
// `incoming` and `outgoing` serve all connections of the thread, so that they are empty whenever anybody else's code runs is what keeps
// one peer's bytes from another: what a call has put out is taken before the handler is called, and what has not been read,
// because the handler has paused, is kept by the socket. Reading does not nest.
//
// Hot: onData, write.

import { after, assert, type Instant, ms, seconds } from '../../base.ts';
import type { Alarm, Engine, NetError, Socket, SocketHandler, TlsFacts } from '../engine.ts';
import { netError } from '../errors.ts';
import { LentViews } from '../lent-views.ts';
import type { ServerTls } from '../server-tls.ts';
import { peerHasEnded, type Pointer, wantsMore } from './openssl.ts';
import { reachTlsServer, type TlsServer } from './tls-server.ts';

/** More than a record can carry. */
const plainBytes = 20 * 1024;
/** So much is made into records at a time; and what those take. */
const writtenAtOnce = 64 * 1024;
const sealedBytes = 80 * 1024;
/** How long an alert has to reach the peer. */
const farewell = seconds(1);

const nothing = new Uint8Array(0);

/** Undefined where OpenSSL cannot be reached. */
export function secureSockets(engine: Engine): SecureSockets | undefined {
  const server = reachTlsServer();
  return server === undefined ? undefined : new SecureSockets(engine, server);
}

/** Those of one engine. */
export class SecureSockets {
  readonly #engine: Engine;
  readonly #server: TlsServer;
  readonly #buffers: Buffers;

  constructor(engine: Engine, server: TlsServer) {
    this.#engine = engine;
    this.#server = server;
    this.#buffers = new Buffers(server);
  }

  /** For `listen`: every socket that is accepted begins with a handshake; one too many is closed at once. */
  behind(serving: ServerTls, accept: (socket: Socket) => SocketHandler): (socket: Socket) => SocketHandler {
    let inside = 0;
    const left = (): void => void (inside -= 1);
    return (socket) => {
      inside += 1;
      const secure = new SecureSocket(this.#engine, this.#server, this.#buffers, socket, serving, accept, left);
      if (inside > (serving.connectionsMax ?? Infinity)) socket.destroy();
      return secure;
    };
  }

  /** The engine's. */
  secure(
    socket: Socket,
    first: Uint8Array,
    serving: ServerTls,
    accept: (socket: Socket) => SocketHandler,
  ): SocketHandler {
    const secure = new SecureSocket(this.#engine, this.#server, this.#buffers, socket, serving, accept, () => {});
    if (first.length > 0) secure.onData(socket, first, this.#engine.now());
    return secure;
  }
}

/** Where OpenSSL puts what it has opened and what it has sealed; lent, one after the other. */
class Buffers {
  readonly plain = new LentViews(plainBytes);
  readonly sealed = new LentViews(sealedBytes);
  readonly plainAt: Pointer;
  readonly sealedAt: Pointer;
  /** Somebody's bytes are being read. */
  busy = false;

  constructor({ openssl }: TlsServer) {
    this.plainAt = openssl.addressOf(this.plain.buffer);
    this.sealedAt = openssl.addressOf(this.sealed.buffer);
  }
}

class SecureSocket implements Socket, SocketHandler {
  context: unknown = undefined;
  readonly #engine: Engine;
  readonly #server: TlsServer;
  readonly #buffers: Buffers;
  readonly #below: Socket;
  readonly #serving: ServerTls;
  readonly #accept: (socket: Socket) => SocketHandler;
  readonly #left: () => void;
  #handler: SocketHandler | undefined;
  #connection: Pointer;
  #state: 'handshake' | 'open' | 'dropped' | 'over' = 'handshake';
  #paused = false;
  /** `end` was called. */
  #ending = false;
  /** The peer will send no more, it has said so in TLS (then there is nothing more to be read); the handler was told. */
  #peerEnded = false;
  #notified = false;
  #peerEndTold = false;
  /** Came, and was not read because the handler had paused. */
  #held: Uint8Array = nothing;
  #readHeld: Alarm | undefined;
  #patience: Alarm | undefined;
  #facts: TlsFacts | undefined;

  constructor(
    engine: Engine,
    server: TlsServer,
    buffers: Buffers,
    below: Socket,
    serving: ServerTls,
    accept: (socket: Socket) => SocketHandler,
    left: () => void,
  ) {
    this.#engine = engine;
    this.#server = server;
    this.#buffers = buffers;
    this.#below = below;
    this.#serving = serving;
    this.#accept = accept;
    this.#left = left;
    this.#connection = server.open(serving);
    this.#dropAt(after(engine.now(), ms(serving.handshakeTimeoutMs)));
  }

  #dropAt(at: Instant): void {
    this.#patience = this.#engine.alarm(at, () => {
      this.#patience = undefined;
      this.#below.destroy();
    });
  }

  // ── from below ────────────────────────────────────────────────────────────────────────────────────────────────────

  onData(_below: Socket, bytes: Uint8Array, now: Instant): void {
    if (this.#notified) return;
    const held = this.#held;
    this.#held = nothing;
    this.#feed(held.length === 0 ? bytes : Buffer.concat([held, bytes]), now);
  }

  /** Reads as much as the handler wants. Whatever way this ends, nothing stays in the memories that others use. */
  #feed(bytes: Uint8Array, now: Instant): void {
    const { openssl } = this.#server;
    assert(!this.#buffers.busy, 'one reads after the other');
    this.#buffers.busy = true;
    try {
      openssl.BIO_write(openssl.incoming, bytes, bytes.length);
      if (this.#state === 'handshake') this.#shakeHands(now);
      if (this.#state === 'open') this.#read(now);
    } finally {
      this.#buffers.busy = false;
      if (openssl.BIO_ctrl_pending(openssl.incoming) > 0) this.#takeRest();
    }
    if (this.#peerEnded) this.#tellEnd(now);
  }

  #takeRest(): void {
    const { openssl } = this.#server;
    const rest = Buffer.allocUnsafeSlow(openssl.BIO_ctrl_pending(openssl.incoming));
    openssl.BIO_read(openssl.incoming, openssl.addressOf(rest), rest.length);
    if (this.#state === 'open' && !this.#notified) this.#held = rest;
  }

  #shakeHands(now: Instant): void {
    const result = this.#server.shakeHands(this.#connection, this.#serving);
    this.#send();
    if (result !== 1) return this.#whyNot(result, now);
    this.#patience?.cancel();
    this.#patience = undefined;
    this.#state = 'open';
    this.#handler = this.#accept(this);
    return undefined;
  }

  #read(now: Instant): void {
    const { openssl } = this.#server;
    const { plain, plainAt } = this.#buffers;
    while (this.#state === 'open' && !this.#paused) {
      // What went wrong elsewhere would be taken for an answer about this connection.
      openssl.ERR_clear_error();
      const count = openssl.SSL_read(this.#connection, plainAt, plainBytes);
      // An answer to what is no data, such as a change of keys.
      this.#send();
      if (count <= 0) return this.#whyNot(count, now);
      this.#handler?.onData(this, plain.view(count), now);
    }
    return undefined;
  }

  /** OpenSSL has not done what it was called for. */
  #whyNot(result: number, now: Instant): void {
    const { openssl } = this.#server;
    const reason = openssl.SSL_get_error(this.#connection, result);
    if (reason === wantsMore) return;
    if (reason === peerHasEnded) {
      this.#notified = true;
      this.#peerEnded = true;
      return;
    }
    // Whoever calls OpenSSL next must not find our error.
    openssl.ERR_clear_error();
    this.#fail(netError('open', 'EPROTO', 'what the peer sends is not TLS, or not as it was agreed'), now);
  }

  /** The alert has been written; it gets a moment to leave. */
  #fail(error: NetError, now: Instant): void {
    this.#below.end();
    this.#patience?.cancel();
    this.#dropAt(after(now, farewell));
    this.#over(error, now);
  }

  #tellEnd(now: Instant): void {
    if (this.#peerEndTold || this.#paused || this.#held.length > 0 || this.#state !== 'open') return;
    this.#peerEndTold = true;
    if (this.#handler?.onEnd === undefined) this.end();
    else this.#handler.onEnd(this, now);
  }

  onDrain(_below: Socket, now: Instant): void {
    if (this.#state === 'open') this.#handler?.onDrain?.(this, now);
  }

  onEnd(_below: Socket, now: Instant): void {
    if (this.#state !== 'open') return this.#below.destroy();
    this.#peerEnded = true;
    this.#tellEnd(now);
    return undefined;
  }

  onClose(_below: Socket, error: NetError | undefined, now: Instant): void {
    this.#patience?.cancel();
    this.#readHeld?.cancel();
    this.#server.openssl.SSL_free(this.#connection);
    this.#connection = 0n;
    this.#left();
    this.#over(error, now);
  }

  #over(error: NetError | undefined, now: Instant): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#held = nothing;
    this.#handler?.onClose(this, error, now);
  }

  // ── from above ────────────────────────────────────────────────────────────────────────────────────────────────────

  write(bytes: Uint8Array): boolean {
    if (this.#state !== 'open' || this.#ending) return false;
    if (bytes.length <= writtenAtOnce) return this.#seal(bytes);
    let room = true;
    for (let from = 0; from < bytes.length; from += writtenAtOnce) {
      room = this.#seal(bytes.subarray(from, from + writtenAtOnce));
    }
    return room;
  }

  #seal(bytes: Uint8Array): boolean {
    const { openssl } = this.#server;
    if (bytes.length > 0 && openssl.SSL_write(this.#connection, bytes, bytes.length) <= 0) openssl.ERR_clear_error();
    return this.#send();
  }

  /** Hands down what OpenSSL has put out. False: the socket below is behind. */
  #send(): boolean {
    const { openssl } = this.#server;
    const { sealed, sealedAt } = this.#buffers;
    let room = true;
    while (openssl.BIO_ctrl_pending(openssl.outgoing) > 0) {
      const count = openssl.BIO_read(openssl.outgoing, sealedAt, sealedBytes);
      room = this.#below.write(sealed.view(count));
    }
    return room;
  }

  get queued(): number {
    return this.#below.queued;
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#below.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#below.resume();
    // Nothing is called inside `resume`.
    if (this.#held.length > 0 || this.#peerEnded) this.#readHeld ??= this.#engine.alarm(this.#engine.now(), this.#goOn);
  }

  readonly #goOn = (now: Instant): void => {
    this.#readHeld = undefined;
    if (this.#state !== 'open' || this.#paused) return;
    const held = this.#held;
    this.#held = nothing;
    if (held.length > 0) this.#feed(held, now);
    else if (this.#peerEnded) this.#tellEnd(now);
  };

  end(): void {
    if (this.#state !== 'open' || this.#ending) return;
    this.#ending = true;
    const { openssl } = this.#server;
    if (openssl.SSL_shutdown(this.#connection) < 0) openssl.ERR_clear_error();
    this.#send();
    this.#below.end();
  }

  destroy(reset = false): void {
    if (this.#state === 'open') this.#state = 'dropped';
    this.#below.destroy(reset);
  }

  get localPort(): number {
    return this.#below.localPort;
  }

  get remotePort(): number {
    return this.#below.remotePort;
  }

  get remoteAddress(): string {
    return this.#below.remoteAddress;
  }

  get tls(): TlsFacts | undefined {
    if (this.#state !== 'handshake' && this.#connection !== 0n) this.#facts ??= this.#ask();
    return this.#facts;
  }

  #ask(): TlsFacts {
    const { openssl } = this.#server;
    const place = new BigUint64Array(2);
    const [at, length] = [new Uint8Array(place.buffer, 0, 8), new Uint8Array(place.buffer, 8, 8)];
    openssl.SSL_get0_alpn_selected(this.#connection, at, length);
    const [name = 0n, size = 0n] = place;
    return {
      alpn: name === 0n ? undefined : openssl.bytesAt(name, Number(size)).toString('latin1'),
      resumed: openssl.SSL_session_reused(this.#connection) === 1,
      protocol: openssl.textAt(openssl.SSL_get_version(this.#connection)),
    };
  }
}
