// The fast engine: TCP through io_uring, driven from Node's own loop.
//
// One turn:
//
//   the doorbell rings (something is ready)
//     └─► round: submit what the last round wanted, let the kernel do its deferred work, wait   (one system call)
//           ├─ read the clock
//           ├─ completions → handlers, which write, pause, connect, end …
//           ├─ sends that the kernel took at once
//           ├─ alarms that are due
//           └─ sockets that are over → onClose
//         again while there is something; after a millisecond, or as soon as Node's own loop has something, that gets its turn
//
// The wait inside the ring (where it is wanted, see `waitsInRing`) is what makes a turn cheap when little comes at a time: an answer that follows its request by 50 µs
// is met where we stand, by the system call that sent the request. Going home to Node's loop for each would cost an
// `epoll_wait`, a read of the doorbell and the way there and back. Node's loop is not kept waiting, because its epoll descriptor
// is watched by the ring too; and when nothing has come for the rest of the turn, we go home and sleep there.
//
// Handlers never cause a system call of their own for sending: a write is copied into a chunk, the socket is put on a list,
// and the next `enter` submits all sends of the round together. Receiving costs no submission at all: one request ("multishot")
// keeps delivering until the socket ends.
//
// Sketch of what that saves, at 64 connections: epoll pays a read and a write for each request, and a share of epoll_wait, each
// some 150–300 ns of entering and leaving the kernel on top of the work; here a round of twenty requests pays one `enter`. The
// work itself (the TCP stack, some 4 µs) is the same, except that deferred task work lets it run in batches. A send that the
// kernel takes at once, and nearly all are, has no completion either: that the call has returned says it.
//
// What a socket must not do is lose its memory while the kernel uses it: a socket that is dropped first cancels what is in
// flight, and its slot, chunks and descriptor are given back when the last completion has come.
//
// TLS with clients is spoken by OpenSSL on top of these sockets (`openssl/secure-socket.ts`); targets under TLS are handed to a
// `node` engine kept inside, and listeners too where OpenSSL cannot be reached.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { assert, type Instant, instantAt } from '../../base.ts';
import { Alarms } from '../alarms.ts';
import type { Alarm, Engine, Listener, ListenAt, Socket, SocketHandler, Target } from '../engine.ts';
import { nodeEngine } from '../node-engine.ts';
import { type SecureSockets, secureSockets } from '../openssl/secure-socket.ts';
import type { ServerTls } from '../server-tls.ts';
import { Doorbell } from './doorbell.ts';
import { canceled, type Home, noBuffers } from './home.ts';
import { keptBytes } from './kept-bytes.ts';
import { type Foreign, reachLibc } from './libc.ts';
import { ReceiveBuffers } from './receive-buffers.ts';
import { about, aboutOf, Requests, slotOf } from './requests.ts';
import { hasBuffer, moreFollow, Ring } from './ring.ts';
import { SendChunks } from './send-chunks.ts';
import { placeOfSocket } from './socket-address.ts';
import { listenAt, UringListener } from './uring-listener.ts';
import { UringSocket } from './uring-socket.ts';

export interface UringEngineOptions {
  /** Default: this thread's monotonic clock, counted from the start of the thread. */
  readonly clock?: () => Instant;
  /** `write` returns false once this many bytes are queued on a socket; `onDrain` follows at a quarter. Default 256 KiB. */
  readonly highWaterMark?: number;
  /** Wait inside the ring for what comes next. For threads whose work is all in handlers: promises, ticks and immediates that
   * these leave behind run when the turn is over, up to a millisecond later. */
  readonly waitsInRing?: boolean;
  /** Alarms ring within some microseconds instead of a tenth of a millisecond: the kernel's timer is set a little early, since it takes
   * that long to wake us, and the rest is spent looking at the ring again and again. Costs up to 60 µs of processor time
   * for each alarm. Default false. */
  readonly fineAlarms?: boolean;
  /** The rings and buffers, where the defaults are not right; see `Sizes`. */
  readonly sizes?: Partial<Sizes>;
}

/** All powers of two, but for `receiveBytes`. Small ones are slow and never wrong: tests run with the smallest. */
export interface Sizes {
  /** Submissions between two calls of the kernel. */
  readonly submissions: number;
  /** Completions that need no detour. */
  readonly completions: number;
  readonly receiveBytes: number;
  readonly receiveBuffersFirst: number;
  readonly receiveBuffersMax: number;
}

const defaultSizes: Sizes = {
  submissions: 1024,
  completions: 4096,
  receiveBytes: 8 * 1024,
  receiveBuffersFirst: 256,
  receiveBuffersMax: 4096,
};

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

/** How long rounds go on before Node's own loop, with its timers and messages, gets a turn; and how many at most. */
const turnLength = 1e6;
const roundsMax = 256;
/** So many are done in any case. */
const shortRounds = 16;
/** So much before a fine alarm we want to be awake: being woken took 40 to 80 µs on a virtual machine. */
const awakeBefore = 60e3;
/** A loop that has called is not left to wait in the ring for so long: each of its calls would cost two ways. */
const homeLength = 5e6;
/** Waiting for less is not worth the call. */
const patienceMin = 20e3;
/** Turns until Node's loop watches the doorbell; then its descriptor can be found by that. */
const turnsBeforeWaiting = 3;

class UringEngine implements Engine, Home {
  readonly name = 'uring';
  readonly foreign: Foreign;
  readonly requests: Requests;
  readonly chunks: SendChunks;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  readonly #clock: () => Instant;
  readonly #ring: Ring;
  readonly buffers: ReceiveBuffers;
  readonly #doorbell: Doorbell;
  readonly #alarms = new Alarms();
  readonly #slots: (UringSocket | UringListener | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  /** Sockets that want something of the kernel in the next round. */
  #wanting: (UringSocket | undefined)[] = [];
  #wantingCount = 0;
  #wantingBefore: (UringSocket | undefined)[] = [];
  /** Sockets with a send that is done when the kernel has been called. */
  readonly #settling: (UringSocket | undefined)[] = [];
  #settlingCount = 0;
  /** The present completions of sends have been heard. */
  #heard = false;
  /** Sockets whose last completion has come, to be closed in this round. */
  #over: UringSocket[] = [];
  readonly #listeners = new Set<UringListener>();
  #timerAt: Instant | undefined;
  #now: Instant;
  #inTurn = false;
  #soon = false;
  #again: NodeJS.Immediate | undefined;
  readonly #waitsInRing: boolean;
  /** How much earlier than its alarm the kernel's timer is set. */
  readonly #earlier: number;
  /** Node's own epoll descriptor; −1 before it was looked for, or where it was not found: then nobody waits in the ring. */
  #loopFd = -1;
  #turnsUntilSearch = turnsBeforeWaiting;
  #loopWatched = false;
  /** Node's loop was lately busy with sockets of its own, those under TLS: until then we meet what comes there. */
  #homeUntil = 0;
  /** Answers to nothing but that we do not watch any more. */
  #unwatched = 0;
  /** Node's loop has something to do. */
  #loopCalls = false;
  #awake = true;
  #closed = false;
  #tlsEngine: Engine | undefined;
  #secureSockets: SecureSockets | undefined;
  #resolving = 0;

  constructor(foreign: Foreign, options: UringEngineOptions) {
    this.foreign = foreign;
    this.#clock = options.clock ?? threadClock;
    this.#waitsInRing = options.waitsInRing ?? false;
    this.#earlier = options.fineAlarms === true ? awakeBefore : 0;
    this.highWaterMark = options.highWaterMark ?? 256 * 1024;
    this.lowWaterMark = this.highWaterMark / 4;
    const sizes = { ...defaultSizes, ...options.sizes };
    this.#ring = new Ring(foreign, sizes);
    try {
      this.buffers = new ReceiveBuffers(foreign, this.#ring, sizes);
      this.#doorbell = new Doorbell(foreign, this.#turn);
    } catch (error) {
      this.#ring.close();
      throw error;
    }
    this.#ring.signal(this.#doorbell.eventFd);
    this.chunks = new SendChunks(foreign);
    this.requests = new Requests(foreign, this.#ring, this.buffers.group);
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

  keep(bytes: Uint8Array): Uint8Array {
    return keptBytes(this.foreign, bytes);
  }

  async listen(at: ListenAt, accept: (socket: Socket) => SocketHandler): Promise<Listener> {
    assert(!this.#closed, 'the engine is open');
    if (at.tls === undefined) return this.#listen(at, accept);
    const secure = this.#secure();
    return secure === undefined ? this.#tls().listen(at, accept) : this.#listen(at, secure.behind(at.tls, accept));
  }

  async #listen(at: ListenAt, accept: (socket: Socket) => SocketHandler): Promise<Listener> {
    const address = isIP(at.host) === 0 ? (await lookup(at.host)).address : at.host;
    const fd = listenAt(this.foreign, at, address);
    if (typeof fd !== 'number') return Promise.reject<Listener>(fd);
    const place = placeOfSocket(this.foreign, fd, 'getsockname') ?? { address, port: at.port };
    const listener = new UringListener(this, fd, place, accept);
    this.#occupy(listener);
    this.#listeners.add(listener);
    listener.accept();
    this.soon();
    this.#keepAwake();
    return listener;
  }

  secure(socket: Socket, first: Uint8Array, tls: ServerTls, accept: (socket: Socket) => SocketHandler): SocketHandler {
    return (this.#secure() ?? this.#tls()).secure(socket, first, tls, accept);
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
    this.#ring.close();
  }

  // For sockets and listeners.

  /** The socket wants something: a send, to receive again, an end. Looked at in the next round. */
  want(socket: UringSocket): void {
    if (socket.wanting) return;
    socket.wanting = true;
    this.#wanting[this.#wantingCount++] = socket;
    this.soon();
  }

  settle(socket: UringSocket): void {
    this.#settling[this.#settlingCount++] = socket;
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
    process.nextTick(this.#shortTurn);
  }

  adopt(listener: UringListener, fd: number): void {
    if (this.#closed) {
      this.foreign.libc.close(fd);
      return;
    }
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

  readonly #turn = (): void => this.#rounds(true);

  /** Between two ticks of Node's: what it goes on with must not wait for the kernel. */
  readonly #shortTurn = (): void => this.#rounds(false);

  #rounds(mayWait: boolean): void {
    if (this.#inTurn || (this.#closed && this.#slots.length === this.#freeSlots.length)) return;
    this.#inTurn = true;
    this.#soon = false;
    this.#loopCalls = false;
    this.#ring.quiet = true;
    this.#now = this.#clock();
    const end = this.#now + (mayWait && this.#canWait() ? turnLength : 0);
    let busy = true;
    try {
      for (let round = 0; round < roundsMax && busy; round++) {
        busy = this.#round(end - this.#now);
        if (this.#loopCalls || (round >= shortRounds && this.#now >= end)) break;
      }
      if (!busy && this.#loopWatched) busy = this.#unwatchLoop();
    } finally {
      this.#inTurn = false;
      // First let it ring, then look: what comes in between must not be missed.
      this.#ring.quiet = false;
    }
    if (busy || this.#ring.ready || this.#ring.pending > 0) this.#goOn();
    this.#keepAwake();
  }

  /** Hot. Waits for as long as `patience` when nothing is there. Returns whether there may be more to do. */
  #round(patience: number): boolean {
    if (this.#wantingCount > 0) this.#submitWants();
    this.buffers.publish();
    const isNear = this.#earlier > 0 && this.#alarmIsNear();
    if (patience > patienceMin && !isNear && this.#over.length === 0 && !this.#ring.ready) this.#enterAndWait(patience);
    else if (this.#ring.pending > 0 || this.#ring.ready) this.#ring.enter();
    this.#now = this.#clock();
    const count = this.#complete();
    if (this.#alarms.next !== undefined) this.#alarms.ring(this.#now);
    if (this.#over.length > 0) this.#buryAll();
    this.#setTimer();
    if (count > 0 || this.#wantingCount > 0 || this.#over.length > 0 || this.#ring.pending > 0) return true;
    return this.#earlier > 0 && this.#alarmIsNear();
  }

  #alarmIsNear(): boolean {
    const next = this.#alarms.next;
    return next !== undefined && next - this.#now <= this.#earlier;
  }

  #enterAndWait(patience: number): void {
    if (!this.#loopWatched) {
      this.#loopWatched = true;
      this.requests.watchLoop(this.#loopFd);
    }
    this.#ring.enterAndWait(Math.ceil(patience));
  }

  /** Node's loop is watched from the ring only while we are in the ring. Whoever wakes the loop otherwise (another thread's message,
   * by an event counter) would at the same time give the ring something to do, for which the kernel may not signal a second counter
   * from there and puts that off: once, and never again. The ring then has work, nobody rings for it, and as long as it has work
   * nobody rings for more: everything stands still for good. Seen after two minutes of load, and within a second where another
   * thread sends messages. */
  #unwatchLoop(): boolean {
    this.requests.unwatchLoop();
    return this.#round(0);
  }

  #canWait(): boolean {
    if (!this.#waitsInRing) return false;
    if (this.#loopFd < 0 && this.#turnsUntilSearch >= 0 && this.#turnsUntilSearch-- === 0) {
      this.#loopFd = this.#doorbell.watchedBy() ?? -1;
    }
    return this.#loopFd >= 0 && this.#now >= this.#homeUntil;
  }

  /** What has had no answer although the kernel was called went well. Not yet, while answers may be waiting for a place. */
  #settleAll(): void {
    if (this.#ring.pending > 0 || this.#ring.overflown) return;
    const settling = this.#settling;
    const count = this.#settlingCount;
    this.#settlingCount = 0;
    for (let index = 0; index < count; index++) {
      const socket = settling[index];
      settling[index] = undefined;
      socket?.settled(this.#now);
    }
  }

  #goOn(): void {
    // Whoever comes back by himself need not be called.
    this.#ring.quiet = true;
    if (this.#again !== undefined) return;
    this.#again = setImmediate(() => {
      this.#again = undefined;
      this.#turn();
    });
  }

  #submitWants(): void {
    // Handlers that are called from here (a resumed socket has data waiting) may want again: that is the next round's.
    const wanting = this.#wanting;
    const count = this.#wantingCount;
    this.#wanting = this.#wantingBefore;
    this.#wantingBefore = wanting;
    this.#wantingCount = 0;
    for (let index = 0; index < count; index++) {
      const socket = wanting[index];
      // Emptied place by place: a list made shorter would lose its memory and grow anew in each round.
      wanting[index] = undefined;
      if (socket === undefined) continue;
      socket.wanting = false;
      socket.submitWants(this.#now);
    }
  }

  /** Hot. What became of sends comes first: an answer may be among the completions already, and whoever gets it shall know that
   * his request has left. */
  #complete(): number {
    const ring = this.#ring;
    const count = ring.completions;
    if (this.#settlingCount > 0) {
      for (let read = 0; read < count; read++) this.#hearOfSend(ring.completion(read));
      this.#settleAll();
    }
    const heard = this.#heard;
    this.#heard = false;
    let read = 0;
    try {
      while (read < count) this.#hear(ring.completion(read++), heard);
    } finally {
      // Also when a handler threw: its completion was read.
      ring.done(read);
    }
    const unwatched = this.#unwatched;
    this.#unwatched = 0;
    return count - unwatched;
  }

  #hearOfSend(at: number): void {
    const { words } = this.#ring;
    const user = words[at] ?? 0;
    if (aboutOf(user) !== about.send) return;
    const slot = this.#slots[slotOf(user)];
    assert(slot instanceof UringSocket, 'a slot is kept until its last completion');
    this.#heard = true;
    slot.sent(words[at + 2] ?? 0, this.#now);
  }

  #hear(at: number, sendsHeard: boolean): void {
    const { words } = this.#ring;
    const user = words[at] ?? 0;
    const result = words[at + 2] ?? 0;
    const flags = words[at + 3] ?? 0;
    const subject = aboutOf(user);
    if (subject === about.nothing || (sendsHeard && subject === about.send)) return;
    if (subject === about.timer) {
      this.#timerAt = undefined;
      return;
    }
    if (subject === about.loop) {
      this.#loopWatched = false;
      if (result === canceled) {
        this.#unwatched = 1;
        return;
      }
      this.#loopCalls = true;
      this.#homeUntil = this.#now + homeLength;
      return;
    }
    const slot = this.#slots[slotOf(user)];
    assert(slot !== undefined, 'a slot is kept until its last completion');
    if (slot instanceof UringListener) slot.accepted(result, (flags & moreFollow) !== 0);
    else if (subject === about.receive) this.#received(slot, result, flags);
    else if (subject === about.send) slot.sent(result, this.#now);
    else slot.connected(result, this.#now);
  }

  /** Hot. */
  #received(socket: UringSocket, result: number, flags: number): void {
    if ((flags & moreFollow) === 0) socket.receivingStopped();
    if ((flags & hasBuffer) === 0) {
      if (result === noBuffers) this.buffers.ranOut();
      else socket.receivedNothing(result, this.#now);
      return;
    }
    const buffer = flags >>> 16;
    this.buffers.hold(buffer);
    try {
      if (result > 0) socket.received(this.buffers.view(buffer, result), this.#now);
    } finally {
      this.buffers.release(buffer);
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
    // Awake for it already.
    if (this.#earlier > 0 && this.#alarmIsNear()) return;
    const distance = Math.max(0, next - this.#clock() - this.#earlier);
    if (this.#timerAt === undefined) this.requests.timer(distance);
    else this.requests.moveTimer(distance);
    this.#timerAt = next;
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

  #secure(): SecureSockets | undefined {
    this.#secureSockets ??= secureSockets(this);
    return this.#secureSockets;
  }

  #tls(): Engine {
    return (this.#tlsEngine ??= nodeEngine({
      clock: this.#clock,
      sharesThread: true,
      highWaterMark: this.highWaterMark,
    }));
  }
}

const ignorant: SocketHandler = { onData: () => {}, onClose: () => {} };

const threadClock = (): Instant => instantAt(performance.now() * 1e6);

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
