// Sockets behind one small interface, so that two engines can stand behind it: `node` (node:net, always there) and `uring`
// (Linux io_uring through node:ffi). Whoever uses sockets, the load room and the gateway, sees only this file.
//
// The contract that both engines keep, and that one test suite checks on each:
//   - Callbacks run on the engine's thread, one after another; none is called inside `connect`, `listen` or `write`.
//   - `onData` lends its bytes: they are valid until the callback returns. Whoever needs them longer copies.
//   - `write` takes over nothing: the bytes are copied or sent before it returns, so that the caller may reuse its buffer; but
//     for what is the engine's: what it keeps (`keep`) and what it has just lent, which nobody changes.
//   - After `onClose` (exactly one for each socket that reached `connect` or `onAccept`) nothing more is called.
//   - `now` is what the clock said when this turn of the loop began.

import type { Duration, Instant } from '../base.ts';
import type { ServerTls } from './server-tls.ts';

export interface Engine {
  readonly name: 'node' | 'uring';
  /** The instant at which this turn of the loop began; one clock read a turn. */
  now(): Instant;
  connect(target: Target, handler: SocketHandler): Socket;
  /** A copy of bytes that are to be written many times, on any socket of this engine: it is sent from where it lies, so it must
   * never be changed. */
  keep(bytes: Uint8Array): Uint8Array;
  /** Resolves when the socket listens. Rejects with a `NetError`. */
  listen(at: ListenAt, accept: (socket: Socket) => SocketHandler): Promise<Listener>;
  /** Goes on with an open socket as the server's side of TLS. `first` was read from it already. What is returned handles the
   * socket from now on; `accept` is called when the handshake is done, with a socket for what is spoken inside. */
  secure(socket: Socket, first: Uint8Array, tls: ServerTls, accept: (socket: Socket) => SocketHandler): SocketHandler;
  /** Calls back once, not before `at`, within a millisecond or so after it. */
  alarm(at: Instant, ring: (now: Instant) => void): Alarm;
  /** Ends everything at once: sockets, listeners, alarms. */
  close(): Promise<void>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  /** Source address to bind, for more than one range of ports. */
  readonly localAddress?: string;
  readonly connectTimeout?: Duration;
  readonly tls?: TlsTarget;
}

export interface TlsTarget {
  readonly serverName?: string;
  readonly alpn?: readonly string[];
  readonly ca?: string;
  readonly insecure?: boolean;
}

export interface ListenAt {
  readonly host: string;
  /** 0: the kernel chooses. */
  readonly port: number;
  readonly backlog?: number;
  readonly reusePort?: boolean;
  readonly tls?: ServerTls;
  /** A socket that is bound already, and perhaps listens: inherited from another process. Host and port are its own then. The
   * engine owns it from now on. */
  readonly fd?: number;
}

export interface Socket {
  /** Free for whoever owns the socket: finds its state from a callback without a map. */
  context: unknown;
  /** Queues bytes to be sent. Returns false when more than the high-water mark is queued: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Bytes queued and not yet taken by the kernel. */
  readonly queued: number;
  /** Stop and go on reading: back-pressure towards the peer. */
  pause(): void;
  resume(): void;
  /** Sends what is queued, then says that we will send no more (FIN). */
  end(): void;
  /** Drops everything at once (RST when `reset`). `onClose` still comes, later, without an error. */
  destroy(reset?: boolean): void;
  readonly localPort: number;
  readonly remotePort: number;
  readonly remoteAddress: string;
  /** What the handshake agreed on; undefined without TLS or before it is done. */
  readonly tls: TlsFacts | undefined;
}

export interface TlsFacts {
  readonly alpn: string | undefined;
  /** The handshake was shortened by an earlier session. */
  readonly resumed: boolean;
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
}

export interface SocketHandler {
  /** `connect` succeeded (with TLS: and the handshake). Not called for accepted sockets, which are open from the start. */
  onOpen?(socket: Socket, now: Instant): void;
  onData(socket: Socket, bytes: Uint8Array, now: Instant): void;
  /** What was queued has gone down below the low-water mark. */
  onDrain?(socket: Socket, now: Instant): void;
  /** The peer will send no more. The socket may still write until it calls `end()`. Without this callback `end()` is
   * called for it. */
  onEnd?(socket: Socket, now: Instant): void;
  /** The end. `error` says why when it was not orderly. */
  onClose(socket: Socket, error: NetError | undefined, now: Instant): void;
}

/** What the world did to a socket: a value, counted and handled, never thrown on the data path. */
export interface NetError {
  /** `refused`, `reset`, `connect-timeout`, `unreachable`, `dns`, `tls`, `no-ports`, `no-files`, `address-in-use`, `other`. */
  readonly kind: NetErrorKind;
  /** While `connect`ing, or once `open`. */
  readonly stage: 'connect' | 'open' | 'listen';
  /** The system's own code, such as ECONNREFUSED. */
  readonly code: string;
  readonly message: string;
}

export type NetErrorKind =
  | 'refused'
  | 'reset'
  | 'connect-timeout'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'no-ports'
  | 'no-files'
  | 'address-in-use'
  | 'other';

export interface Listener {
  readonly port: number;
  readonly host: string;
  /** The descriptor, to be handed to another process; undefined where there is none. */
  readonly fd: number | undefined;
  /** Stops accepting; sockets already accepted go on. */
  close(): Promise<void>;
}

export interface Alarm {
  cancel(): void;
}
