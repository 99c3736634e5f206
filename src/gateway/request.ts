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
//   queued       –         –           not (body waits)      no            until admission finds a place
//   connecting   yes       opening     not (body waits)      no
//   waiting      –         –           not (body waits)      no            between two attempts
//   sending      yes       yes         yes                   no
//   answering    yes       yes         yes                   yes
//   tunnel       yes       yes         raw                   yes
//   discarding   –         –           and thrown away       yes           the rest of a body that nobody wants
//
// Whether an attempt may be repeated, and where, is decided by `mayRepeat` (policy). What was sent is kept for that up to
// `replayBytesMax`. Reconnecting after an idle race happens once and costs nothing; other retries are paid from the retry
// budget of the whole gateway. Where hedging is configured, a second attempt may run beside the first (`second-attempt.ts`); it
// takes the first one's place when it answers first. A request that cannot be repeated takes no connection that has been idle for longer than
// `freshIdle`, so that it seldom meets the idle race at all.
//
// Long because it is one machine: what an exchange holds in each phase is given back by every way out, and the two must be seen
// together.
//
// Hot: begin, requestBody, requestEnd, flushRequest, answerHead, answerBody, answerEnd, finishAnswer.

import { after, assert, type Duration, type Instant, ms, ns, seconds } from '../base.ts';
import { backOff, deadlineOf, forwarded, type Hedge, isIdempotent, mayRepeat } from '../policy.ts';
import { type Fields, lastChunk, type RequestHead, type ResponseHead, type WireError } from '../wire.ts';
import type { Admission } from './admission.ts';
import type { ClientConnection } from './client-connection.ts';
import type { DataPlane } from './data-plane.ts';
import type { GrowingBytes } from './growing-bytes.ts';
import { type BodyFraming, writeInformation, writeRequestHead, writeResponseHead, writeTrailers } from './heads.ts';
import type { EndpointErrorKind, LiveEndpoint } from './live-endpoint.ts';
import { answerFraming, requestFraming, upgradeForwarded, takesTrailers } from './message-framing.ts';
import type { Identity } from './identity.ts';
import { keyOf } from './request-key.ts';
import { SecondAttempt } from './second-attempt.ts';
import { pickOf } from './stories.ts';
import type { AttemptStory, StoryWriter } from './story.ts';
import type { LiveFleet } from './live-fleet.ts';
import { timeGiven, TimeLeftLines } from './time-left.ts';
import { Timeout } from './timeouts.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { flagsOf, type WayOut, waysOut } from './ways-out.ts';

/** How an attempt ended, as its endpoint is judged by it: one that was broken off on our side of it says nothing. */
type AttemptEnd = 'answered' | 'failed' | 'broken-off';

export type Phase = 'idle' | 'queued' | 'connecting' | 'waiting' | 'sending' | 'answering' | 'tunnel' | 'discarding';

/** A kept connection this young may carry a request that cannot be repeated. */
const freshIdle = seconds(1);
/** What the answer needs to come back to us and to be passed on, taken off the time that the endpoint is told it has. */
const wayBack = ms(1);
/** A larger piece of a body is written as it is, so that the engine may send it from where it was received; a smaller one is put
 * together with what is around it. */
const copiedPieceMax = 2 * 1024;
/** A body up to this size is read and thrown away so that the connection can go on; with a larger one it is closed. */
const discardedBodyMax = 64 * 1024;

export class Exchange {
  phase: Phase = 'idle';
  /** Whose request it is. Changes only while idle. */
  client: ClientConnection;
  /** Who is to answer it. */
  fleet: LiveFleet;
  readonly #plane: DataPlane;
  readonly #deadline: Timeout;
  readonly #backOff: Timeout;
  readonly #hedgeAt: Timeout;

  method = '';
  /** These only where somebody will write them down. */
  path = '';
  authority: string | undefined;
  userAgent: string | undefined;
  forwardedFor: string | undefined;
  identity: Identity | undefined;
  story: StoryWriter | undefined;
  startedAt: Instant;
  endpoint: LiveEndpoint | undefined;
  attempts = 0;
  /** It would have been tried again, but for the limits of retries. */
  retryRefused = false;
  /** Of the answer that the client got; 0 while there is none. */
  status = 0;
  requestBytes = 0;
  answerBytes = 0;
  /** To the first byte of the answer's head, from the start; undefined until it came. */
  firstByteAfter: Duration | undefined;
  answerComplete = false;

  /** The instant by which the answer must be complete. */
  doneBy: Instant;
  #timeLeft: TimeLeftLines | undefined;
  #upstream: UpstreamConnection | undefined;
  #second: SecondAttempt | undefined;
  /** Who let it in: what was given is given back there, whatever has been configured since. */
  #admission: Admission | undefined;
  /** It holds a place that admission gave it; and one among those that wait for a connection, or retry. */
  #admitted = false;
  #waitsForConnection = false;
  #isRetry = false;
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
  /** The body has been ended by its trailers. */
  #requestTrailed = false;
  #answerTrailed = false;
  /** The client can do something with trailers. */
  #takesTrailers = false;
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
    this.fleet = plane.fleet;
    this.startedAt = plane.engine.now();
    this.#attemptedAt = this.startedAt;
    this.doneBy = this.startedAt;
    this.#deadline = new Timeout((now) => this.#deadlinePassed(now));
    this.#backOff = new Timeout((now) => this.#attemptAgain(now));
    this.#hedgeAt = new Timeout((now) => this.#hedge(now));
  }

  get active(): boolean {
    return this.phase !== 'idle';
  }

  /** The client owes us more of the body, and has got nothing of an answer: with one, both may speak as they like. */
  get awaitsBody(): boolean {
    if (this.#requestComplete) return false;
    const { phase } = this;
    return phase === 'sending' || phase === 'connecting' || phase === 'waiting' || phase === 'queued';
  }

  // ── 1 begin, admit ────────────────────────────────────────────────────────────────────────────────────────────────

  begin(head: RequestHead, now: Instant): void {
    assert(this.phase === 'idle', 'a client is served one request at a time');
    this.#clear(now);
    this.method = head.method;
    const { telling } = this.#plane;
    telling?.begin(this, head, now);
    this.#clientMinorVersion = head.minorVersion;
    this.#clientKeepAlive = head.keepAlive;
    this.#requestFraming = requestFraming(head);
    this.#requestComplete = !head.chunked && (head.contentLength ?? 0) === 0;
    this.#discardable = !head.expectsContinue && (head.contentLength ?? Infinity) <= discardedBodyMax;
    this.#repeatable = isIdempotent(head.method);
    this.#upgrade = upgradeForwarded(head, this.#requestComplete);
    this.#takesTrailers = takesTrailers(head);
    this.#plane.requestBegan(now);
    this.phase = 'connecting';

    const { config } = this.#plane;
    this.doneBy = deadlineOf(now, config.timeout, config.deadline === 'ignore' ? undefined : timeGiven(head));
    const fleet = this.#plane.fleetFor(head);
    this.fleet = fleet ?? this.#plane.fleet;
    const refusal = this.#refusal(head, now) ?? (fleet === undefined ? waysOut.noRoute : undefined);
    if (refusal !== undefined) return this.#answerLocally(refusal, now);

    this.#admission = this.#plane.admissions?.of(this.fleet);
    const { hashOn } = config.choice;
    if (hashOn.length > 0) this.#hash = keyOf(head, this.client.address, hashOn);
    if (this.story !== undefined) this.story.hash = this.#hash;
    const sent = this.#plane.borrowBytes();
    this.#sent = sent;
    this.#replayable = true;
    const fallbackHost = this.#plane.fallbackHost;
    if (config.deadline === 'forward') this.#timeLeft ??= new TimeLeftLines();
    writeRequestHead(
      sent,
      head,
      this.#requestFraming,
      this.#upgrade,
      this.client,
      fallbackHost,
      this.#timeLeft,
      this.#takesTrailers,
      telling?.identities,
      this.identity,
    );
    this.#plane.budget?.deposit(now);
    this.#plane.timeouts.set(this.#deadline, this.doneBy);
    if (this.#plane.hedge !== undefined) this.#plan(this.#plane.hedge, now);
    if (this.#admission === undefined || this.#enter(this.#admission, now)) this.#attempt(now);
  }

  /** False: it waits in the queue, or has been refused. */
  #enter(admission: Admission, now: Instant): boolean {
    if (admission.cannotFinish(this.doneBy, now)) {
      this.#answerLocally(waysOut.timedOut, now);
      return false;
    }
    const entry = admission.enter(this, now);
    this.#admitted = entry === 'in';
    if (entry === 'waits') {
      this.phase = 'queued';
      this.story?.queuedAt(now);
      if (!this.#requestComplete) this.client.hold();
    } else if (entry === 'refused') this.#answerLocally(waysOut.overflow, now);
    return this.#admitted;
  }

  /** From the queue: its turn has come. */
  admitted(now: Instant): void {
    assert(this.phase === 'queued', 'who is let in has waited');
    this.story?.queueLeftAt(now);
    this.#admitted = true;
    // What it has waited is no longer left.
    if (this.#admission?.cannotFinish(this.doneBy, now) === true) return this.#answerLocally(waysOut.timedOut, now);
    this.#attemptAgain(now);
  }

  /** From the queue: it has waited for so long that waiting on would do no good. */
  turnedAway(now: Instant): void {
    assert(this.phase === 'queued', 'who is turned away has waited');
    this.story?.queueLeftAt(now);
    this.#answerLocally(waysOut.waitedTooLong, now);
  }

  #refusal(head: RequestHead, now: Instant): WayOut | undefined {
    // A tunnel to anywhere is a forward proxy's business, and TRACE shows a client's cookies to a script.
    if (head.method === 'CONNECT' || head.method === 'TRACE') return waysOut.notSupported;
    if (this.#plane.inFlight > this.#plane.config.limits.requestsMax) return waysOut.overflow;
    // Whoever asked has given up by now: work for it would be in vain.
    return this.doneBy <= now ? waysOut.timedOut : undefined;
  }

  // ── 2 pick, connect ───────────────────────────────────────────────────────────────────────────────────────────────

  #attempt(now: Instant): void {
    const { fleet } = this;
    const endpoint = fleet.pick(this.#tried, this.#hash, now);
    // Before it is counted: the record shows what the balancer saw.
    this.story?.picked(pickOf(fleet, endpoint, this.#tried, false, now), now);
    if (endpoint === undefined) return this.#answerLocally(waysOut.noHealthyEndpoint, now);
    this.attempts += 1;
    this.endpoint = endpoint;
    this.#attemptedAt = now;
    fleet.started(endpoint, now);
    const idleMax = this.#repeatable ? this.#plane.config.limits.upstreamIdleTimeout : freshIdle;
    const kept = endpoint.pool.take(idleMax, now);
    this.#tell(endpoint, this.attempts === 1 ? 'first' : 'retry', kept !== undefined, now);
    if (kept === undefined) this.#connect(endpoint, now);
    else this.#carriedBy(kept, now);
  }

  #tell(endpoint: LiveEndpoint, kind: AttemptStory['kind'], kept: boolean, now: Instant): void {
    this.story?.attempted(endpoint.endpoint.id, kind, kept ? 'kept' : 'new', now);
  }

  #connect(endpoint: LiveEndpoint, now: Instant): void {
    if (!this.#mayConnect(endpoint) || !this.#mayWait()) {
      this.#attemptEnded('broken-off', now);
      return this.#answerLocally(waysOut.overflow, now);
    }
    this.phase = 'connecting';
    if (!this.#requestComplete) this.client.hold();
    this.#upstream = this.#plane.connect(endpoint, this, now);
  }

  #mayConnect(endpoint: LiveEndpoint): boolean {
    if (endpoint.connections >= this.#plane.config.limits.connectionsPerEndpointMax) return false;
    return this.#admission?.mayConnect(this.fleet) ?? true;
  }

  #mayWait(): boolean {
    const admission = this.#admission;
    if (admission === undefined) return true;
    this.#waitsForConnection ||= admission.begin('waiting');
    return this.#waitsForConnection;
  }

  #waitsNoMore(): void {
    if (!this.#waitsForConnection) return;
    this.#waitsForConnection = false;
    this.#admission?.finish('waiting');
  }

  /** The connection that was asked for is there. */
  connected(connection: UpstreamConnection, now: Instant): void {
    assert(this.phase === 'connecting', 'a connection opens for an exchange that waits for it');
    this.#waitsNoMore();
    this.#carriedBy(connection, now);
    this.flushRequest();
    if (!this.#requestComplete) this.client.release(now);
  }

  #carriedBy(connection: UpstreamConnection, now: Instant): void {
    if (this.#sent !== undefined) this.#timeLeft?.stamp(this.#sent.array, forwarded(this.doneBy, now, wayBack));
    this.#upstream = connection;
    connection.carry(this, this.method, this.#upgrade !== undefined);
    this.phase = 'sending';
  }

  // ── hedging ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Only what may be carried out twice, and is complete, is sent to two endpoints. */
  #plan(hedge: Hedge, now: Instant): void {
    const delay = hedge.started(now);
    if (delay === undefined || !this.#repeatable || !this.#requestComplete || this.#upgrade !== undefined) return;
    const delayMin = this.#plane.config.admit.hedge?.delayMin ?? delay;
    this.#plane.timeouts.set(this.#hedgeAt, after(now, delay > delayMin ? delay : delayMin));
  }

  #hedge(now: Instant): void {
    const { endpoint: first, phase } = this;
    const { fleet } = this;
    const { hedge } = this.#plane;
    if ((phase !== 'connecting' && phase !== 'sending') || first === undefined || !this.#replayable) return;
    const asked = [...this.#tried, first];
    const endpoint = fleet.pick(asked, this.#hash, now);
    this.story?.picked(pickOf(fleet, endpoint, asked, false, now), now);
    if (endpoint === undefined || endpoint === first || this.#tried.includes(endpoint)) return;
    if (hedge?.mayHedge(now) !== true || !this.#mayConnect(endpoint)) return;
    this.#plane.hedges += 1;
    this.attempts += 1;
    fleet.started(endpoint, now);
    const second = new SecondAttempt(this, endpoint, now);
    this.#second = second;
    const idleMax = this.#plane.config.limits.upstreamIdleTimeout;
    const kept = endpoint.pool.take(idleMax, now);
    this.#tell(endpoint, 'hedge', kept !== undefined, now);
    second.connection = kept ?? this.#plane.connect(endpoint, second, now);
    if (kept !== undefined) second.connected(kept, now);
  }

  sendAgain(connection: UpstreamConnection, now: Instant): void {
    const sent = this.#sent;
    assert(sent !== undefined && this.#second !== undefined, 'a second attempt sends what the first has sent');
    this.#timeLeft?.stamp(sent.array, forwarded(this.doneBy, now, wayBack));
    connection.carry(this.#second, this.method, false);
    connection.write(sent.view());
  }

  secondAnswers(head: ResponseHead, now: Instant): void {
    const second = this.#second;
    this.#second = undefined;
    assert(second !== undefined, 'who answers second was asked second');
    this.#plane.hedgesWon += 1;
    this.#dropUpstream('broken-off', now);
    this.#adopt(second);
    this.answerHead(head, now);
  }

  secondLost(kind: EndpointErrorKind, now: Instant): void {
    if (this.#second !== undefined) this.#count(this.#second.endpoint, kind);
    this.#dropSecond('failed', now);
  }

  /** The second attempt becomes the only one. */
  #adopt(second: SecondAttempt): void {
    this.#second = undefined;
    this.#waitsNoMore();
    this.endpoint = second.endpoint;
    this.#attemptedAt = second.startedAt;
    this.#upstream = second.connection;
    this.phase = second.phase;
    this.#flushed = this.#sent?.length ?? 0;
    if (second.phase === 'connecting') this.#flushed = 0;
    second.connection?.handTo(this);
  }

  #dropSecond(end: AttemptEnd, now: Instant): void {
    const second = this.#second;
    if (second === undefined) return;
    this.#second = undefined;
    this.#judge(second.endpoint, second.startedAt, end, now);
    second.connection?.discard();
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

  requestTrailers(trailers: Fields): void {
    if (this.#sent === undefined) return;
    writeTrailers(this.#sent, trailers);
    this.#requestTrailed = true;
  }

  requestEnd(now: Instant): void {
    if (this.phase === 'discarding') {
      this.phase = 'idle';
      return this.client.exchangeDone(now);
    }
    if (!this.#requestComplete && !this.#requestTrailed && this.#requestFraming === 'chunked')
      this.#sent?.bytes(lastChunk);
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
    if (this.#second !== undefined) this.#dropSecond('broken-off', now);
    this.#plane.hedge?.finished(this.firstByteAfter);
    this.#upstreamKeepAlive = head.keepAlive;
    this.#replayable = false;
    if (this.#requestComplete) this.#returnSent();
    this.#answerFraming = answerFraming(head, this.method, this.#clientMinorVersion);
    // An answer before the end of the request: the rest of the body may never come, so this connection ends here.
    if (!this.#requestComplete || this.#answerFraming === 'until-close' || this.#plane.draining) {
      this.#clientKeepAlive = false;
    }
    const connection = this.#clientKeepAlive ? (this.#clientMinorVersion === 0 ? 'keep-alive' : undefined) : 'close';
    writeResponseHead(
      this.client.out(),
      head,
      this.#answerFraming,
      connection,
      this.#plane.date(now),
      this.#takesTrailers,
      this.identity?.requestId,
    );
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

  answerTrailers(trailers: Fields): void {
    if (!this.#takesTrailers || this.#answerFraming !== 'chunked') return;
    writeTrailers(this.client.out(), trailers);
    this.#answerTrailed = true;
  }

  answerEnd(): void {
    if (this.#answerFraming === 'chunked' && !this.#answerTrailed) this.client.out().bytes(lastChunk);
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

  /** The client has taken nothing of its answer for too long. */
  clientStalled(now: Instant): void {
    if (this.active) this.#cutOff(waysOut.slowClient, now);
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
        if (this.endpoint !== undefined) this.#count(this.endpoint, 'timeout');
        return this.#cutOff(waysOut.cutOffLate, now);
      case 'queued':
        return this.#answerLocally(waysOut.waitedTooLong, now);
      case 'connecting':
      case 'waiting':
      case 'sending':
        // Whoever still owes us the body is the one who is late.
        if (!this.#requestComplete && !this.client.held) return this.slowRequest(now);
        if (this.#upstream !== undefined && this.endpoint !== undefined) this.#count(this.endpoint, 'timeout');
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
      this.#count(endpoint, 'cut-off');
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
    const second = this.#second;
    if (second !== undefined) {
      this.#count(endpoint, kind);
      this.#tried.push(endpoint);
      this.#dropUpstream('failed', now, false);
      return this.#adopt(second);
    }
    if (repeat === 'reconnect' && !this.#reconnected) {
      this.#reconnected = true;
      this.story?.attemptEnded(endpoint.endpoint.id, 'closed while idle', now);
      this.#tell(endpoint, 'reconnect', false, now);
      this.#upstream = undefined;
      this.#flushed = 0;
      return this.#connect(endpoint, now);
    }
    this.#count(endpoint, kind);
    this.#dropUpstream('failed', now);
    if (repeat !== 'no' && this.#mayRetry(now)) return this.#retry(endpoint, now);
    this.#answerLocally(wayOutOf(connecting, kind), now);
  }

  /** Within the limit of one request, the ceiling, and the budget of all. */
  #mayRetry(now: Instant): boolean {
    const admission = this.#admission;
    const { budget, config, retriesRefused } = this.#plane;
    if (this.attempts > config.retries) {
      this.retryRefused = config.retries > 0;
      if (this.retryRefused) retriesRefused.limit += 1;
      return false;
    }
    if (admission !== undefined && !this.#isRetry) this.#isRetry = admission.begin('retries');
    this.retryRefused = (admission !== undefined && !this.#isRetry) || budget?.withdraw(now) === false;
    if (this.retryRefused) retriesRefused.budget += 1;
    return !this.retryRefused;
  }

  /** At once to an endpoint that has not been tried; after a pause when all have. */
  #retry(failed: LiveEndpoint, now: Instant): void {
    this.#plane.retries += 1;
    this.#flushed = 0;
    this.#tried.push(failed);
    this.phase = 'waiting';
    if (this.fleet.hasUntried(this.#tried)) return this.#attemptAgain(now);
    if (!this.#requestComplete) this.client.hold();
    this.#plane.timeouts.set(this.#backOff, after(now, backOff(this.attempts, this.#plane.dice)));
  }

  #attemptAgain(now: Instant): void {
    this.#attempt(now);
    if (this.phase !== 'sending') return;
    this.flushRequest();
    if (!this.#requestComplete) this.client.release(now);
  }

  /** Ends the attempts that are out and closes their connections; the second only when it is to go as well. */
  #dropUpstream(end: AttemptEnd, now: Instant, withSecond = true): void {
    if (withSecond && this.#second !== undefined) this.#dropSecond(end, now);
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (upstream === undefined) return;
    this.#attemptEnded(end, now);
    upstream.discard();
  }

  #attemptEnded(end: AttemptEnd, now: Instant): void {
    assert(this.endpoint !== undefined, 'an attempt has an endpoint');
    this.#waitsNoMore();
    this.#judge(this.endpoint, this.#attemptedAt, end, now);
  }

  #count(endpoint: LiveEndpoint, kind: EndpointErrorKind): void {
    endpoint.count(kind);
    this.story?.failed(endpoint.endpoint.id, kind);
  }

  #judge(endpoint: LiveEndpoint, attemptedAt: Instant, end: AttemptEnd, now: Instant): void {
    this.#outcome.ok = end !== 'failed';
    this.#outcome.latency = ns(now - attemptedAt);
    this.story?.attemptEnded(endpoint.endpoint.id, end === 'failed' ? `answered ${this.status}` : end, now);
    this.fleet.finished(endpoint, this.#outcome, end !== 'broken-off', now);
    if (end !== 'broken-off') this.fleet.outliers?.observe(endpoint, this.#outcome, now);
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
    this.client.answer(status, flagsOf(way, this.retryRefused), words, keepAlive, this.method === 'HEAD', now);
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
    this.#plane.timeouts.cancel(this.#hedgeAt);
    const { phase } = this;
    this.phase = 'idle';
    this.#plane.requestLeft(this, way, now);
    if (this.#admission !== undefined) this.#giveBack(this.#admission, phase, way, now);
  }

  /** Gives back what admission gave. Somebody from the queue may take its place at once. */
  #giveBack(admission: Admission, phase: Phase, way: WayOut, now: Instant): void {
    if (this.#isRetry) admission.finish('retries');
    this.#isRetry = false;
    if (this.#admitted) {
      this.#admitted = false;
      admission.leave(way === waysOut.answered && this.status < 500 ? this.answerLatency : undefined, now);
    } else if (phase === 'queued') admission.cancel(this);
  }

  /** From the last attempt to the beginning of its answer: what neither our queue nor a slow client has a part in. */
  get answerLatency(): Duration | undefined {
    if (this.firstByteAfter === undefined) return undefined;
    return ns(this.startedAt + this.firstByteAfter - this.#attemptedAt);
  }

  /** It will not be used again: the wheel must not keep it alive. */
  forget(): void {
    this.#plane.timeouts.forget(this.#deadline);
    this.#plane.timeouts.forget(this.#backOff);
    this.#plane.timeouts.forget(this.#hedgeAt);
  }

  #returnSent(): void {
    if (this.#sent === undefined) return;
    this.#plane.returnBytes(this.#sent);
    this.#sent = undefined;
    this.#flushed = 0;
  }

  #clear(now: Instant): void {
    this.#admission = undefined;
    this.method = '';
    this.path = '';
    this.authority = undefined;
    this.userAgent = undefined;
    this.forwardedFor = undefined;
    this.identity = undefined;
    this.story = undefined;
    this.startedAt = now;
    this.endpoint = undefined;
    this.attempts = 0;
    this.retryRefused = false;
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
    this.#requestTrailed = false;
    this.#answerTrailed = false;
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

const lineEnd = Uint8Array.of(0x0d, 0x0a);
