// A client's connection: reads requests from it, one at a time, and writes their answers in order. It knows when to read and
// when to wait; what becomes of a request is the exchange's business. Reader and exchange are on a `Seat`, taken with the
// first byte of a request and given back after the last of its answer.
//
// When bytes are not read on (the reader is paused, and what has come already is `kept`):
//   - the request is complete and its answer is not (a pipelined request waits its turn);
//   - `held`: the endpoint cannot take more of the body yet;
//   - `full`: the client does not take its answers; no further request of it is begun.
// The kept bytes are one chunk at most: with something kept, the socket is paused, and the kernel slows the client down.
//
// How long a client may take is bounded in each state by one timeout:
//   between requests  idleTimeout, then close           within a head     headTimeout, then 408
//   within a body     bodyTimeout, then 408             after the end     lingerTime, then reset
//   a discarded body  headTimeout, then reset           behind            stallTimeout, then broken off
// The end is a FIN of ours, after which we read on and throw away for a while: closing at once with unread bytes would send
// a reset that can destroy the answer before the client has read it (RFC 9112 section 9.6).
//
// A client that has sent its FIN is taken to be gone, as nginx and Envoy do, since a closed socket cannot be told from a half
// closed one: what was asked for is cancelled upstream. Between requests that is simply the end.
//
// Hot: onData and what the reader calls, flush, exchangeDone.

import { after, type Instant, seconds } from '../base.ts';
import type { Socket, SocketHandler } from '../net.ts';
import { type ConnectionEnds, reasonOf, type RequestHead } from '../wire.ts';
import type { DataPlane } from './data-plane.ts';
import type { GrowingBytes } from './growing-bytes.ts';
import { writeConnection, writeStatusLine } from './heads.ts';
import { writeRequestId } from './identity.ts';
import type { Seat } from './seat.ts';
import { Timeout } from './timeouts.ts';

const lingerTime = seconds(2);
/** While the gateway stops, a connection between two requests gets this long: its next request may be on the way. */
const drainIdle = seconds(1);
/** Bytes thrown away after the end before we lose patience. */
const lingerBytesMax = 1024 * 1024;
/** With this much put together, it is sent before more is. */
const flushAt = 48 * 1024;

const nothing = new Uint8Array(0);

export class ClientConnection implements SocketHandler {
  readonly socket: Socket;
  readonly #plane: DataPlane;
  /** Undefined between two requests. */
  #seat: Seat | undefined;
  readonly #timeout: Timeout;
  #state: 'open' | 'tunnel' | 'closing' | 'closed' = 'open';
  #now: Instant;
  #kept: Uint8Array | undefined;
  /** Within `reader.read`: events may pause it, nobody may read. */
  #reading = false;
  #readerPaused = false;
  #socketPaused = false;
  #full = false;
  #headBeganAt: Instant | undefined;
  #lingered = 0;
  /** Bytes that were still to be sent when the last lingering was over. */
  #queuedBefore = 0;
  /** The timeout is that of the body. */
  #bodyWatched = false;
  /** Made for the few that do not take what they are sent. */
  #stall: Timeout | undefined;
  #address: string | undefined;
  /** What a preamble said of them. */
  readonly #ends: ConnectionEnds | undefined;
  /** The body is not read on until `release`. */
  held = false;
  /** It came over TLS. */
  readonly secure: boolean;
  /** It is a stream of HTTP/2. */
  readonly isStream: boolean;

  constructor(plane: DataPlane, socket: Socket, now: Instant, ends?: ConnectionEnds, secure = false, isStream = false) {
    this.#plane = plane;
    this.socket = socket;
    this.#ends = ends;
    this.#address = ends?.source.address;
    this.secure = secure;
    this.isStream = isStream;
    this.#now = now;
    this.#timeout = new Timeout((at) => this.#tooLong(at));
    plane.timeouts.set(this.#timeout, after(now, plane.config.limits.idleTimeout));
  }

  get #busy(): boolean {
    return this.#seat?.exchange.active === true;
  }

  /** It does not take what it is sent. */
  get behind(): boolean {
    return this.#full;
  }

  get address(): string {
    return (this.#address ??= this.socket.remoteAddress);
  }

  /** Who is connected to whom, for an endpoint that wants to be told. */
  get ends(): ConnectionEnds {
    return this.#ends ?? this.#plane.endsOf(this.socket);
  }

  // ── what the client sends ─────────────────────────────────────────────────────────────────────────────────────────

  onData(_socket: Socket, bytes: Uint8Array, now: Instant): void {
    this.#now = now;
    switch (this.#state) {
      case 'open':
        if (this.#kept !== undefined || this.#readerPaused) this.#keep(bytes, 0);
        else this.#read((this.#seat ??= this.#plane.takeSeat(this)), bytes, now);
        break;
      case 'tunnel':
        this.#seat?.exchange.tunnelFromClient(bytes, now);
        break;
      case 'closing':
        this.#lingered += bytes.length;
        if (this.#lingered > lingerBytesMax) this.destroy();
        break;
      case 'closed':
        break;
    }
    this.#plane.flush();
  }

  #read(seat: Seat, bytes: Uint8Array, now: Instant): void {
    const { reader, exchange } = seat;
    this.#reading = true;
    const consumed = reader.read(bytes);
    this.#reading = false;
    if (this.#state !== 'open') return;
    if (reader.error !== undefined) return exchange.badRequest(reader.error, now);
    if (consumed < bytes.length) this.#keep(bytes, consumed);
    else if (this.#socketPaused) this.#resumeSocket();
    exchange.flushRequest();
    if (!exchange.active) this.#waitForMore(now);
    else if (exchange.awaitsBody) this.#watchBody(now);
  }

  /** A head that has begun must be complete in time, counted from its first byte; between requests, patience begins anew and
   * the seat is given back. */
  #waitForMore(now: Instant): void {
    const { limits } = this.#plane.config;
    const seat = this.#seat;
    if (seat === undefined || seat.reader.idle) {
      this.#headBeganAt = undefined;
      this.#plane.timeouts.set(this.#timeout, after(now, this.#plane.draining ? drainIdle : limits.idleTimeout));
      if (seat !== undefined && this.#kept === undefined && !this.#readerPaused) this.#leaveSeat(seat);
    } else {
      this.#headBeganAt ??= now;
      this.#plane.timeouts.set(this.#timeout, after(this.#headBeganAt, limits.headTimeout));
    }
  }

  /** More of the body must come within a while, unless it is we who do not read. */
  #watchBody(now: Instant): void {
    if (this.held) return;
    this.#bodyWatched = true;
    this.#plane.timeouts.set(this.#timeout, after(now, this.#plane.config.limits.bodyTimeout));
  }

  #watchBodyNoMore(): void {
    if (!this.#bodyWatched) return;
    this.#bodyWatched = false;
    this.#plane.timeouts.cancel(this.#timeout);
  }

  #leaveSeat(seat: Seat): void {
    this.#seat = undefined;
    this.#plane.returnSeat(seat);
  }

  /** From the reader: a head is complete. */
  headCame(head: RequestHead): void {
    this.#headBeganAt = undefined;
    this.#plane.timeouts.cancel(this.#timeout);
    this.#seat?.exchange.begin(head, this.#now);
  }

  /** From the reader: a request is complete. */
  requestEnded(): void {
    const exchange = this.#seat?.exchange;
    this.#watchBodyNoMore();
    exchange?.requestEnd(this.#now);
    if (exchange?.active === true || this.#full) this.#pauseReader();
  }

  onEnd(_socket: Socket, now: Instant): void {
    if (this.#state === 'tunnel') return this.#seat?.exchange.tunnelClientEnded();
    if (this.#state === 'closing') return this.destroy();
    this.#seat?.exchange.clientGone(now);
    if (this.#state === 'open') this.closeAfterAnswer(now);
    // Its place may have gone to somebody who waited.
    this.#plane.flush();
  }

  onDrain(_socket: Socket, now: Instant): void {
    this.#now = now;
    this.#full = false;
    if (this.#stall !== undefined) this.#plane.timeouts.cancel(this.#stall);
    this.#seat?.exchange.clientDrained();
    if (this.#state === 'open' && !this.#busy) this.#readOn(now);
    this.#plane.flush();
  }

  onClose(_socket: Socket, _error: unknown, now: Instant): void {
    this.#ended(now);
    this.#plane.flush();
  }

  // ── when to read ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** The endpoint cannot take more of the body. */
  hold(): void {
    if (this.held) return;
    this.held = true;
    this.#watchBodyNoMore();
    if (this.#reading) this.#pauseReader();
    else this.pauseReading();
  }

  release(now: Instant): void {
    if (!this.held) return;
    this.held = false;
    if (!this.#reading) this.#readOn(now);
    else this.#resumeReader();
    if (this.#seat?.exchange.awaitsBody === true) this.#watchBody(now);
  }

  pauseReading(): void {
    if (this.#socketPaused) return;
    this.#socketPaused = true;
    this.socket.pause();
  }

  resumeReading(): void {
    this.#resumeSocket();
  }

  /** The answer is complete and the connection goes on: the next request may begin. */
  exchangeDone(now: Instant): void {
    this.held = false;
    if (this.#reading) {
      if (this.#readerPaused) this.#resumeReader();
      return;
    }
    if (this.#full) {
      this.#waitForMore(now);
      return;
    }
    this.#readOn(now);
    if (this.#state === 'open' && !this.#busy) this.#waitForMore(now);
  }

  /** Reads what was kept, then lets the client send on. */
  #readOn(now: Instant): void {
    if (this.#readerPaused) this.#resumeReader();
    const kept = this.#kept;
    this.#kept = undefined;
    this.#now = now;
    if (kept !== undefined) this.#read((this.#seat ??= this.#plane.takeSeat(this)), kept, now);
    else if (this.#socketPaused) this.#resumeSocket();
  }

  #pauseReader(): void {
    this.#readerPaused = true;
    this.#seat?.reader.pause();
  }

  #resumeReader(): void {
    this.#readerPaused = false;
    this.#seat?.reader.resume();
  }

  #resumeSocket(): void {
    if (!this.#socketPaused) return;
    this.#socketPaused = false;
    this.socket.resume();
  }

  /** The bytes are only lent to us: copied, and not by `slice`, which on Node's buffers makes another view of the same memory. */
  #keep(bytes: Uint8Array, from: number): void {
    const before = this.#kept ?? nothing;
    const joined = new Uint8Array(before.length + bytes.length - from);
    joined.set(before);
    joined.set(bytes.subarray(from), before.length);
    this.#kept = joined;
    this.pauseReading();
  }

  // ── what the client is sent ───────────────────────────────────────────────────────────────────────────────────────

  /** Where to put what goes to this client in this turn; sent by `flush`. */
  out(): GrowingBytes {
    const out = this.#plane.outgoingFor(this);
    if (out.length >= flushAt) this.flush();
    return out;
  }

  /** Sends what was put together. False: the client is behind; wait. */
  flush(): boolean {
    const out = this.#plane.outgoingOf(this);
    if (out === undefined || out.length === 0) return !this.#full;
    const bytes = out.view();
    out.length = 0;
    return this.#send(bytes);
  }

  /** Sends bytes as they are, after what was put together before. */
  write(bytes: Uint8Array): boolean {
    this.flush();
    return this.#send(bytes);
  }

  #send(bytes: Uint8Array): boolean {
    if (this.#state === 'closed') return true;
    if (!this.socket.write(bytes) && !this.#full) this.#fallBehind();
    return !this.#full;
  }

  /** It must take something within a while. */
  #fallBehind(): void {
    this.#full = true;
    this.#stall ??= new Timeout((now) => this.#stalled(now));
    this.#plane.timeouts.set(this.#stall, after(this.#plane.engine.now(), this.#plane.config.limits.stallTimeout));
  }

  #stalled(now: Instant): void {
    if (this.#state === 'open' && this.#busy) this.#seat?.exchange.clientStalled(now);
    else this.destroy();
  }

  /** An answer of the gateway's own. */
  answer(status: number, flag: string, words: string, keepAlive: boolean, headOnly: boolean, now: Instant): void {
    const body = `${words}\n`;
    const out = this.out();
    writeStatusLine(out, status, reasonOf(status));
    out.text(`content-type: text/plain\r\ncontent-length: ${body.length}\r\nx-plimsoll-flags: ${flag}\r\n`);
    const requestId = this.#seat?.exchange.identity?.requestId;
    if (requestId !== undefined) writeRequestId(out, requestId);
    out.text(`date: ${this.#plane.date(now)}\r\n`);
    writeConnection(out, keepAlive ? 'keep-alive' : 'close');
    out.text('\r\n');
    if (!headOnly) out.text(body);
  }

  // ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Says that nothing more will come, and reads on for a while without listening. */
  closeAfterAnswer(now: Instant): void {
    if (this.#state !== 'open' && this.#state !== 'tunnel') return;
    this.flush();
    this.#state = 'closing';
    this.#kept = undefined;
    if (this.#reading) this.#pauseReader();
    this.socket.end();
    this.#resumeSocket();
    this.#plane.timeouts.set(this.#timeout, after(now, lingerTime));
  }

  /** The gateway stops. What is under way is finished, and the next answer says that it is the last. */
  drain(now: Instant): void {
    if (this.#state === 'open' && !this.#busy) this.#waitForMore(now);
  }

  /** The answer is sent; the rest of the request's body is read and thrown away, for so long. */
  discardRest(now: Instant): void {
    this.#plane.timeouts.set(this.#timeout, after(now, this.#plane.config.limits.headTimeout));
    this.release(now);
  }

  /** What is still on its way to a client that takes it slowly is given time, as long as it takes some. */
  #lingeredLongEnough(now: Instant): void {
    const { queued } = this.socket;
    if (queued === 0 || queued === this.#queuedBefore) return this.socket.destroy(true);
    this.#queuedBefore = queued;
    this.#plane.timeouts.set(this.#timeout, after(now, lingerTime));
    return undefined;
  }

  becomeTunnel(now: Instant): void {
    this.#state = 'tunnel';
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept !== undefined) this.#seat?.exchange.tunnelFromClient(kept, now);
    this.#resumeSocket();
  }

  endTunnel(): void {
    this.socket.end();
  }

  destroy(): void {
    if (this.#state === 'closed') return;
    this.socket.destroy();
    this.#ended(this.#plane.engine.now());
  }

  #ended(now: Instant): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const seat = this.#seat;
    seat?.exchange.clientGone(now);
    // Within the reader it is still needed; then it is left to the collector.
    if (seat !== undefined && !this.#reading) this.#leaveSeat(seat);
    this.#plane.timeouts.forget(this.#timeout);
    if (this.#stall !== undefined) this.#plane.timeouts.forget(this.#stall);
    this.#plane.clientLeft(this);
  }

  #tooLong(now: Instant): void {
    this.#now = now;
    const seat = this.#seat;
    if (this.#state === 'closing') this.#lingeredLongEnough(now);
    else if (this.#bodyWatched) {
      this.#bodyWatched = false;
      if (seat?.exchange.awaitsBody === true) seat.exchange.slowRequest(now);
    } else if (this.#busy) this.destroy();
    else if (seat === undefined || seat.reader.idle) this.closeAfterAnswer(now);
    else seat.exchange.slowRequest(now);
  }
}
