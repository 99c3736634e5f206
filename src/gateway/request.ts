// The life of a request: one exchange between a client and an endpoint, from the head to the last byte of the answer.
//
//   begin ─► admit ─► pick ─► connect ─► send ─► answer ─► finish
//              │        │        │         │        │
//              │        │        ▼         ▼        └► cut off: the answer breaks off, so does the client's connection
//              │        │     failed ─► may it be tried again? ─► pick
//              ▼        ▼        └──────────► 502, 503, 504
//             503      503
//
// Every way out is a row of `ways-out.ts`, taken in `#leave`. What the exchange holds at each phase:
//
//   phase        endpoint  connection  client is read        answer begun
//   idle         –         –           for the next head     –
//   connecting   yes       opening     not (body waits)      no
//   waiting      –         –           not (body waits)      no            between two attempts
//   sending      yes       yes         yes                   no
//   answering    yes       yes         yes                   yes
//   tunnel       yes       yes         raw                   yes
//   discarding   –         –           and thrown away       yes           the rest of a body that nobody wants
//
// Whether an attempt may be repeated, and where, is decided by `mayRepeat` (policy). What was sent is kept for that up to
// `replayBytesMax`. Reconnecting after an idle race happens once and costs nothing; other retries are paid from the retry
// budget of the whole gateway. A request that cannot be repeated takes no connection that has been idle for longer than
// `freshIdle`, so that it seldom meets the idle race at all.
//
// Hot: begin, requestBody, requestEnd, flushRequest, answerHead, answerBody, answerEnd, finishAnswer.

import { after, assert, type Duration, type Instant, ms, ns, seconds } from '../base.ts';
import { backOff, deadlineOf, forwarded, isIdempotent, mayRepeat } from '../policy.ts';
import { lastChunk, type RequestHead, type ResponseHead, type WireError } from '../wire.ts';
import type { ClientConnection } from './client-connection.ts';
import type { DataPlane } from './data-plane.ts';
import type { GrowingBytes } from './growing-bytes.ts';
import { type BodyFraming, writeInformation, writeRequestHead, writeResponseHead } from './heads.ts';
import type { EndpointErrorKind, LiveEndpoint } from './live-endpoint.ts';
import { keyOf } from './request-key.ts';
import { timeGiven, TimeLeftLines } from './time-left.ts';
import { Timeout } from './timeouts.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { type WayOut, waysOut } from './ways-out.ts';

/** How an attempt ended, as its endpoint is judged by it: one that was broken off on our side of it says nothing. */
type AttemptEnd = 'answered' | 'failed' | 'broken-off';

export type Phase = 'idle' | 'connecting' | 'waiting' | 'sending' | 'answering' | 'tunnel' | 'discarding';

/** A kept connection this young may carry a request that cannot be repeated. */
const freshIdle = seconds(1);
/** What the answer needs to come back to us and to be passed on, taken off the time that the endpoint is told it has. */
const wayBack = ms(1);
/** A larger piece of a body is written as it is; a smaller one is worth copying, to be sent together with what is around it. */
const copiedPieceMax = 16 * 1024;
/** A body up to this size is read and thrown away so that the connection can go on; with a larger one it is closed. */
const discardedBodyMax = 64 * 1024;

export class Exchange {
  phase: Phase = 'idle';
  /** Whose request it is. Changes only while idle. */
  client: ClientConnection;
  readonly #plane: DataPlane;
  readonly #deadline: Timeout;
  readonly #backOff: Timeout;

  method = '';
  /** These two only where somebody will write them down. */
  path = '';
  authority: string | undefined;
  startedAt: Instant;
  endpoint: LiveEndpoint | undefined;
  attempts = 0;
  /** Of the answer that the client got; 0 while there is none. */
  status = 0;
  requestBytes = 0;
  answerBytes = 0;
  /** To the first byte of the answer's head, from the start; undefined until it came. */
  firstByteAfter: Duration | undefined;
  answerComplete = false;

  /** The instant by which the answer must be complete. */
  #doneBy: Instant;
  #timeLeft: TimeLeftLines | undefined;
  #upstream: UpstreamConnection | undefined;
  readonly #tried: LiveEndpoint[] = [];
  /** What the request sticks to, where that is configured. */
  #hash: number | undefined;
  #attemptedAt: Instant;
  /** What was, or will be, sent to the endpoint. While `#replayable`, all of it from the first byte on. */
  #sent: GrowingBytes | undefined;
  #flushed = 0;
  #replayable = false;
  #repeatable = false;
  #upgrade: string | undefined;
  #requestFraming: BodyFraming = 'none';
  #requestComplete = false;
  #discardable = false;
  #reconnected = false;
  #clientMinorVersion: 0 | 1 = 1;
  #clientKeepAlive = true;
  #answerFraming: BodyFraming = 'none';
  #upstreamKeepAlive = false;
  readonly #outcome: { ok: boolean; latency: Duration } = { ok: true, latency: ns(0) };

  constructor(plane: DataPlane, client: ClientConnection) {
    this.#plane = plane;
    this.client = client;
    this.startedAt = plane.engine.now();
    this.#attemptedAt = this.startedAt;
    this.#doneBy = this.startedAt;
    this.#deadline = new Timeout((now) => this.#deadlinePassed(now));
    this.#backOff = new Timeout((now) => this.#attemptAgain(now));
  }

  get active(): boolean {
    return this.phase !== 'idle';
  }

  // ── 1 begin, admit ────────────────────────────────────────────────────────────────────────────────────────────────

  begin(head: RequestHead, now: Instant): void {
    assert(this.phase === 'idle', 'a client is served one request at a time');
    this.#clear(now);
    this.method = head.method;
    if (this.#plane.log !== undefined) {
      this.path = head.path;
      this.authority = head.authority;
    }
    this.#clientMinorVersion = head.minorVersion;
    this.#clientKeepAlive = head.keepAlive;
    this.#requestFraming = requestFraming(head);
    this.#requestComplete = !head.chunked && (head.contentLength ?? 0) === 0;
    this.#discardable = !head.expectsContinue && (head.contentLength ?? Infinity) <= discardedBodyMax;
    this.#repeatable = isIdempotent(head.method);
    this.#upgrade = upgradeForwarded(head, this.#requestComplete);
    this.#plane.requestBegan(now);
    this.phase = 'connecting';

    const { config } = this.#plane;
    this.#doneBy = deadlineOf(now, config.timeout, config.deadline === 'ignore' ? undefined : timeGiven(head));
    const refusal = this.#refusal(head, now);
    if (refusal !== undefined) return this.#answerLocally(refusal, now);

    const { hashOn } = config.choice;
    if (hashOn.length > 0) this.#hash = keyOf(head, this.client.address, hashOn);
    const sent = this.#plane.borrowBytes();
    this.#sent = sent;
    this.#replayable = true;
    const fallbackHost = this.#plane.fallbackHost;
    if (config.deadline === 'forward') this.#timeLeft ??= new TimeLeftLines();
    const { address } = this.client;
    writeRequestHead(sent, head, this.#requestFraming, this.#upgrade, address, fallbackHost, this.#timeLeft);
    this.#plane.budget.deposit(now);
    this.#plane.timeouts.set(this.#deadline, this.#doneBy);
    this.#attempt(now);
  }

  #refusal(head: RequestHead, now: Instant): WayOut | undefined {
    // A tunnel to anywhere is a forward proxy's business, and TRACE shows a client's cookies to a script.
    if (head.method === 'CONNECT' || head.method === 'TRACE') return waysOut.notSupported;
    if (this.#plane.inFlight > this.#plane.config.limits.requestsMax) return waysOut.overflow;
    // Whoever asked has given up by now: work for it would be in vain.
    return this.#doneBy <= now ? waysOut.timedOut : undefined;
  }

  // ── 2 pick, connect ───────────────────────────────────────────────────────────────────────────────────────────────

  #attempt(now: Instant): void {
    const endpoint = this.#plane.fleet.pick(this.#tried, this.#hash, now);
    if (endpoint === undefined) return this.#answerLocally(waysOut.noHealthyEndpoint, now);
    this.attempts += 1;
    this.endpoint = endpoint;
    this.#attemptedAt = now;
    this.#plane.fleet.started(endpoint, now);
    const idleMax = this.#repeatable ? this.#plane.config.limits.upstreamIdleTimeout : freshIdle;
    const kept = endpoint.pool.take(idleMax, now);
    if (kept === undefined) this.#connect(endpoint, now);
    else this.#carriedBy(kept, now);
  }

  #connect(endpoint: LiveEndpoint, now: Instant): void {
    if (endpoint.connections >= this.#plane.config.limits.connectionsPerEndpointMax) {
      this.#attemptEnded('broken-off', now);
      return this.#answerLocally(waysOut.overflow, now);
    }
    this.phase = 'connecting';
    if (!this.#requestComplete) this.client.hold();
    this.#upstream = this.#plane.connect(endpoint, this, now);
  }

  /** The connection that was asked for is there. */
  connected(connection: UpstreamConnection, now: Instant): void {
    assert(this.phase === 'connecting', 'a connection opens for an exchange that waits for it');
    this.#carriedBy(connection, now);
    this.flushRequest();
    if (!this.#requestComplete) this.client.release(now);
  }

  #carriedBy(connection: UpstreamConnection, now: Instant): void {
    if (this.#sent !== undefined) this.#timeLeft?.stamp(this.#sent.array, forwarded(this.#doneBy, now, wayBack));
    this.#upstream = connection;
    connection.carry(this, this.method, this.#upgrade !== undefined);
    this.phase = 'sending';
  }

  // ── 3 send ────────────────────────────────────────────────────────────────────────────────────────────────────────

  requestBody(bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.requestBytes += size;
    const sent = this.#sent;
    if (sent === undefined) return;
    if (this.#replayable && sent.length + size > this.#plane.config.limits.replayBytesMax) this.#stopKeeping();
    if (this.#requestFraming === 'chunked') sent.chunkSize(size);
    if (this.#replayable || size <= copiedPieceMax) sent.piece(bytes, from, to);
    else {
      this.flushRequest();
      assert(this.#upstream !== undefined, 'a body is read only while it can be sent on');
      if (!this.#upstream.write(bytes.subarray(from, to))) this.client.hold();
    }
    if (this.#requestFraming === 'chunked') sent.bytes(lineEnd);
  }

  requestEnd(now: Instant): void {
    if (this.phase === 'discarding') {
      this.phase = 'idle';
      return this.client.exchangeDone(now);
    }
    if (!this.#requestComplete && this.#requestFraming === 'chunked') this.#sent?.bytes(lastChunk);
    this.#requestComplete = true;
  }

  /** Sends what has come together since the last flush. Called at the end of every turn that touched the request. */
  flushRequest(): void {
    const sent = this.#sent;
    const upstream = this.#upstream;
    if (sent === undefined || upstream === undefined || sent.length === this.#flushed) return;
    if (this.phase !== 'sending' && this.phase !== 'answering') return;
    const room = upstream.write(sent.view(this.#flushed));
    this.#flushed = sent.length;
    if (!this.#replayable) {
      sent.length = 0;
      this.#flushed = 0;
      if (this.#requestComplete) this.#returnSent();
    }
    if (!room && !this.#requestComplete) this.client.hold();
  }

  /** The endpoint has taken what was queued for it. */
  upstreamDrained(now: Instant): void {
    if (this.phase === 'tunnel') this.client.resumeReading();
    else if (!this.#requestComplete) this.client.release(now);
  }

  /** From here on what was sent is forgotten, and the request cannot be repeated. */
  #stopKeeping(): void {
    this.flushRequest();
    this.#replayable = false;
    const sent = this.#sent;
    if (sent === undefined || this.#flushed < sent.length) return;
    sent.length = 0;
    this.#flushed = 0;
  }

  // ── 4 answer ──────────────────────────────────────────────────────────────────────────────────────────────────────

  information(head: ResponseHead): void {
    if (this.#clientMinorVersion === 0 || this.phase !== 'sending') return;
    writeInformation(this.client.out(), head);
  }

  answerHead(head: ResponseHead, now: Instant): void {
    assert(this.phase === 'sending', 'an answer follows a request');
    this.phase = 'answering';
    this.status = head.status;
    this.firstByteAfter = ns(now - this.startedAt);
    this.#upstreamKeepAlive = head.keepAlive;
    this.#replayable = false;
    if (this.#requestComplete) this.#returnSent();
    this.#answerFraming = answerFraming(head, this.method, this.#clientMinorVersion);
    // An answer before the end of the request: the rest of the body may never come, so this connection ends here.
    if (!this.#requestComplete || this.#answerFraming === 'until-close' || this.#plane.draining) {
      this.#clientKeepAlive = false;
    }
    const connection = this.#clientKeepAlive ? (this.#clientMinorVersion === 0 ? 'keep-alive' : undefined) : 'close';
    writeResponseHead(this.client.out(), head, this.#answerFraming, connection, this.#plane.date(now));
  }

  answerBody(bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.answerBytes += size;
    const out = this.client.out();
    if (this.#answerFraming === 'chunked') out.chunkSize(size);
    if (size <= copiedPieceMax) out.piece(bytes, from, to);
    else this.client.write(bytes.subarray(from, to));
    if (this.#answerFraming === 'chunked') this.client.out().bytes(lineEnd);
  }

  answerEnd(): void {
    if (this.#answerFraming === 'chunked') this.client.out().bytes(lastChunk);
    this.answerComplete = true;
  }

  /** After each piece that the connection has read: sends it on, and ends the exchange if that was the last one. */
  finishAnswer(now: Instant): void {
    if (this.status === 101 && this.answerComplete) return this.#becomeTunnel(now);
    const room = this.client.flush();
    if (!this.answerComplete) {
      if (!room) this.#upstream?.pause();
      return;
    }
    const upstream = this.#upstream;
    assert(upstream !== undefined, 'an answer comes over a connection');
    this.#upstream = undefined;
    this.#attemptEnded(this.status < 500 ? 'answered' : 'failed', now);
    if (this.#upstreamKeepAlive && this.#requestComplete) upstream.rest(now);
    else upstream.discard();
    this.#leave(waysOut.answered, now);
    if (this.#clientKeepAlive) this.client.exchangeDone(now);
    else this.client.closeAfterAnswer(now);
  }

  /** The client has taken what was queued for it. */
  clientDrained(): void {
    this.#upstream?.resume();
  }

  // ── tunnel ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #becomeTunnel(now: Instant): void {
    this.phase = 'tunnel';
    this.#plane.timeouts.set(this.#deadline, after(now, this.#plane.config.limits.tunnelTimeout));
    this.client.flush();
    this.client.becomeTunnel(now);
  }

  tunnelFromClient(bytes: Uint8Array, now: Instant): void {
    this.requestBytes += bytes.length;
    this.#plane.timeouts.set(this.#deadline, after(now, this.#plane.config.limits.tunnelTimeout));
    if (this.#upstream?.write(bytes) === false) this.client.pauseReading();
  }

  tunnelFromUpstream(bytes: Uint8Array, now: Instant): void {
    this.answerBytes += bytes.length;
    this.#plane.timeouts.set(this.#deadline, after(now, this.#plane.config.limits.tunnelTimeout));
    if (!this.client.write(bytes)) this.#upstream?.pause();
  }

  /** One side will send no more; the other may go on. */
  tunnelClientEnded(): void {
    this.#upstream?.end();
  }

  tunnelUpstreamEnded(): void {
    this.client.endTunnel();
  }

  // ── 5 the other ways out ──────────────────────────────────────────────────────────────────────────────────────────

  /** The client's side is gone; whatever an endpoint is doing for it is in vain. */
  clientGone(now: Instant): void {
    if (!this.active) return;
    if (this.phase === 'discarding') {
      this.phase = 'idle';
      return;
    }
    const tunnelled = this.phase === 'tunnel';
    this.#dropUpstream('broken-off', now);
    this.#leave(tunnelled ? waysOut.tunnelled : waysOut.clientGone, now);
  }

  /** What the client sends is not HTTP: instead of a head, or within a body, as a chunk size that is none. */
  badRequest(error: WireError, now: Instant): void {
    if (!this.active) {
      this.#clear(now);
      this.#plane.requestBegan(now);
      this.phase = 'connecting';
    }
    this.#requestComplete = false;
    this.#discardable = false;
    if (this.phase === 'answering') return this.#cutOff(waysOut.clientGone, now);
    if (this.phase === 'discarding') {
      this.phase = 'idle';
      return this.client.closeAfterAnswer(now);
    }
    this.#dropUpstream('broken-off', now);
    this.#answerLocally(waysOut.badRequest, now, error.status, error.message);
  }

  /** The head, or the body that was announced, did not come in time. */
  slowRequest(now: Instant): void {
    if (!this.active) {
      this.#clear(now);
      this.#plane.requestBegan(now);
      this.phase = 'connecting';
    }
    this.#requestComplete = false;
    this.#discardable = false;
    this.#dropUpstream('broken-off', now);
    this.#answerLocally(waysOut.slowRequest, now);
  }

  #deadlinePassed(now: Instant): void {
    switch (this.phase) {
      case 'idle':
      case 'discarding':
        return;
      case 'tunnel':
        this.#dropUpstream('broken-off', now);
        this.#leave(waysOut.tunnelled, now);
        return this.client.destroy();
      case 'answering':
        if (this.client.behind) return this.#cutOff(waysOut.slowClient, now);
        this.endpoint?.count('timeout');
        return this.#cutOff(waysOut.cutOffLate, now);
      case 'connecting':
      case 'waiting':
      case 'sending':
        // Whoever still owes us the body is the one who is late.
        if (!this.#requestComplete && !this.client.held) return this.slowRequest(now);
        if (this.#upstream !== undefined) this.endpoint?.count('timeout');
        this.#dropUpstream('failed', now);
        return this.#answerLocally(waysOut.timedOut, now);
    }
  }

  /** The connection to the endpoint failed or closed with this exchange on it. */
  upstreamLost(connection: UpstreamConnection, kind: EndpointErrorKind, now: Instant): void {
    assert(connection === this.#upstream, 'a connection fails the exchange that it carries');
    const { endpoint } = this;
    assert(endpoint !== undefined, 'a connection belongs to an endpoint');
    if (this.phase === 'tunnel') {
      this.#dropUpstream('broken-off', now);
      this.#leave(waysOut.tunnelled, now);
      return this.client.closeAfterAnswer(now);
    }
    if (this.phase === 'answering') {
      endpoint.count('cut-off');
      return this.#cutOff(waysOut.cutOff, now);
    }
    const connecting = this.phase === 'connecting';
    const repeat = mayRepeat({
      reached: connecting ? 'connecting' : connection.answerBegun ? 'answer-begun' : 'sent',
      failure: kind === 'protocol' ? 'protocol' : 'connection',
      reused: connection.reused,
      idempotent: this.#repeatable,
      // While connecting after an idle race, something may have been sent on the connection before.
      replayable: this.#replayable && (!connecting || !this.#reconnected || this.#repeatable),
    });
    if (repeat === 'reconnect' && !this.#reconnected) {
      this.#reconnected = true;
      this.#upstream = undefined;
      this.#flushed = 0;
      return this.#connect(endpoint, now);
    }
    endpoint.count(kind);
    this.#dropUpstream('failed', now);
    const allowed = repeat !== 'no' && this.attempts <= this.#plane.config.retries;
    if (allowed && this.#plane.budget.withdraw(now)) return this.#retry(endpoint, now);
    this.#answerLocally(wayOutOf(connecting, kind), now);
  }

  /** At once to an endpoint that has not been tried; after a pause when all have. */
  #retry(failed: LiveEndpoint, now: Instant): void {
    this.#plane.retries += 1;
    this.#flushed = 0;
    this.#tried.push(failed);
    this.phase = 'waiting';
    if (this.#plane.fleet.hasUntried(this.#tried)) return this.#attemptAgain(now);
    if (!this.#requestComplete) this.client.hold();
    this.#plane.timeouts.set(this.#backOff, after(now, backOff(this.attempts, this.#plane.dice)));
  }

  #attemptAgain(now: Instant): void {
    this.#attempt(now);
    if (this.phase !== 'sending') return;
    this.flushRequest();
    if (!this.#requestComplete) this.client.release(now);
  }

  /** Ends the attempt, if there is one, and closes its connection. */
  #dropUpstream(end: AttemptEnd, now: Instant): void {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (upstream === undefined) return;
    this.#attemptEnded(end, now);
    upstream.discard();
  }

  #attemptEnded(end: AttemptEnd, now: Instant): void {
    assert(this.endpoint !== undefined, 'an attempt has an endpoint');
    this.#outcome.ok = end !== 'failed';
    this.#outcome.latency = ns(now - this.#attemptedAt);
    this.#plane.fleet.finished(this.endpoint, this.#outcome, end !== 'broken-off', now);
    if (end !== 'broken-off') this.#plane.outliers?.observe(this.endpoint, this.#outcome, now);
  }

  /** The client has a part of the answer: it must not take it for the whole, so its connection is broken. */
  #cutOff(way: WayOut, now: Instant): void {
    this.#dropUpstream(way.side === 'client' ? 'broken-off' : 'failed', now);
    this.#leave(way, now);
    this.client.destroy();
  }

  #answerLocally(way: WayOut, now: Instant, status = way.status, words = way.words): void {
    assert(status !== undefined, 'an answer has a status');
    const goesOn = this.#requestComplete || this.#discardable;
    if (!goesOn || this.#plane.draining) this.#clientKeepAlive = false;
    const keepAlive = this.#clientKeepAlive;
    this.status = status;
    this.client.answer(status, way.flag, words, keepAlive, this.method === 'HEAD', now);
    this.#leave(way, now);
    if (!keepAlive) return this.client.closeAfterAnswer(now);
    if (this.#requestComplete) return this.client.exchangeDone(now);
    this.phase = 'discarding';
    this.client.discardRest(now);
  }

  /** The one place where an exchange ends: counted, logged, and everything that it held given back. */
  #leave(way: WayOut, now: Instant): void {
    this.#returnSent();
    this.#plane.timeouts.cancel(this.#deadline);
    this.#plane.timeouts.cancel(this.#backOff);
    this.phase = 'idle';
    this.#plane.requestLeft(this, way, now);
  }

  /** It will not be used again: the wheel must not keep it alive. */
  forget(): void {
    this.#plane.timeouts.forget(this.#deadline);
    this.#plane.timeouts.forget(this.#backOff);
  }

  #returnSent(): void {
    if (this.#sent === undefined) return;
    this.#plane.returnBytes(this.#sent);
    this.#sent = undefined;
    this.#flushed = 0;
  }

  #clear(now: Instant): void {
    this.method = '';
    this.path = '';
    this.authority = undefined;
    this.startedAt = now;
    this.endpoint = undefined;
    this.attempts = 0;
    this.status = 0;
    this.requestBytes = 0;
    this.answerBytes = 0;
    this.firstByteAfter = undefined;
    this.#tried.length = 0;
    this.#hash = undefined;
    this.#flushed = 0;
    this.#replayable = false;
    this.#repeatable = false;
    this.#upgrade = undefined;
    this.#reconnected = false;
    this.#clientMinorVersion = 1;
    this.#clientKeepAlive = true;
    this.answerComplete = false;
    this.#upstreamKeepAlive = false;
  }
}

function wayOutOf(connecting: boolean, kind: EndpointErrorKind): WayOut {
  if (connecting) return waysOut.connectFailed;
  return kind === 'protocol' ? waysOut.badAnswer : waysOut.upstreamClosed;
}

function requestFraming(head: RequestHead): BodyFraming {
  if (head.chunked) return 'chunked';
  return head.contentLength === undefined ? 'none' : 'length';
}

/** The upgrade that is passed on. Not h2c: what would follow is no longer one request at a time. Not that of a request with a
 * body: where it ends and the tunnel begins would be a question. */
function upgradeForwarded(head: RequestHead, complete: boolean): string | undefined {
  if (head.upgrade === undefined || !complete) return undefined;
  return head.upgrade.toLowerCase() === 'h2c' ? undefined : head.upgrade;
}

function answerFraming(head: ResponseHead, method: string, clientMinorVersion: 0 | 1): BodyFraming {
  if (head.status === 204 || head.status === 101) return 'none';
  if (head.contentLength !== undefined) return 'length';
  if (method === 'HEAD' || head.status === 304) return 'none';
  return clientMinorVersion === 1 ? 'chunked' : 'until-close';
}

const lineEnd = Uint8Array.of(0x0d, 0x0a);
