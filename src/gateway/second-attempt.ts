// The second request of a hedge: the same bytes to another endpoint while the first is still out. Whichever begins to answer is
// the one; the other is broken off, and its endpoint is not blamed. When one of the two fails, the other goes on alone.
//
//   first   ├── sent ──────────────────────────── (nothing) ──── broken off
//   second             ├── delay ──┤ sent ─────── answer ──► becomes the exchange's own connection
//
// To its connection it looks like the exchange; it turns everything down but the beginning of an answer.

import type { Instant } from '../base.ts';
import type { ResponseHead } from '../wire.ts';
import type { ClientConnection } from './client-connection.ts';
import type { EndpointErrorKind, LiveEndpoint } from './live-endpoint.ts';
import type { Carried, UpstreamConnection } from './upstream-connection.ts';

/** What the exchange does for its second attempt. */
export interface Hedged {
  readonly client: ClientConnection;
  /** Sends the whole request. */
  sendAgain(connection: UpstreamConnection, now: Instant): void;
  /** The second begins to answer first: from here on it is the exchange's own. */
  secondAnswers(head: ResponseHead, now: Instant): void;
  secondLost(kind: EndpointErrorKind, now: Instant): void;
}

export class SecondAttempt implements Carried {
  phase: 'connecting' | 'sending' = 'connecting';
  readonly answerComplete = false;
  readonly status = 0;
  readonly endpoint: LiveEndpoint;
  readonly startedAt: Instant;
  connection: UpstreamConnection | undefined;
  readonly #exchange: Hedged;

  constructor(exchange: Hedged, endpoint: LiveEndpoint, now: Instant) {
    this.#exchange = exchange;
    this.endpoint = endpoint;
    this.startedAt = now;
  }

  get client(): ClientConnection {
    return this.#exchange.client;
  }

  connected(connection: UpstreamConnection, now: Instant): void {
    this.connection = connection;
    this.phase = 'sending';
    this.#exchange.sendAgain(connection, now);
  }

  answerHead(head: ResponseHead, now: Instant): void {
    this.#exchange.secondAnswers(head, now);
  }

  upstreamLost(_connection: UpstreamConnection, kind: EndpointErrorKind, now: Instant): void {
    this.connection = undefined;
    this.#exchange.secondLost(kind, now);
  }

  // The rest can only come after a beginning, when the exchange has taken over, or says nothing here.
  information(): void {}
  answerBody(): void {}
  answerTrailers(): void {}
  answerEnd(): void {}
  finishAnswer(): void {}
  upstreamDrained(): void {}
  tunnelFromUpstream(): void {}
  tunnelUpstreamEnded(): void {}
}
