// The portable engine: node:net and node:tls behind our interface.
//
// What it adds to node:net is thrift. Reads go into one buffer that all sockets share (`onread`), lent to the handler as a
// view that is made once for each length; the clock is read once a turn (see `Turn`), all alarms hang on one timer (see
// `Alarms`), and what is written leaves at the end of the turn (see `Batch`).

import net from 'node:net';
import tls from 'node:tls';
import { after, assert, type Instant, instantAt } from '../base.ts';
import { Alarms } from './alarms.ts';
import { Batch } from './batch.ts';
import type { Alarm, Engine, Listener, ListenAt, NetError, Socket, SocketHandler, Target, TlsFacts } from './engine.ts';
import { netError } from './errors.ts';
import { LentViews } from './lent-views.ts';
import { type SecureSockets, secureSockets } from './openssl/secure-socket.ts';
import type { ServerTls } from './server-tls.ts';
import { streamOf } from './socket-stream.ts';
import { Turn } from './turn.ts';

export interface NodeEngineOptions {
  /** Default: this thread's monotonic clock, counted from the start of the thread. */
  readonly clock?: () => Instant;
  /** Read the clock for each callback and not once a turn: beside another engine on the same thread, whose callbacks come in
   * between, the beginning of our turn would be in the past. Default false. */
  readonly sharesThread?: boolean;
  /** `write` returns false once this many bytes are queued on a socket. Default 256 KiB. */
  readonly highWaterMark?: number;
  /** Alarms ring within a tenth of a millisecond instead of one: the last stretch before an alarm is spent in naps of that
   * length, with a look at all sockets in between. Costs some ten per cent of a core while alarms are close together.
   * Default false. */
  readonly fineAlarms?: boolean;
  /** Who speaks TLS with clients: OpenSSL called by us, which takes half the time, or Node's own sockets. Default: the first, where
   * it can be reached. */
  readonly servesTlsBy?: 'openssl' | 'node';
}

/** Timers of Node know whole milliseconds only, and ring up to one late. */
const fineFrom = 2;
const napMs = 0.1;

const readBufferBytes = 64 * 1024;
const defaultBacklog = 4096;

export function nodeEngine(options: NodeEngineOptions = {}): Engine {
  return new NodeEngine(options);
}

class NodeEngine implements Engine {
  readonly name = 'node';
  readonly turn: Turn;
  readonly highWaterMark: number;
  readonly lent: LentViews = new LentViews(readBufferBytes);
  readonly batch: Batch;
  readonly sockets: Set<NodeSocket> = new Set();
  readonly #alarms = new Alarms();
  readonly #listeners = new Set<net.Server>();
  /** Accepted for TLS, whether or not the handshake is done. */
  readonly #handshaking = new Set<net.Socket>();
  /** TLS sessions by target, to resume: the newest one wins. */
  readonly #sessions = new Map<string, Buffer>();
  #timeout: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #timerAt: Instant | undefined;
  #closed = false;
  readonly #fine: boolean;
  readonly #servesTlsBy: 'openssl' | 'node';
  #secureSockets: SecureSockets | undefined;

  constructor(options: NodeEngineOptions) {
    this.#servesTlsBy = options.servesTlsBy ?? 'openssl';
    this.#fine = options.fineAlarms === true;
    this.turn = new Turn(options.clock ?? threadClock, options.sharesThread === true, () => this.batch.endTurn());
    this.batch = new Batch(this.turn);
    this.highWaterMark = options.highWaterMark ?? 256 * 1024;
  }

  now(): Instant {
    return this.turn.now();
  }

  connect(target: Target, handler: SocketHandler): Socket {
    assert(!this.#closed, 'the engine is open');
    const socket = new NodeSocket(this, handler, 'connect');
    const at = {
      host: target.host,
      port: target.port,
      ...(target.localAddress === undefined ? {} : { localAddress: target.localAddress }),
    };
    if (target.tls === undefined) {
      socket.attach(net.connect({ ...at, ...this.#plainOptions(socket) }), 'connect');
    } else {
      const key = `${target.host}|${target.port}|${target.tls.serverName ?? ''}|${(target.tls.alpn ?? []).join(',')}`;
      const session = this.#sessions.get(key);
      const settings = {
        ...at,
        allowHalfOpen: true,
        highWaterMark: this.highWaterMark,
        rejectUnauthorized: target.tls.insecure !== true,
        ...serverName(target.tls.serverName ?? target.host),
        ...(target.tls.alpn === undefined ? {} : { ALPNProtocols: [...target.tls.alpn] }),
        ...(target.tls.ca === undefined ? {} : { ca: target.tls.ca }),
        ...(session === undefined ? {} : { session }),
      };
      const inner = tls.connect(settings);
      inner.setNoDelay(true);
      inner.on('session', (fresh) => this.#sessions.set(key, fresh));
      inner.on('data', socket.received);
      socket.attach(inner, 'secureConnect');
    }
    if (target.connectTimeout !== undefined) socket.giveUpAt(after(this.now(), target.connectTimeout));
    return socket;
  }

  keep(bytes: Uint8Array): Uint8Array {
    return this.batch.keep(bytes);
  }

  listen(at: ListenAt, accept: (socket: Socket) => SocketHandler): Promise<Listener> {
    assert(!this.#closed, 'the engine is open');
    const server = this.#serverFor(at.tls, accept);
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => {
        this.#listeners.delete(server);
        reject(netError('listen', error.code ?? 'UNKNOWN', error.message));
      };
      server.once('error', failed);
      this.#listeners.add(server);
      const backlog = at.backlog ?? defaultBacklog;
      const { host, port, reusePort = false } = at;
      server.listen(
        at.fd === undefined
          ? { host, port, backlog, exclusive: true, reusePort }
          : { fd: at.fd, backlog, exclusive: true },
        () => {
          server.off('error', failed);
          // An accept that fails later (no more files) is the kernel's backlog to keep: the peer waits.
          server.on('error', () => {});
          resolve(this.#listener(server));
        },
      );
    });
  }

  #serverFor(serving: ServerTls | undefined, accept: (socket: Socket) => SocketHandler): net.Server {
    if (serving === undefined) return this.#plainServer(accept);
    const secure = this.#secure();
    return secure === undefined ? this.#tlsServer(serving, accept) : this.#plainServer(secure.behind(serving, accept));
  }

  /** Undefined: Node's own sockets are. */
  #secure(): SecureSockets | undefined {
    if (this.#servesTlsBy === 'openssl') this.#secureSockets ??= secureSockets(this);
    return this.#secureSockets;
  }

  secure(
    under: Socket,
    first: Uint8Array,
    serving: ServerTls,
    accept: (socket: Socket) => SocketHandler,
  ): SocketHandler {
    const secure = this.#secure();
    if (secure !== undefined) return secure.secure(under, first, serving, accept);
    const { stream, handler } = streamOf(under, first);
    const inner = new tls.TLSSocket(stream, {
      isServer: true,
      secureContext: serving.firstContext,
      ...serverOptions(serving),
    });
    const patience = setTimeout(() => inner.destroy(), serving.handshakeTimeoutMs);
    inner.on('error', () => {});
    inner.on('close', () => clearTimeout(patience));
    inner.once('secure', () => {
      clearTimeout(patience);
      this.#acceptSecure(inner, accept);
    });
    return handler;
  }

  alarm(at: Instant, ring: (now: Instant) => void): Alarm {
    const alarm = this.#alarms.set(at, ring);
    this.#arm();
    return alarm;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alarms.clear();
    this.#disarm();
    for (const server of this.#listeners) server.close();
    this.#listeners.clear();
    for (const socket of this.sockets) socket.destroy();
    for (const raw of this.#handshaking) raw.destroy();
    while (this.sockets.size > 0) await nextTurn();
    this.turn.close();
  }

  #plainOptions(socket: NodeSocket) {
    return {
      noDelay: true,
      allowHalfOpen: true,
      highWaterMark: this.highWaterMark,
      onread: { buffer: this.lent.buffer, callback: socket.read },
    };
  }

  /** A server makes its own sockets, without `onread`. We take the handle out of each and give it to a socket that has it. */
  #plainServer(accept: (socket: Socket) => SocketHandler): net.Server {
    return net.createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (made) => {
      const socket = new NodeSocket(this, ignorant, 'open');
      const handle: unknown = Reflect.get(made, '_handle');
      if (handle === null || handle === undefined) {
        made.destroy();
        return;
      }
      Reflect.set(made, '_handle', null);
      const settings = this.#plainOptions(socket);
      Reflect.set(settings, 'handle', handle);
      const inner = new net.Socket(settings);
      socket.attach(inner, undefined);
      socket.handler = accept(socket);
      inner.resume();
      inner.read(0);
    });
  }

  #tlsServer(serving: ServerTls, accept: (socket: Socket) => SocketHandler): net.Server {
    const server = tls.createServer(
      {
        allowHalfOpen: true,
        noDelay: true,
        highWaterMark: this.highWaterMark,
        handshakeTimeout: serving.handshakeTimeoutMs,
        ...serving.firstOptions,
        ...serverOptions(serving),
      },
      (inner) => this.#acceptSecure(inner, accept),
    );
    if (serving.connectionsMax !== undefined) server.maxConnections = serving.connectionsMax;
    const stopWatching = serving.watch(() => server.setSecureContext(serving.firstOptions));
    server.once('close', stopWatching);
    // Without this a client that fails or dawdles at the handshake would keep its socket.
    server.on('tlsClientError', (_error, inner) => inner.destroy());
    server.on('connection', (raw: net.Socket) => {
      this.#handshaking.add(raw);
      raw.once('close', () => this.#handshaking.delete(raw));
    });
    return server;
  }

  #acceptSecure(inner: tls.TLSSocket, accept: (socket: Socket) => SocketHandler): void {
    const socket = new NodeSocket(this, ignorant, 'open');
    socket.attach(inner, undefined);
    socket.handler = accept(socket);
    inner.on('data', socket.received);
  }

  #listener(server: net.Server): Listener {
    const address = server.address();
    assert(address !== null && typeof address === 'object', 'a TCP server has an address');
    const fd: unknown = Reflect.get(Object(Reflect.get(server, '_handle')), 'fd');
    return {
      port: address.port,
      host: address.address,
      fd: typeof fd === 'number' && fd >= 0 ? fd : undefined,
      close: async () => {
        this.#listeners.delete(server);
        server.close();
        await nextTurn();
      },
    };
  }

  #arm(): void {
    const next = this.#alarms.next;
    if (next === undefined || (this.#timerAt !== undefined && this.#timerAt <= next)) return;
    this.#disarm();
    this.#timerAt = next;
    const distance = (next - this.turn.read()) / 1e6;
    if (distance <= 0) this.#immediate = setImmediate(this.#ring);
    else if (this.#fine) this.#armFine(distance);
    else this.#timeout = setTimeout(this.#ring, Math.ceil(distance));
  }

  #disarm(): void {
    clearTimeout(this.#timeout);
    clearImmediate(this.#immediate);
    this.#timerAt = undefined;
  }

  #armFine(distance: number): void {
    if (distance < fineFrom) this.#immediate = setImmediate(this.#nap);
    else this.#timeout = setTimeout(this.#nap, Math.floor(distance) - 1);
  }

  /** Sleeps for what is left, a tenth of a millisecond at most, and comes back after the loop has looked at every socket. */
  readonly #nap = (): void => {
    const left = ((this.#alarms.next ?? 0) - this.turn.read()) / 1e6;
    if (left > 0) Atomics.wait(pillow, 0, 0, Math.min(left, napMs));
    if (left > napMs) this.#armFine(left - napMs);
    else this.#ring();
  };

  readonly #ring = (): void => {
    this.#timerAt = undefined;
    this.#alarms.ring(this.turn.renew());
    if (!this.#closed) this.#arm();
  };
}

class NodeSocket implements Socket {
  context: unknown = undefined;
  handler: SocketHandler;
  readonly #engine: NodeEngine;
  #inner: net.Socket | undefined;
  #stage: 'connect' | 'open';
  #error: NetError | undefined;
  /** `destroy` was called: nothing but `onClose` may follow. */
  #dropped = false;
  /** We said that we will send no more. */
  #ended = false;
  /** The kernel has not taken everything that was sent. */
  #behind = false;
  /** A write was told to wait, and `onDrain` has not come yet. */
  #wantsDrain = false;
  /** Bytes of its own in the batch of this turn, and where its last entry there stands. */
  batched = 0;
  lastEntry = -1;
  #connectAlarm: Alarm | undefined;

  constructor(engine: NodeEngine, handler: SocketHandler, stage: 'connect' | 'open') {
    this.#engine = engine;
    this.handler = handler;
    this.#stage = stage;
    engine.sockets.add(this);
  }

  attach(inner: net.Socket, openEvent: 'connect' | 'secureConnect' | undefined): void {
    this.#inner = inner;
    if (openEvent !== undefined) inner.on(openEvent, this.#opened);
    inner.on('end', this.#peerEnded);
    inner.on('drain', this.drained);
    inner.on('error', this.#failed);
    inner.on('close', this.#closed);
  }

  giveUpAt(at: Instant): void {
    this.#connectAlarm = this.#engine.alarm(at, () => {
      this.#connectAlarm = undefined;
      this.#error = netError('connect', 'ETIMEDOUT', 'no connection within the connect timeout');
      this.#dropped = true;
      this.#inner?.destroy();
    });
  }

  /** For `onread`: `count` bytes are in the shared buffer. */
  readonly read = (count: number): boolean => {
    if (!this.#dropped) this.handler.onData(this, this.#engine.lent.view(count), this.#engine.now());
    return true;
  };

  /** For TLS, whose sockets have no `onread`. */
  readonly received = (bytes: Uint8Array): void => {
    if (!this.#dropped) this.handler.onData(this, bytes, this.#engine.now());
  };

  get queued(): number {
    return this.batched + (this.#behind ? (this.#inner?.writableLength ?? 0) : 0);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#inner === undefined || this.#dropped || this.#ended) return false;
    this.#engine.batch.add(this, bytes);
    if (this.queued <= this.#engine.highWaterMark) return true;
    this.#wantsDrain = true;
    return false;
  }

  /** For the batch: hands its bytes to libuv, which tries the send at once. False: it could not take all of them, and refers to
   * `bytes` until it has. */
  send(bytes: Buffer): boolean {
    const inner = this.#inner;
    if (inner === undefined || this.#dropped) return true;
    const room = inner.write(bytes);
    this.#behind = inner.writableLength !== 0;
    if (room && this.#wantsDrain) this.#engine.batch.owesDrain(this);
    return !this.#behind;
  }

  pause(): void {
    this.#inner?.pause();
  }

  resume(): void {
    this.#inner?.resume();
  }

  end(): void {
    if (this.#dropped) return;
    if (this.batched > 0) this.#engine.batch.flush();
    this.#ended = true;
    this.#inner?.end();
  }

  destroy(reset = false): void {
    if (this.#dropped || this.#inner === undefined) return;
    this.#dropped = true;
    const inner = this.#inner;
    if (reset && this.#stage === 'open' && !(inner instanceof tls.TLSSocket)) inner.resetAndDestroy();
    else inner.destroy();
  }

  get localPort(): number {
    return this.#inner?.localPort ?? 0;
  }

  get remotePort(): number {
    return this.#inner?.remotePort ?? 0;
  }

  get remoteAddress(): string {
    return this.#inner?.remoteAddress ?? '';
  }

  get tls(): TlsFacts | undefined {
    const inner = this.#inner;
    if (!(inner instanceof tls.TLSSocket) || this.#stage === 'connect') return undefined;
    return {
      alpn: inner.alpnProtocol === false || inner.alpnProtocol === null ? undefined : inner.alpnProtocol,
      resumed: inner.isSessionReused(),
      protocol: inner.getProtocol() ?? '',
    };
  }

  readonly #opened = (): void => {
    this.#connectAlarm?.cancel();
    this.#connectAlarm = undefined;
    this.#stage = 'open';
    if (!this.#dropped) this.handler.onOpen?.(this, this.#engine.now());
  };

  readonly #peerEnded = (): void => {
    if (this.#dropped) return;
    if (this.handler.onEnd === undefined) this.#inner?.end();
    else this.handler.onEnd(this, this.#engine.now());
  };

  readonly drained = (): void => {
    this.#wantsDrain = false;
    this.#behind = this.#inner !== undefined && this.#inner.writableLength !== 0;
    if (!this.#dropped) this.handler.onDrain?.(this, this.#engine.now());
  };

  readonly #failed = (error: NodeJS.ErrnoException): void => {
    if (this.#dropped) return;
    this.#error ??= netError(this.#stage, error.code ?? 'UNKNOWN', error.message);
  };

  readonly #closed = (): void => {
    this.#connectAlarm?.cancel();
    this.#dropped = true;
    this.#engine.sockets.delete(this);
    this.handler.onClose(this, this.#error, this.#engine.now());
  };
}

/** How the server's side of a handshake chooses. */
function serverOptions(serving: ServerTls) {
  const { alpn } = serving;
  const SNICallback = (name: string, done: (error: Error | null, context: tls.SecureContext) => void): void =>
    done(null, serving.contextFor(name));
  if (alpn === undefined) return { SNICallback };
  const ALPNCallback = ({ protocols }: { protocols: string[] }): string | undefined =>
    serving.alpn?.find((ours) => protocols.includes(ours));
  return { SNICallback, ALPNCallback };
}

/** SNI carries names only; an address is left out, as RFC 6066 section 3 asks. */
function serverName(host: string): { servername?: string } {
  return net.isIP(host) === 0 ? { servername: host } : {};
}

/** Nobody ever wakes whoever waits on this: only the time does. */
const pillow = new Int32Array(new SharedArrayBuffer(4));

const ignorant: SocketHandler = { onData: () => {}, onClose: () => {} };

const threadClock = (): Instant => instantAt(performance.now() * 1e6);

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
