// One TCP socket as a small machine. It knows what it wants (`submitWants`, once a round) and takes what the kernel answers.
//
//   connect ──► open ──────────────────────────────────► dropped ──► over
//                │  both ends: FIN sent and peer's FIN told ▲  ▲        (nothing in flight: onClose, then the descriptor)
//                └─ an error ───────────────────────────────┘  └─ destroy
//
// In flight are at most one receive (which goes on delivering), one send, or one connect. Sends are one at a time because the
// kernel does not promise an order among several; what is written meanwhile collects in chunks and goes out next, all of it together.
//
// What is written may lie in a buffer that the kernel has received into. A long piece of that is not copied but lent to the send:
//
//   received ─► handler ─► write ─► unsent: [chunk, loan, loan] ─► one send, at once ─► all taken: the buffers go back
//                                                                                   └─► not all: the rest is copied, and waits
//
// So a buffer is held for one round at most, however slow the peer: who has a send waiting gets copies.

import { isIP } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { after, assert, type Instant } from '../../base.ts';
import type { Alarm, NetError, Socket, SocketHandler, Target, TlsFacts } from '../engine.ts';
import { netError } from '../errors.ts';
import { again, canceled, type Home } from './home.ts';
import { KeptBytes } from './kept-bytes.ts';
import { piecesMax } from './messages.ts';
import { Chunk, Loan, type Piece } from './send-chunks.ts';
import { familyOf, isLoopback, type Place, placeOfSocket, socketAddress } from './socket-address.ts';
import { bindAddressNoPort, noDelay, plainCongestionControl, resetOnClose } from './socket-options.ts';

const none: readonly string[] = [];

const nothing: readonly Piece[] = [];

/** Shorter pieces are copied: that costs less than a piece of their own. */
const loanMin = 2048;

export class UringSocket implements Socket {
  context: unknown = undefined;
  handler: SocketHandler;
  slot = -1;
  fd = -1;
  /** On the engine's list for the next round. */
  wanting = false;
  readonly tls: TlsFacts | undefined = undefined;
  readonly #home: Home;
  #stage: 'connect' | 'open';
  /** Operations of the kernel's that refer to this socket. */
  #inFlight = 0;
  #receiving = false;
  #stopping = false;
  #paused = false;
  #sending: Piece | KeptBytes | undefined;
  /** What goes out in the same send, behind it. */
  #sendingMore: readonly Piece[] = nothing;
  /** It was sent when the kernel was called, unless an answer says otherwise. */
  #atOnce = false;
  /** Written and not yet given to the kernel. Nearly always one chunk; further ones, oldest first, stand behind it. */
  #unsent: Piece | undefined;
  #unsentMore: Piece[] = [];
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
  #candidates: readonly string[] = none;
  #target: Target | undefined;
  /** Kept while the kernel may read it. */
  #address: Uint8Array | undefined;

  constructor(home: Home, handler: SocketHandler, stage: 'connect' | 'open') {
    this.#home = home;
    this.handler = handler;
    this.#stage = stage;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Hot. */
  write(bytes: Uint8Array): boolean {
    if (this.#dropped || this.#ending) return false;
    if (bytes instanceof KeptBytes && this.#canSendAtOnce()) {
      this.#sendKept(bytes);
    } else if (bytes.length > 0) {
      this.#queued += bytes.length;
      this.#keep(bytes);
      this.#home.want(this);
    }
    if (this.#queued <= this.#home.highWaterMark) return true;
    this.#drainWanted = true;
    return false;
  }

  /** Nothing that was written before is still to be sent. */
  #canSendAtOnce(): boolean {
    return this.#stage === 'open' && this.#sending === undefined && this.#unsent === undefined;
  }

  /** Hot. It goes out with the next `enter`. */
  #sendKept(kept: KeptBytes): void {
    if (kept.length === 0) return;
    this.#sending = kept;
    this.#atOnce = true;
    this.#queued += kept.length;
    this.#inFlight++;
    this.#home.requests.sendKept(this.slot, this.fd, kept);
    this.#home.settle(this);
    this.#home.soon();
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length >= loanMin && this.#lend(bytes)) return;
    const { chunks } = this.#home;
    let from = 0;
    const last = this.#unsentMore.length > 0 ? this.#unsentMore.at(-1) : this.#unsent;
    if (last instanceof Chunk) from = last.fill(bytes, 0);
    if (from === bytes.length) return;
    const chunk = chunks.take(bytes.length - from);
    chunk.fill(bytes, from);
    this.#queue(chunk);
  }

  /** Sends bytes from where they were received, if they were, and if they will leave with the next send. */
  #lend(bytes: Uint8Array): boolean {
    const waits = this.#stage !== 'open' || (this.#sending !== undefined && !this.#atOnce);
    if (waits || this.#unsentMore.length + 2 > piecesMax) return false;
    const { buffers } = this.#home;
    const number = buffers.numberOf(bytes);
    if (number === undefined) return false;
    buffers.hold(number);
    this.#queue(new Loan(number, bytes, buffers.addressIn(number, bytes)));
    return true;
  }

  #queue(piece: Piece): void {
    if (this.#unsent === undefined) this.#unsent = piece;
    else this.#unsentMore.push(piece);
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    if (!this.#dropped) this.#home.want(this);
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#dropped) this.#home.want(this);
  }

  end(): void {
    if (this.#dropped || this.#ending) return;
    this.#ending = true;
    this.#home.want(this);
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
    return placeOfSocket(this.#home.foreign, this.fd, which);
  }

  // Connecting.

  connect(target: Target): void {
    this.#target = target;
    if (target.connectTimeout !== undefined) {
      const at = after(this.#home.now(), target.connectTimeout);
      this.#connectAlarm = this.#home.alarm(at, () => {
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
      found = await this.#home.resolve(host);
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
    const { libc } = this.#home.foreign;
    // SOCK_STREAM | SOCK_CLOEXEC
    this.fd = libc.socket(familyOf(address), 0x80001, 0);
    if (this.fd < 0) return this.#drop(this.#failure('socket', -this.#home.foreign.errno()));
    noDelay(this.#home.foreign, this.fd);
    if (isLoopback(address)) plainCongestionControl(this.#home.foreign, this.fd);
    if (target.localAddress !== undefined) {
      bindAddressNoPort(this.#home.foreign, this.fd);
      const local = socketAddress(libc, { address: target.localAddress, port: 0 });
      if (libc.bind(this.fd, local, local.length) < 0) {
        return this.#drop(this.#failure(`bind ${target.localAddress}`, -this.#home.foreign.errno()));
      }
    }
    this.#address = socketAddress(libc, { address, port: target.port });
    this.#home.want(this);
  }

  connected(result: number, now: Instant): void {
    this.#landed();
    if (this.#dropped) return;
    if (result < 0) {
      if (this.#candidates.length === 0) {
        return this.#drop(this.#failure(`connect ${this.#remote?.address}:${this.#remote?.port}`, result));
      }
      this.#home.foreign.libc.close(this.fd);
      return this.#try(this.#candidates);
    }
    this.#connectAlarm?.cancel();
    this.#connectAlarm = undefined;
    this.#address = undefined;
    this.#target = undefined;
    this.#candidates = none;
    this.#stage = 'open';
    this.#home.want(this);
    this.handler.onOpen?.(this, now);
  }

  // What the kernel is asked for, once a round.

  submitWants(now: Instant): void {
    if (this.#dropped) return;
    if (this.#stage === 'connect') {
      if (this.#address !== undefined && this.#inFlight === 0) {
        this.#inFlight++;
        this.#home.requests.connect(this.slot, this.fd, this.#address);
      }
      return;
    }
    this.#submitReceive(now);
    if (this.#dropped || this.#sending !== undefined) return;
    const first = this.#unsent;
    if (first !== undefined) this.#submitSend(first);
    else if (this.#ending && !this.#ended) this.#sendEnd();
  }

  #submitReceive(now: Instant): void {
    if (this.#paused) {
      if (this.#receiving && !this.#stopping) {
        this.#stopping = true;
        this.#home.requests.stopReceiving(this.slot);
      }
      return;
    }
    this.#tellHeld(now);
    if (this.#receiving || this.#peerEnded || this.#dropped || this.#paused) return;
    this.#receiving = true;
    this.#inFlight++;
    this.#home.requests.receive(this.slot, this.fd);
  }

  /** Everything that was written goes out together. Nearly always the kernel has room and takes it at once. When it has not, `sent`
   * hears of it and sends the rest patiently. */
  #submitSend(first: Piece): void {
    this.#sending = first;
    this.#unsent = undefined;
    this.#atOnce = true;
    this.#inFlight++;
    const { requests } = this.#home;
    if (this.#unsentMore.length === 0) requests.sendAtOnce(this.slot, this.fd, first);
    else requests.sendTogether(this.slot, this.fd, this.#takeTogether(first));
    this.#home.settle(this);
  }

  /** As many as go into one send, the first included; the others move up. */
  #takeTogether(first: Piece): readonly Piece[] {
    const behind = this.#unsentMore;
    const together = behind.slice(0, piecesMax - 1);
    this.#unsentMore = behind.slice(piecesMax - 1);
    this.#unsent = this.#unsentMore.shift();
    this.#sendingMore = together;
    return [first, ...together];
  }

  #sendEnd(): void {
    this.#ended = true;
    // When the peer has ended too, closing the descriptor sends the FIN.
    if (this.#peerEndTold) return this.#finish();
    this.#home.foreign.libc.shutdown(this.fd, 1);
    return undefined;
  }

  // What the kernel answers.

  /** Hot. */
  received(bytes: Uint8Array, now: Instant): void {
    if (this.#dropped) return;
    if (this.#paused || this.#held.length > 0) this.#held.push(new Uint8Array(bytes));
    else this.handler.onData(this, bytes, now);
  }

  receivingStopped(): void {
    this.#receiving = false;
    this.#stopping = false;
    this.#landed();
    // Started again unless the socket is paused, at its end, or dropped: the kernel stops for want of buffers, for instance.
    if (!this.#dropped) this.#home.want(this);
  }

  /** The end (0) or an error. */
  receivedNothing(result: number, now: Instant): void {
    if (this.#dropped || result === canceled) return;
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

  /** Hot. The kernel was called, and whatever it had to say about the send has been heard. */
  settled(now: Instant): void {
    if (!this.#atOnce) return;
    const sending = this.#sending;
    assert(sending !== undefined, 'a send that is settled was in flight');
    let all = sending instanceof KeptBytes ? sending.length : sending.end - sending.start;
    for (const piece of this.#sendingMore) all += piece.end - piece.start;
    this.sent(all, now);
  }

  /** Hot. */
  sent(answer: number, now: Instant): void {
    const sending = this.#sending;
    assert(sending !== undefined, 'a send that completes was in flight');
    const result = this.#atOnce && answer === again ? 0 : answer;
    const behind = this.#sendingMore;
    this.#atOnce = false;
    this.#sending = undefined;
    this.#sendingMore = nothing;
    this.#landed();
    if (this.#dropped || result < 0) {
      if (!(sending instanceof KeptBytes)) this.#giveBack(sending);
      for (const piece of behind) this.#giveBack(piece);
      if (!this.#dropped) this.#drop(this.#failure('write', result));
      return undefined;
    }
    this.#queued -= result;
    const rest =
      sending instanceof KeptBytes ? this.#restOfKept(sending, result) : this.#restOf(sending, behind, result);
    if (rest.length > 0) return this.#sendPatiently(rest);
    if (this.#unsent !== undefined || this.#ending) this.#home.want(this);
    if (this.#drainWanted && this.#queued <= this.#home.lowWaterMark) {
      this.#drainWanted = false;
      this.handler.onDrain?.(this, now);
    }
    return undefined;
  }

  /** What the kernel has not taken. What it has taken goes back. */
  #restOf(first: Piece, behind: readonly Piece[], sent: number): readonly Piece[] {
    if (behind.length === 0 && sent === first.end - first.start) {
      this.#giveBack(first);
      return nothing;
    }
    const rest: Piece[] = [];
    let left = sent;
    for (const piece of [first, ...behind]) {
      const taken = Math.min(left, piece.end - piece.start);
      left -= taken;
      piece.start += taken;
      if (piece.start < piece.end) rest.push(piece);
      else this.#giveBack(piece);
    }
    return rest;
  }

  #restOfKept(kept: KeptBytes, sent: number): readonly Piece[] {
    if (sent === kept.length) return nothing;
    const chunk = this.#home.chunks.take(kept.length - sent);
    chunk.fill(kept, sent);
    return [chunk];
  }

  /** The rest first, then what was written since. It may take as long as the peer likes, so nothing of it may be held. */
  #sendPatiently(rest: readonly Piece[]): void {
    const since = this.#unsent === undefined ? nothing : [this.#unsent, ...this.#unsentMore];
    const [first, next, ...others] = [...rest, ...since].map((piece) => this.#owned(piece));
    assert(first !== undefined, 'there is something left to send');
    this.#unsent = next;
    this.#unsentMore = others;
    this.#sending = first;
    this.#inFlight++;
    this.#home.requests.send(this.slot, this.fd, first);
  }

  /** The same bytes in a chunk. */
  #owned(piece: Piece): Chunk {
    if (piece instanceof Chunk) return piece;
    const chunk = this.#home.chunks.take(piece.end - piece.start);
    chunk.fill(piece.bytes, piece.start);
    this.#giveBack(piece);
    return chunk;
  }

  #giveBack(piece: Piece): void {
    if (piece instanceof Chunk) this.#home.chunks.giveBack(piece);
    else this.#home.buffers.release(piece.buffer);
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
    if (this.#unsent !== undefined) this.#giveBack(this.#unsent);
    for (const piece of this.#unsentMore) this.#giveBack(piece);
    this.#unsent = undefined;
    this.#unsentMore.length = 0;
    this.#queued = 0;
    if (this.#inFlight > 0 && this.fd >= 0) {
      // The kernel finds a request by its number at once, but goes through all requests there are to find those of a descriptor:
      // seventeen thousand idle sockets that are dropped together would take it seconds.
      if (this.#inFlight === 1 && this.#receiving) this.#home.requests.stopReceiving(this.slot);
      else this.#home.requests.cancelAll(this.fd);
      this.#home.soon();
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
    this.#home.bury(this);
  }

  close(now: Instant): void {
    // The ports can be asked for until here.
    this.handler.onClose(this, this.#error, now);
    if (this.fd >= 0) {
      const { foreign } = this.#home;
      if (this.#reset) resetOnClose(foreign, this.fd);
      foreign.libc.close(this.fd);
    }
    this.fd = -1;
    this.#home.release(this.slot);
  }

  #failure(what: string, result: number): NetError {
    const code = getSystemErrorName(result);
    return netError(this.#stage, code, `${what}: ${code}`);
  }
}

function codeOf(thrown: unknown): string {
  const code: unknown = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'code') : undefined;
  return typeof code === 'string' ? code : 'UNKNOWN';
}
