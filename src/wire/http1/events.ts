// HTTP/1.1 as events: bytes go in, what they mean comes out; nobody here knows a socket. The same two readers serve the
// load room (responses), the gateway (both) and the fuzzers.
//
// A reader is fed chunks as they arrive and calls its events before `read` returns. A `Head` and the byte ranges that an
// event lends are valid only during that call. Once a reader has reported an error it stays in error.

/** Whose mistake, what to answer (for a request) and why, in words. */
export interface WireError {
  /** Short and stable, for counting: `bad-request-line`, `head-too-large`, `smuggling`, `truncated`, … */
  readonly kind: string;
  /** The status a server should answer a bad request with: 400, 413, 414, 431, 501, 505. */
  readonly status: number;
  readonly message: string;
}

export interface Limits {
  readonly maxHeadBytes: number;
  readonly maxHeaders: number;
  readonly maxUriBytes: number;
  readonly maxChunkExtensionBytes: number;
  readonly maxTrailerBytes: number;
}

/** The fields that request and response heads share. Field lookup is case-insensitive; several fields of one name are
 * joined by ", " (except set-cookie, see `each`). */
export interface Head {
  readonly minorVersion: 0 | 1;
  /** May the connection be used again after this message, as far as this side says? */
  readonly keepAlive: boolean;
  /** undefined: none, or chunked, or until close. */
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  header(lowerCaseName: string): string | undefined;
  /** Every field in order, as it was received. */
  each(visit: (name: string, value: string) => void): void;
}

export interface RequestHead extends Head {
  readonly method: string;
  readonly target: string;
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
  /** The message is complete. */
  onEnd(): void;
}

export interface ResponseEvents {
  /** 1xx other than 101: not the answer yet. */
  onInformation?(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  onBody(bytes: Uint8Array, from: number, to: number): void;
  onEnd(): void;
}

/** Reads what a client sends. Pipelined requests come one after another; after each `onEnd` the next head may follow in
 * the same chunk unless `pause()` was called inside the event. */
export interface RequestReader {
  /** Reads a chunk. Returns the number of bytes consumed: all of them, unless paused, upgraded or in error. */
  read(bytes: Uint8Array): number;
  /** Stop after the current event; `read` returns early and the caller keeps the rest. */
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
 * what a response means. */
export interface ResponseReader {
  expect(method: string): void;
  read(bytes: Uint8Array): number;
  /** The peer closed: ends a close-delimited body, an error (`truncated`) in any other message. */
  eof(): WireError | undefined;
  readonly error: WireError | undefined;
  readonly idle: boolean;
  reset(): void;
}
