// What carries one request at a time to one target: a connection of HTTP/1.1, or a place among the streams of a connection of
// HTTP/2. Whoever makes requests come due sees only this.
//
//   connecting ──► open ─────────────► closed        `connecting`: a request that it has taken cannot be sent yet
//        └─────────────────────────────┘

import type { Instant } from '../base.ts';
import type { ReadyRequest } from './request-bytes.ts';

export interface Carrier {
  /** Index of its target in the group's list. */
  readonly target: number;
  /** Whose it is, where carriers belong to users. */
  readonly user: number;
  readonly state: 'connecting' | 'open' | 'closed';
  readonly busy: boolean;
  /** Slot of the request that it carries. */
  readonly request: number;
  /** Of the last answer, as what follows. */
  readonly status: number;
  /** Bytes that have come in since the request was sent. */
  readonly received: number;
  /** Index of the replica that answered; undefined when the answer did not say. */
  readonly replica: number | undefined;
  /** Binds a request to it, which may still be connecting. */
  take(slot: number, request: ReadyRequest, reading: Reading | undefined): void;
  /** The request that it took has ended. */
  letGo(): void;
  /** Sends the request that it took. */
  ask(): void;
  /** Closes it without telling the owner. */
  drop(): void;
}

/** Whom a carrier tells. Called once a turn at most for each, never from inside `take`, `letGo`, `ask` or `drop`. */
export interface CarrierOwner {
  opened(carrier: Carrier, now: Instant): void;
  /** The request was answered in full: `status` and `replica` are those of the answer. The carrier may be used again if it is
   * still `open`. */
  answered(carrier: Carrier, now: Instant): void;
  /** The end, with or without a request on it. `kind` says what became of the request, in the words of the error counts. */
  lost(carrier: Carrier, kind: string, now: Instant): void;
}

/** The fields of an answer's head, in whatever version of HTTP it came. */
export interface AnswerFields {
  header(lowerCaseName: string): string | undefined;
  each(visit: (name: string, value: string) => void): void;
}

/** Who reads an answer for more than its status. Called while the answer comes in. */
export interface Reading {
  onHead(head: AnswerFields): void;
  onBody(bytes: Uint8Array, from: number, to: number): void;
  onEnd(): void;
}

/** In place of the slot of a request. */
export const noRequest = -1;
