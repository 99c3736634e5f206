// HTTP/1.1 as events: bytes go in, what they mean comes out; nobody here knows a socket. The same two readers serve the
// load room (responses), the gateway (both) and the fuzzers.
//
// A reader is fed chunks as they arrive and calls its events before `read` returns. A `Head` and the byte ranges that an
// event lends are valid only during that call. Once a reader has reported an error it stays in error.
//
// How a message goes on after its head is decided in one place (`framing.ts`); a message that two readers could take in two
// ways is an error, never a guess. Where the RFC lets a recipient choose between repairing and rejecting, we reject.

import type { FieldNames } from './field-names.ts';

/** Whose mistake, what to answer (for a request) and why, in words. */
export interface WireError {
  /** Short and stable, for counting. */
  readonly kind: WireErrorKind;
  /** The status a server should answer a bad request with (400, 413, 414, 431, 501, 505), a gateway for a bad response 502. */
  readonly status: number;
  readonly message: string;
}

export type WireErrorKind =
  /** The first line is not one. */
  | 'bad-start-line'
  /** Not HTTP/1.x. */
  | 'bad-version'
  /** The request target is of no form that its method allows. */
  | 'bad-target'
  /** No Host, more than one, or not a host. */
  | 'bad-host'
  /** A line of the head or the trailers that is not `name: value`. */
  | 'bad-field'
  /** A length that is none, or several that disagree. */
  | 'bad-length'
  | 'bad-chunk'
  /** Two ways to say where the message ends, or a way that its version does not know. */
  | 'smuggling'
  /** A transfer coding that we do not know. */
  | 'unsupported-coding'
  | 'uri-too-long'
  | 'head-too-large'
  | 'trailer-too-large'
  /** A response that nobody asked for, or a switch of protocols that nobody asked for. */
  | 'unsolicited'
  /** The peer closed in the middle of a message. */
  | 'truncated';

/** Everything that is kept or counted has a bound. What others allow: Node 16 KiB of head; nginx 4 × 8 KiB with one line ≤
 * 8 KiB; HAProxy 16 KiB and 101 fields; Envoy 60 KiB and 100 fields; RFC 9112 section 3 asks for 8,000 octets of request
 * line at least. */
export interface Limits {
  readonly maxHeadBytes: number;
  readonly maxHeaders: number;
  readonly maxUriBytes: number;
  /** In all chunks of a message together: a peer that sends one byte of data in each chunk beside a page of extensions is
   * found out too. */
  readonly maxChunkExtensionBytes: number;
  readonly maxTrailerBytes: number;
  /** Interim responses (1xx) before one answer. */
  readonly maxInformation: number;
}

export const defaultLimits: Limits = {
  maxHeadBytes: 32 * 1024,
  maxHeaders: 100,
  maxUriBytes: 8 * 1024,
  maxChunkExtensionBytes: 4 * 1024,
  maxTrailerBytes: 8 * 1024,
  maxInformation: 32,
};

/** Who puts something here knows it again by its class. */
export interface HeadNotes {
  made: unknown;
}

export interface Fields {
  /** Look-up without regard to case; several fields of one name are joined by ", " (not right for set-cookie, see `each`). */
  header(lowerCaseName: string): string | undefined;
  /** Is there such a field? Makes no text. */
  has(lowerCaseName: string): boolean;
  /** Every field in order, as it was received. */
  each(visit: (name: string, value: string) => void): void;
  /** Hot, for gateways: writes every field as `Name: value` CRLF into a buffer from `at` on, leaving out `except` and what
   * `Connection` names. Returns the new length, −1 when it does not fit. */
  copyFields(into: Uint8Array, at: number, except: FieldNames): number;
}

/** What request and response heads share. */
export interface Head extends Fields {
  readonly minorVersion: 0 | 1;
  /** May the connection be used again after this message, as far as this side says? */
  readonly keepAlive: boolean;
  /** undefined: none, or chunked, or until close. */
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  /** A place for what was made of this head, to be found there when the same bytes come again. Undefined for a head that has
   * not come before. Readers that read alike share it: what is put there must follow from the bytes of the head alone. */
  readonly notes: HeadNotes | undefined;
  /** The value of the n-th field name that the reader was told to watch. The same text is the same string each time, so
   * that a steady stream of few values allocates nothing. */
  watched(index: number): string | undefined;
}

export interface RequestHead extends Head {
  readonly method: string;
  readonly target: string;
  /** Host and port that the request is for: those of an absolute target or of CONNECT, else the Host field (RFC 9112
   * section 3.2.2). undefined only for HTTP/1.0. */
  readonly authority: string | undefined;
  /** The target in origin form: what an upstream is to be asked for. For CONNECT the target itself. */
  readonly path: string;
  /** Hot, for gateways: writes `path` into a buffer from `at` on. Returns the new length, −1 when it does not fit. */
  copyPath(into: Uint8Array, at: number): number;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
  /** The Upgrade field when `Connection: Upgrade` names it; undefined otherwise. */
  readonly upgrade: string | undefined;
}

export interface ResponseHead extends Head {
  readonly status: number;
  readonly reason: string;
}

export interface RequestEvents {
  onHead(head: RequestHead): void;
  /** A piece of the body: `bytes` from `from` up to (not including) `to`. */
  onBody(bytes: Uint8Array, from: number, to: number): void;
  /** After a chunked body that has trailers, before `onEnd`. Those that a trailer must not carry (framing, routing,
   * credentials, `content-*`) have been left out. */
  onTrailers?(trailers: Fields): void;
  /** The message is complete. */
  onEnd(): void;
}

export interface ResponseEvents {
  /** 1xx other than 101: not the answer yet. */
  onInformation?(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  onBody(bytes: Uint8Array, from: number, to: number): void;
  onTrailers?(trailers: Fields): void;
  onEnd(): void;
}

/** Reads what a client sends. Pipelined requests come one after another; after each `onEnd` the next head may follow in
 * the same chunk unless `pause()` was called inside the event.
 *
 * After CONNECT the reader pauses by itself: what follows is a tunnel's if the answer is 2xx, HTTP's after `resume()` if not.
 * Whoever answers an upgrade with 101 calls `pause()` in `onEnd` of that request and takes the rest of the bytes. */
export interface RequestReader {
  /** Reads a chunk. Returns the number of bytes consumed: all of them, unless paused or in error. */
  read(bytes: Uint8Array): number;
  /** Stop after the current event (the end of a message without a body follows its head at once); `read` returns early and
   * the caller keeps the rest, to be read again after `resume()`. */
  pause(): void;
  resume(): void;
  /** The peer closed. An error unless between two messages. */
  eof(): WireError | undefined;
  readonly error: WireError | undefined;
  /** Between two messages: nothing of the next one has been read. */
  readonly idle: boolean;
  /** Ready for a new connection: reuse the object. */
  reset(): void;
}

/** Reads what a server sends. `expect` is called once for each request sent, in order, because HEAD and CONNECT change
 * what a response means. After 101 or a 2xx to CONNECT the rest of the bytes is not HTTP: `read` leaves it. */
export interface ResponseReader {
  /** `upgrade`: the request asked for another protocol, so that 101 is a possible answer. */
  expect(method: string, upgrade?: boolean): void;
  read(bytes: Uint8Array): number;
  /** The peer closed: ends a close-delimited body, an error (`truncated`) in any other message. */
  eof(): WireError | undefined;
  readonly error: WireError | undefined;
  /** Nothing of the next answer has been read; an interim response counts as something. */
  readonly idle: boolean;
  /** Ready for a new connection: reuse the object. */
  reset(): void;
}
