// The fast engine: TCP through io_uring, driven from Node's own loop.
//
// One turn:
//
//   the doorbell rings (something is ready)
//     └─► round: submit what the last round wanted, let the kernel do its deferred work   (one system call)
//           ├─ read the clock
//           ├─ completions → handlers, which write, pause, connect, end …
//           ├─ alarms that are due
//           └─ sockets that are over → onClose
//         again while there is something, a few times; then Node's loop gets its turn
//
// Handlers never cause a system call of their own for sending: a write is copied into a chunk, the socket is put on a list,
// and the next `enter` submits all sends of the round together. Receiving costs no submission at all: one request ("multishot")
// keeps delivering until the socket ends.
//
// Sketch of what that saves, at 64 connections: epoll pays a read and a write for each request, and a share of epoll_wait, each
// some 150–300 ns of entering and leaving the kernel on top of the work; here a round of twenty requests pays one `enter`. The
// work itself (the TCP stack, some 4 µs) is the same, except that deferred task work lets it run in batches.
//
// What a socket must not do is lose its memory while the kernel uses it: a socket that is dropped first cancels what is in
// flight, and its slot, chunks and descriptor are given back when the last completion has come.
//
// TLS is not spoken here: such targets and listeners are handed to a `node` engine kept inside.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { after, assert, type Duration, type Instant, instantAt } from '../../base.ts';
import { Alarms } from '../alarms.ts';
import type {
  Alarm,
  Engine,
  Listener,
  ListenAt,
  NetError,
  Socket,
  SocketHandler,
  Target,
  TlsFacts,
} from '../engine.ts';
import { netError } from '../errors.ts';
import { nodeEngine } from '../node-engine.ts';
import { Doorbell } from './doorbell.ts';
import { type Foreign, reachLibc } from './libc.ts';
import { ReceiveBuffers } from './receive-buffers.ts';
import { chooseBuffer, hasBuffer, moreFollow, operation, Ring } from './ring.ts';
import { type Chunk, SendChunks } from './send-chunks.ts';
import { familyOf, type Place, placeOf, socketAddress } from './socket-address.ts';

export interface UringEngineOptions {
  /** Default: this thread's monotonic clock, counted from the start of the thread. */
  readonly clock?: () => Instant;
  /** `write` returns false once this many bytes are queued on a socket; `onDrain` follows at a quarter. Default 256 KiB. */
  readonly highWaterMark?: number;
  /** Size of one receive buffer. Default 8 KiB. */
  readonly receiveBytes?: number;
  /** Receive buffers at most, a power of two. Default 4096. */
  readonly receiveBuffersMax?: number;
}

/** The engine, or why there can be none here. */
export function uringEngine(options: UringEngineOptions = {}): Engine | { readonly why: string } {
  const foreign = reachLibc();
  if ('why' in foreign) return foreign;
  try {
    return new UringEngine(foreign, options);
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** Rounds before Node's own loop, with its timers and messages, gets a turn. */
const roundsMax = 16;
const defaultBacklog = 4096;

/** What a completion is about: the lower three bits of `user`; the slot is in the upper ones. */
const kind = { receive: 0, send: 1, connect: 2, accept: 3, timer: 4, none: 7 } as const;

class UringEngine implements Engine {
  readonly name = 'uring';
  readonly foreign: Foreign;
  readonly ring: Ring;
  readonly chunks: SendChunks;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  readonly #clock: () => Instant;
  readonly #buffers: ReceiveBuffers;
  readonly #doorbell: Doorbell;
  readonly #alarms = new Alarms();
  readonly #slots: (UringSocket | UringListener | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  /** Sockets that want something of the kernel in the next round. */
  #wanting: UringSocket[] = [];
  #wantingBefore: UringSocket[] = [];
  /** Sockets whose last completion has come, to be closed in this round. */
  #over: UringSocket[] = [];
  readonly #listeners = new Set<UringListener>();
  /** Times as the kernel reads them, a new place for each so that none is overwritten before it was submitted. */
  readonly #times = new BigInt64Array(2);
  readonly #timesAddress: number;
  #timerAt: Instant | undefined;
  #now: Instant;
  #inTurn = false;
  #soon = false;
  #again: NodeJS.Immediate | undefined;
  #awake = true;
  #closed = false;
  #tlsEngine: Engine | undefined;
  #resolving = 0;

  constructor(foreign: Foreign, options: UringEngineOptions) {
    this.foreign = foreign;
    this.#clock = options.clock ?? threadClock;
    this.highWaterMark = options.highWaterMark ?? 256 * 1024;
    this.lowWaterMark = this.highWaterMark / 4;
    this.ring = new Ring(foreign, { submissions: 1024, completions: 4096 });
    this.chunks = new SendChunks(foreign);
    this.#buffers = new ReceiveBuffers(foreign, this.ring, {
      size: options.receiveBytes ?? 8 * 1024,
      countFirst: 256,
      countMax: options.receiveBuffersMax ?? 4096,
    });
    this.#timesAddress = foreign.addressOf(new Uint8Array(this.#times.buffer));
    this.#doorbell = new Doorbell(foreign, this.#turn);
    this.ring.signal(this.#doorbell.eventFd);
    this.#now = this.#clock();
    this.#keepAwake();
  }

  now(): Instant {
    return this.#inTurn ? this.#now : this.#clock();
  }

  connect(target: Target, handler: SocketHandler): Socket {
    assert(!this.#closed, 'the engine is open');
    if (target.tls !== undefined) return this.#tls().connect(target, handler);
    const socket = new UringSocket(this, handler, 'connect');
    this.#occupy(socket);
    socket.connect(target);
    this.#keepAwake();
    return socket;
  }

  async listen(at: ListenAt, accept: (socket: Socket) => SocketHandler): Promise<Listener> {
    assert(!this.#closed, 'the engine is open');
    if (at.tls !== undefined) return this.#tls().listen(at, accept);
    const address = isIP(at.host) === 0 ? (await lookup(at.host)).address : at.host;
    const listener = new UringListener(this, accept, at, address);
    this.#occupy(listener);
    this.#listeners.add(listener);
    listener.accept();
    this.soon();
    this.#keepAwake();
    return listener;
  }

  alarm(at: Instant, ring: (now: Instant) => void): Alarm {
    const alarm = this.#alarms.set(at, ring);
    if (this.#timerAt === undefined || at < this.#timerAt) this.soon();
    this.#keepAwake();
    return alarm;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#alarms.clear();
    await this.#tlsEngine?.close();
    for (const listener of this.#listeners) void listener.close();
    for (const slot of this.#slots) if (slot instanceof UringSocket) slot.destroy();
    this.soon();
    this.#keepAwake();
    while (this.#slots.length > this.#freeSlots.length || this.#resolving > 0 || this.#inTurn) await nextTurn();
    clearImmediate(this.#again);
    this.#soon = false;
    this.#doorbell.close();
    this.ring.close();
  }

  // For sockets and listeners.

  /** The socket wants something: a send, to receive again, an end. Looked at in the next round. */
  want(socket: UringSocket): void {
    if (socket.wanting) return;
    socket.wanting = true;
    this.#wanting.push(socket);
    this.soon();
  }

  /** Nothing is in flight for the socket any more: close it in this round or the next. */
  bury(socket: UringSocket): void {
    this.#over.push(socket);
    this.soon();
  }

  /** Makes sure that a round follows, when we are called from outside of one. */
  soon(): void {
    if (this.#inTurn || this.#soon) return;
    this.#soon = true;
    process.nextTick(this.#turn);
  }

  receive(socket: UringSocket): void {
    // RECV_MULTISHOT. The buffer is chosen by the kernel when bytes have come.
    this.ring.submit(
      operation.receive,
      chooseBuffer,
      2,
      socket.fd,
      0,
      0,
      0,
      0,
      user(socket.slot, kind.receive),
      this.#buffers.group,
    );
  }

  send(socket: UringSocket, chunk: Chunk): void {
    const length = chunk.end - chunk.start;
    // MSG_NOSIGNAL: a peer that is gone is an error, not a signal to the process.
    this.ring.submit(
      operation.send,
      0,
      0,
      socket.fd,
      0,
      chunk.address + chunk.start,
      length,
      0x4000,
      user(socket.slot, kind.send),
      0,
    );
  }

  connectTo(socket: UringSocket, address: Uint8Array): void {
    const at = this.foreign.addressOf(address);
    this.ring.submit(operation.connect, 0, 0, socket.fd, address.length, at, 0, 0, user(socket.slot, kind.connect), 0);
  }

  acceptAt(listener: UringListener): void {
    // ACCEPT_MULTISHOT, SOCK_CLOEXEC
    this.ring.submit(operation.accept, 0, 1, listener.fd, 0, 0, 0, 0x80000, user(listener.slot, kind.accept), 0);
  }

  stopReceiving(socket: UringSocket): void {
    this.ring.submit(operation.cancel, 0, 0, -1, 0, user(socket.slot, kind.receive), 0, 0, user(0, kind.none), 0);
  }

  cancelAll(fd: number): void {
    // ASYNC_CANCEL_ALL | ASYNC_CANCEL_FD
    this.ring.submit(operation.cancel, 0, 0, fd, 0, 0, 0, 3, user(0, kind.none), 0);
  }

  adopt(listener: UringListener, fd: number): void {
    const socket = new UringSocket(this, ignorant, 'open');
    socket.fd = fd;
    this.#occupy(socket);
    this.want(socket);
    socket.handler = listener.onAccept(socket);
  }

  release(slot: number): void {
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  forget(listener: UringListener): void {
    this.#listeners.delete(listener);
    this.release(listener.slot);
  }

  /** A name that is being looked up keeps the engine from ending. */
  async resolve(host: string): Promise<readonly string[]> {
    this.#resolving++;
    try {
      const found = await lookup(host, { all: true });
      return found.map((entry) => entry.address);
    } finally {
      this.#resolving--;
    }
  }

  // The turn.

  readonly #turn = (): void => {
    if (this.#inTurn || (this.#closed && this.#slots.length === this.#freeSlots.length)) return;
    this.#inTurn = true;
    this.#soon = false;
    this.ring.quiet = true;
    let busy = true;
    try {
      for (let round = 0; round < roundsMax && busy; round++) busy = this.#round();
    } finally {
      this.#inTurn = false;
      this.ring.quiet = false;
    }
    if (busy || this.ring.ready || this.ring.pending > 0) this.#goOn();
    this.#keepAwake();
  };

  /** Hot. Returns whether there may be more to do. */
  #round(): boolean {
    this.#submitWants();
    if (this.ring.pending > 0 || this.ring.ready) this.ring.enter();
    this.#now = this.#clock();
    const count = this.#complete();
    if (this.#alarms.next !== undefined) this.#alarms.ring(this.#now);
    if (this.#over.length > 0) this.#buryAll();
    this.#setTimer();
    return count > 0 || this.#wanting.length > 0 || this.#over.length > 0 || this.ring.pending > 0;
  }

  /** There is more, but Node's loop has waited long enough. */
  #goOn(): void {
    if (this.#again !== undefined) return;
    this.#again = setImmediate(() => {
      this.#again = undefined;
      this.#turn();
    });
  }

  #submitWants(): void {
    // Handlers that are called from here (a resumed socket has data waiting) may want again: that is the next round's.
    const wanting = this.#wanting;
    this.#wanting = this.#wantingBefore;
    this.#wantingBefore = wanting;
    for (let index = 0; index < wanting.length; index++) {
      const socket = wanting[index];
      if (socket === undefined) continue;
      socket.wanting = false;
      socket.submitWants(this.#now);
    }
    wanting.length = 0;
  }

  /** Hot. */
  #complete(): number {
    const { ring } = this;
    const { words } = ring;
    const count = ring.completions;
    let read = 0;
    try {
      while (read < count) {
        const at = ring.completion(read++);
        const about = words[at] ?? 0;
        const result = words[at + 2] ?? 0;
        const flags = words[at + 3] ?? 0;
        const operationKind = about & 7;
        if (operationKind === kind.none) continue;
        if (operationKind === kind.timer) {
          this.#timerAt = undefined;
          continue;
        }
        const slot = this.#slots[about >>> 3];
        assert(slot !== undefined, 'a slot is kept until its last completion');
        if (slot instanceof UringListener) slot.accepted(result, (flags & moreFollow) !== 0);
        else if (operationKind === kind.receive) this.#received(slot, result, flags);
        else if (operationKind === kind.send) slot.sent(result, this.#now);
        else slot.connected(result, this.#now);
      }
    } finally {
      // Also when a handler threw: its completion was read.
      ring.done(read);
    }
    return count;
  }

  /** Hot. */
  #received(socket: UringSocket, result: number, flags: number): void {
    if ((flags & moreFollow) === 0) socket.receivingStopped();
    if ((flags & hasBuffer) === 0) {
      if (result === -noBuffers) this.#buffers.ranOut();
      else socket.receivedNothing(result, this.#now);
      return;
    }
    const buffer = flags >>> 16;
    try {
      if (result > 0) socket.received(this.#buffers.view(buffer, result), this.#now);
    } finally {
      this.#buffers.giveBack(buffer);
    }
  }

  #buryAll(): void {
    const over = this.#over;
    this.#over = [];
    for (const socket of over) socket.close(this.#now);
  }

  /** One timer in the kernel for the earliest alarm. A later one than needed is moved; one that rings too early does no harm. */
  #setTimer(): void {
    const next = this.#alarms.next;
    if (next === undefined || (this.#timerAt !== undefined && this.#timerAt <= next)) return;
    const distance = Math.max(0, next - this.#clock());
    this.#times[0] = BigInt(Math.floor(distance / 1e9));
    this.#times[1] = BigInt(distance % 1e9);
    const about = user(0, kind.timer);
    if (this.#timerAt === undefined) {
      this.ring.submit(operation.timeout, 0, 0, -1, 0, this.#timesAddress, 1, 0, about, 0);
    } else {
      // TIMEOUT_UPDATE: `address` says which one, `offset` where the new time is.
      this.ring.submit(operation.timeoutRemove, 0, 0, -1, this.#timesAddress, about, 0, 2, user(0, kind.none), 0);
    }
    this.#timerAt = next;
    // The time is read by the kernel at once, so that its place can be used again.
    this.ring.enter();
  }

  #occupy(occupant: UringSocket | UringListener): void {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = occupant;
    occupant.slot = slot;
  }

  /** Node's loop need not wait for an engine that has nothing to do. */
  #keepAwake(): void {
    const awake = this.#slots.length > this.#freeSlots.length || this.#alarms.size > 0 || this.#resolving > 0;
    if (awake === this.#awake) return;
    this.#awake = awake;
    this.#doorbell.keepAwake(awake);
  }

  #tls(): Engine {
    return (this.#tlsEngine ??= nodeEngine({ clock: this.#clock, highWaterMark: this.highWaterMark }));
  }
}

class UringSocket implements Socket {
  context: unknown = undefined;
  handler: SocketHandler;
  slot = -1;
  fd = -1;
  /** On the engine's list for the next round. */
  wanting = false;
  readonly tls: TlsFacts | undefined = undefined;
  readonly #engine: UringEngine;
  #stage: 'connect' | 'open';
  /** Operations of the kernel's that refer to this socket. */
  #inFlight = 0;
  #receiving = false;
  #stopping = false;
  #paused = false;
  #sending: Chunk | undefined;
  /** Written and not yet given to the kernel, oldest first. */
  readonly #unsent: Chunk[] = [];
  #queued = 0;
  #drainWanted = false;
  /** `end` was called; FIN was sent. */
  #ending = false;
  #ended = false;
  /** The peer's FIN has come; the handler was told. */
  #peerEnded = false;
  #peerEndTold = false;
  /** What came while paused, before the kernel had stopped. */
  #held: Uint8Array[] = [];
  #dropped = false;
  #buried = false;
  #reset = false;
  #error: NetError | undefined;
  #connectAlarm: Alarm | undefined;
  #localPort = 0;
  #remote: Place | undefined;
  /** Addresses still to be tried, and the one being tried. */
  #candidates: readonly string[] = [];
  #target: Target | undefined;
  /** Kept while the kernel may read it. */
  #address: Uint8Array | undefined;

  constructor(engine: UringEngine, handler: SocketHandler, stage: 'connect' | 'open') {
    this.#engine = engine;
    this.handler = handler;
    this.#stage = stage;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Hot. */
  write(bytes: Uint8Array): boolean {
    if (this.#dropped || this.#ending) return false;
    if (bytes.length > 0) {
      this.#queued += bytes.length;
      this.#keep(bytes);
      this.#engine.want(this);
    }
    if (this.#queued <= this.#engine.highWaterMark) return true;
    this.#drainWanted = true;
    return false;
  }

  #keep(bytes: Uint8Array): void {
    const { chunks } = this.#engine;
    let from = 0;
    const last = this.#unsent.at(-1);
    if (last !== undefined && last.room > 0) from = last.fill(bytes, 0);
    if (from === bytes.length) return;
    const chunk = chunks.take(bytes.length - from);
    chunk.fill(bytes, from);
    this.#unsent.push(chunk);
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    if (!this.#dropped) this.#engine.want(this);
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#dropped) this.#engine.want(this);
  }

  end(): void {
    if (this.#dropped || this.#ending) return;
    this.#ending = true;
    this.#engine.want(this);
  }

  destroy(reset = false): void {
    if (this.#dropped) return;
    this.#reset = reset && this.#stage === 'open';
    this.#drop(undefined);
  }

  get localPort(): number {
    if (this.#localPort === 0 && this.fd >= 0) this.#localPort = this.#ask('getsockname')?.port ?? 0;
    return this.#localPort;
  }

  get remotePort(): number {
    return this.#peer()?.port ?? 0;
  }

  get remoteAddress(): string {
    return this.#peer()?.address ?? '';
  }

  #peer(): Place | undefined {
    if (this.#remote === undefined && this.fd >= 0) this.#remote = this.#ask('getpeername');
    return this.#remote;
  }

  #ask(which: 'getsockname' | 'getpeername'): Place | undefined {
    const address = new Uint8Array(28);
    const length = new Uint8Array(new Uint32Array([28]).buffer);
    return this.#engine.foreign.libc[which](this.fd, address, length) < 0 ? undefined : placeOf(address);
  }

  // Connecting.

  connect(target: Target): void {
    this.#target = target;
    if (target.connectTimeout !== undefined) {
      const at = after(this.#engine.now(), target.connectTimeout);
      this.#connectAlarm = this.#engine.alarm(at, () => {
        this.#connectAlarm = undefined;
        this.#drop(netError('connect', 'ETIMEDOUT', 'no connection within the connect timeout'));
      });
    }
    if (isIP(target.host) !== 0) this.#try([target.host]);
    else void this.#resolve(target.host);
  }

  async #resolve(host: string): Promise<void> {
    // While the name is looked up the kernel knows nothing of this socket, but it must not be buried: count it as in flight.
    this.#inFlight++;
    let found: readonly string[] = [];
    let error: NetError | undefined;
    try {
      found = await this.#engine.resolve(host);
    } catch (thrown) {
      error = netError('connect', codeOf(thrown), thrown instanceof Error ? thrown.message : String(thrown));
    }
    this.#landed();
    if (this.#dropped) return;
    if (error === undefined) this.#try(found);
    else this.#drop(error);
  }

  /** Tries the first address; the others when it fails. */
  #try(addresses: readonly string[]): void {
    const [address, ...rest] = addresses;
    const target = this.#target;
    assert(address !== undefined && target !== undefined, 'there is an address to try');
    this.#candidates = rest;
    this.#remote = { address, port: target.port };
    const { libc } = this.#engine.foreign;
    // SOCK_STREAM | SOCK_CLOEXEC
    this.fd = libc.socket(familyOf(address), 0x80001, 0);
    if (this.fd < 0) return this.#drop(this.#failure('socket', -this.#engine.foreign.errno()));
    setOption(this.#engine.foreign, this.fd, tcp.level, tcp.noDelay, 1);
    if (target.localAddress !== undefined) {
      // The port is then chosen by `connect`, which knows the whole four-tuple: 28,000 connections for each target instead
      // of 28,000 in all.
      setOption(this.#engine.foreign, this.fd, ip.level, ip.bindAddressNoPort, 1);
      const local = socketAddress(libc, { address: target.localAddress, port: 0 });
      if (libc.bind(this.fd, local, local.length) < 0) {
        return this.#drop(this.#failure(`bind ${target.localAddress}`, -this.#engine.foreign.errno()));
      }
    }
    this.#address = socketAddress(libc, { address, port: target.port });
    this.#engine.want(this);
  }

  connected(result: number, now: Instant): void {
    this.#landed();
    if (this.#dropped) return;
    if (result < 0) {
      if (this.#candidates.length === 0) {
        return this.#drop(this.#failure(`connect ${this.#remote?.address}:${this.#remote?.port}`, result));
      }
      this.#engine.foreign.libc.close(this.fd);
      return this.#try(this.#candidates);
    }
    this.#connectAlarm?.cancel();
    this.#connectAlarm = undefined;
    this.#address = undefined;
    this.#stage = 'open';
    this.#engine.want(this);
    this.handler.onOpen?.(this, now);
  }

  // What the kernel is asked for, once a round.

  submitWants(now: Instant): void {
    if (this.#dropped) return;
    if (this.#stage === 'connect') {
      if (this.#address !== undefined && this.#inFlight === 0) {
        this.#inFlight++;
        this.#engine.connectTo(this, this.#address);
      }
      return;
    }
    this.#submitReceive(now);
    if (this.#dropped || this.#sending !== undefined) return;
    const chunk = this.#unsent.shift();
    if (chunk !== undefined) this.#submitSend(chunk);
    else if (this.#ending && !this.#ended) this.#sendEnd();
  }

  #submitReceive(now: Instant): void {
    if (this.#paused) {
      if (this.#receiving && !this.#stopping) {
        this.#stopping = true;
        this.#engine.stopReceiving(this);
      }
      return;
    }
    this.#tellHeld(now);
    if (this.#receiving || this.#peerEnded || this.#dropped || this.#paused) return;
    this.#receiving = true;
    this.#inFlight++;
    this.#engine.receive(this);
  }

  #submitSend(chunk: Chunk): void {
    this.#sending = chunk;
    this.#inFlight++;
    this.#engine.send(this, chunk);
  }

  #sendEnd(): void {
    this.#ended = true;
    // When the peer has ended too, closing the descriptor sends the FIN.
    if (this.#peerEndTold) return this.#finish();
    this.#engine.foreign.libc.shutdown(this.fd, 1);
    return undefined;
  }

  // What the kernel answers.

  /** Hot. */
  received(bytes: Uint8Array, now: Instant): void {
    if (this.#dropped) return;
    if (this.#paused || this.#held.length > 0) this.#held.push(bytes.slice());
    else this.handler.onData(this, bytes, now);
  }

  receivingStopped(): void {
    this.#receiving = false;
    this.#stopping = false;
    this.#landed();
    // Started again unless the socket is paused, at its end, or dropped: the kernel stops for want of buffers, for instance.
    if (!this.#dropped) this.#engine.want(this);
  }

  /** The end (0) or an error. */
  receivedNothing(result: number, now: Instant): void {
    if (this.#dropped || result === -canceled) return;
    if (result < 0) return this.#drop(this.#failure('read', result));
    this.#peerEnded = true;
    if (!this.#paused && this.#held.length === 0) this.#tellEnd(now);
    return undefined;
  }

  #tellHeld(now: Instant): void {
    while (this.#held.length > 0 && !this.#paused && !this.#dropped) {
      const bytes = this.#held.shift();
      if (bytes !== undefined) this.handler.onData(this, bytes, now);
    }
    if (this.#peerEnded && !this.#paused && !this.#dropped) this.#tellEnd(now);
  }

  #tellEnd(now: Instant): void {
    if (this.#peerEndTold) return;
    this.#peerEndTold = true;
    if (this.#ended) return this.#finish();
    if (this.handler.onEnd === undefined) this.end();
    else this.handler.onEnd(this, now);
    return undefined;
  }

  /** Hot. */
  sent(result: number, now: Instant): void {
    const chunk = this.#sending;
    assert(chunk !== undefined, 'a send that completes was in flight');
    this.#sending = undefined;
    this.#landed();
    if (this.#dropped || result < 0) {
      this.#engine.chunks.giveBack(chunk);
      if (!this.#dropped) this.#drop(this.#failure('write', result));
      return;
    }
    this.#queued -= result;
    chunk.start += result;
    if (chunk.start < chunk.end) {
      this.#submitSend(chunk);
      return;
    }
    this.#engine.chunks.giveBack(chunk);
    if (this.#unsent.length > 0 || this.#ending) this.#engine.want(this);
    if (this.#drainWanted && this.#queued <= this.#engine.lowWaterMark) {
      this.#drainWanted = false;
      this.handler.onDrain?.(this, now);
    }
  }

  // The end.

  /** Both sides have said that they are done. */
  #finish(): void {
    this.#drop(undefined);
  }

  #drop(error: NetError | undefined): void {
    if (this.#dropped) return;
    this.#dropped = true;
    this.#error = error;
    this.#connectAlarm?.cancel();
    this.#held = [];
    for (const chunk of this.#unsent) this.#engine.chunks.giveBack(chunk);
    this.#unsent.length = 0;
    this.#queued = 0;
    if (this.#inFlight > 0 && this.fd >= 0) {
      this.#engine.cancelAll(this.fd);
      this.#engine.soon();
    }
    if (this.#inFlight === 0) this.#bury();
  }

  /** One operation less in flight. */
  #landed(): void {
    this.#inFlight--;
    if (this.#dropped && this.#inFlight === 0) this.#bury();
  }

  #bury(): void {
    if (this.#buried) return;
    this.#buried = true;
    this.#engine.bury(this);
  }

  close(now: Instant): void {
    // The ports can be asked for until here.
    this.handler.onClose(this, this.#error, now);
    if (this.fd >= 0) {
      const { foreign } = this.#engine;
      if (this.#reset) setLinger(foreign, this.fd);
      foreign.libc.close(this.fd);
    }
    this.fd = -1;
    this.#engine.release(this.slot);
  }

  #failure(what: string, result: number): NetError {
    const code = getSystemErrorName(result);
    return netError(this.#stage, code, `${what}: ${code}`);
  }
}

class UringListener implements Listener {
  slot = -1;
  readonly fd: number;
  readonly host: string;
  readonly port: number;
  readonly onAccept: (socket: Socket) => SocketHandler;
  readonly #engine: UringEngine;
  #closed = false;
  #accepting = false;
  #retry: Alarm | undefined;
  #whenClosed: (() => void)[] = [];

  /** Throws a `NetError`. */
  constructor(engine: UringEngine, onAccept: (socket: Socket) => SocketHandler, at: ListenAt, address: string) {
    this.#engine = engine;
    this.onAccept = onAccept;
    const { foreign } = engine;
    const { libc } = foreign;
    const local = socketAddress(libc, { address, port: at.port });
    this.fd = libc.socket(familyOf(address), 0x80001, 0);
    if (this.fd < 0) throw failureToListen('socket', foreign.errno());
    setOption(foreign, this.fd, sol.level, sol.reuseAddress, 1);
    if (at.reusePort === true) setOption(foreign, this.fd, sol.level, sol.reusePort, 1);
    // Accepted sockets inherit it.
    setOption(foreign, this.fd, tcp.level, tcp.noDelay, 1);
    const failed =
      libc.bind(this.fd, local, local.length) < 0 || libc.listen(this.fd, at.backlog ?? defaultBacklog) < 0;
    if (failed) {
      const code = foreign.errno();
      libc.close(this.fd);
      throw failureToListen(`listen ${at.host}:${at.port}`, code);
    }
    const bytes = new Uint8Array(28);
    libc.getsockname(this.fd, bytes, new Uint8Array(new Uint32Array([28]).buffer));
    const place = placeOf(bytes);
    this.host = place.address;
    this.port = place.port;
  }

  accept(): void {
    this.#accepting = true;
    this.#engine.acceptAt(this);
  }

  accepted(result: number, more: boolean): void {
    if (!more) this.#accepting = false;
    if (result >= 0) {
      if (this.#closed) this.#engine.foreign.libc.close(result);
      else this.#engine.adopt(this, result);
    }
    if (more) return;
    if (this.#closed) return this.#finish();
    if (result >= 0 || result === -canceled) return this.accept();
    // No files, no memory: the peers wait in the backlog until some are given back.
    this.#retry = this.#engine.alarm(after(this.#engine.now(), acceptAgainAfter), () => {
      this.#retry = undefined;
      this.accept();
    });
    return undefined;
  }

  close(): Promise<void> {
    if (this.fd < 0) return Promise.resolve();
    const closed = new Promise<void>((resolve) => this.#whenClosed.push(resolve));
    if (this.#closed) return closed;
    this.#closed = true;
    this.#retry?.cancel();
    // The kernel refuses from now on, whatever is still in flight.
    this.#engine.foreign.libc.shutdown(this.fd, 2);
    if (this.#accepting) this.#engine.cancelAll(this.fd);
    else this.#finish();
    this.#engine.soon();
    return closed;
  }

  #finish(): void {
    this.#engine.foreign.libc.close(this.fd);
    this.#engine.forget(this);
    for (const resolve of this.#whenClosed) resolve();
    this.#whenClosed = [];
  }
}

const acceptAgainAfter: Duration = instantAt(50e6) as number as Duration;

const user = (slot: number, about: number): number => (slot << 3) | about;

const ignorant: SocketHandler = { onData: () => {}, onClose: () => {} };

const threadClock = (): Instant => instantAt(performance.now() * 1e6);

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function codeOf(thrown: unknown): string {
  const code: unknown = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'code') : undefined;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

function failureToListen(what: string, code: number): NetError {
  const name = getSystemErrorName(-code);
  return netError('listen', name, `${what}: ${name}`);
}

// Socket options.

const sol = { level: 1, reuseAddress: 2, linger: 13, reusePort: 15 } as const;
const ip = { level: 0, bindAddressNoPort: 24 } as const;
const tcp = { level: 6, noDelay: 1 } as const;

const optionValue = new Int32Array(2);
const optionBytes = new Uint8Array(optionValue.buffer);

function setOption(foreign: Foreign, fd: number, level: number, option: number, value: number): void {
  optionValue[0] = value;
  foreign.libc.setsockopt(fd, level, option, optionBytes, 4);
}

/** Closing then sends RST instead of FIN. */
function setLinger(foreign: Foreign, fd: number): void {
  optionValue[0] = 1;
  optionValue[1] = 0;
  foreign.libc.setsockopt(fd, sol.level, sol.linger, optionBytes, 8);
}

const canceled = 125;
const noBuffers = 105;
