// What the gateway tells of each request when it has left: a line in the access log, a story, a span. What nobody has asked for
// is not there, and with nothing of it configured there is no telling at all.
//
// Hot where configured: begin, left.

import type { Instant } from '../base.ts';
import type { RetryBudget } from '../policy.ts';
import type { RequestHead } from '../wire.ts';
import type { AccessLog } from './access-log.ts';
import { Identities, Identity } from './identity.ts';
import type { LiveFleet } from './live-fleet.ts';
import type { ObserveConfig } from './observe-config.ts';
import type { OtlpExporter, Span } from './otlp.ts';
import type { Exchange } from './request.ts';
import { pickOf, Stories } from './stories.ts';
import { clipped, millis, StoryWriter } from './story.ts';
import { flagsOf, type WayOut } from './ways-out.ts';

/** Undefined when nothing is to be told. */
export function tellingOf(
  config: ObserveConfig,
  log: AccessLog | undefined,
  seed: number,
  now: Instant,
): Telling | undefined {
  const { identity, explain, otlp } = config;
  if (identity === undefined && explain === undefined && otlp === undefined && log === undefined) return undefined;
  return new Telling(config, log, seed, now);
}

export class Telling {
  readonly identities: Identities | undefined;
  readonly stories: Stories | undefined;
  readonly log: AccessLog | undefined;
  /** Set once somebody can be told what is counted. */
  exporter: OtlpExporter | undefined;
  readonly #traces: boolean;
  /** Wall clock at instant 0 of the engine, in ms. */
  readonly #wallStart: number;

  constructor(config: ObserveConfig, log: AccessLog | undefined, seed: number, now: Instant) {
    this.identities = config.identity === undefined ? undefined : new Identities(config.identity, seed);
    this.stories = config.explain === undefined ? undefined : new Stories(config.explain, seed);
    this.log = log;
    this.#traces = config.identity?.trace !== undefined;
    this.#wallStart = Date.now() - now / 1e6;
  }

  /** A request has begun: notes what its head will no longer say when it is told of. */
  begin(exchange: Exchange, head: RequestHead, now: Instant): void {
    exchange.path = head.path;
    exchange.authority = head.authority;
    if (this.identities !== undefined) {
      const identity = new Identity();
      this.identities.give(identity, head);
      exchange.identity = identity;
    }
    exchange.story = this.stories?.begin(head, now);
    if (this.log?.format !== 'envoy') return;
    exchange.userAgent = head.header('user-agent');
    exchange.forwardedFor = head.header('x-forwarded-for');
  }

  /** A request has left. */
  left(exchange: Exchange, way: WayOut, fleet: LiveFleet, budget: RetryBudget | undefined, now: Instant): void {
    this.log?.write(exchange, way, now);
    const { identity } = exchange;
    if (identity === undefined) return;
    if (this.stories !== undefined) this.#keepStory(this.stories, exchange, identity, way, fleet, budget, now);
    if (this.#traces && identity.sampled) this.exporter?.add(this.#spanOf(exchange, identity, way, now));
  }

  #keepStory(
    stories: Stories,
    exchange: Exchange,
    identity: Identity,
    way: WayOut,
    fleet: LiveFleet,
    budget: RetryBudget | undefined,
    now: Instant,
  ): void {
    let { story } = exchange;
    exchange.story = undefined;
    if (story === undefined) {
      if (!stories.config.failures || way.side === 'nobody' || way.side === 'client') return;
      story = new StoryWriter('failed', exchange.startedAt);
      story.picked(pickOf(fleet, exchange.endpoint, [], true, now), now);
    }
    stories.keep({
      id: identity.requestId,
      time: this.#wallTime(exchange.startedAt),
      method: exchange.method,
      path: clipped(exchange.path),
      authority: exchange.authority ?? null,
      client: exchange.client.address,
      because: story.because,
      hash: story.hash ?? null,
      given_ms: millis(exchange.doneBy - exchange.startedAt),
      picks: story.picks,
      attempts: story.attempts,
      queued_ms: story.queuedMs,
      way: way.name,
      flags: flagsOf(way, exchange.retryRefused),
      status: exchange.status,
      duration_ms: millis(now - exchange.startedAt),
      left_ms: millis(Math.max(0, exchange.doneBy - now)),
      retries_left: budget?.left(now) ?? null,
    });
  }

  #spanOf(exchange: Exchange, identity: Identity, way: WayOut, now: Instant): Span {
    const endpoint = exchange.endpoint?.endpoint;
    return {
      traceId: identity.traceId,
      spanId: identity.spanId,
      parentSpanId: identity.parentSpanId,
      traceState: identity.traceState,
      name: exchange.method,
      from: this.#wallNs(exchange.startedAt),
      to: this.#wallNs(now),
      failed: exchange.status === 0 || exchange.status >= 500,
      attributes: {
        'http.request.method': exchange.method,
        'url.path': clipped(exchange.path.replace(/\?[^]*$/, '')),
        'server.address': exchange.authority ?? '',
        'client.address': exchange.client.address,
        'http.response.status_code': exchange.status,
        'http.request.resend_count': Math.max(0, exchange.attempts - 1),
        'plimsoll.request_id': identity.requestId,
        'plimsoll.way': way.name,
        'plimsoll.flags': flagsOf(way, exchange.retryRefused),
        ...(endpoint === undefined
          ? {}
          : { 'plimsoll.endpoint': endpoint.id, 'server.socket.address': `${endpoint.host}:${endpoint.port}` }),
      },
    };
  }

  #wallTime(at: Instant): string {
    return new Date(this.#wallStart + at / 1e6).toISOString();
  }

  #wallNs(at: Instant): bigint {
    return BigInt(Math.round(this.#wallStart * 1e3 + at / 1e3)) * 1000n;
  }
}
