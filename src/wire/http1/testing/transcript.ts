// What a reader made of a stream of bytes, as one line of text: for tests and for the fuzzer, where two readings are compared.
//
//   POST /a 1.1 len=5 | "hello" | end | GET /b 1.1 close | end | !bad-host 400
//
// Neighbouring pieces of body are one; that is what makes the transcript the same wherever the stream was cut.

import { latin1 } from '../bytes.ts';
import type { Fields, Head, Limits, RequestReader, ResponseReader, WireError } from '../events.ts';
import { requestReader } from '../request-reader.ts';
import { responseReader } from '../response-reader.ts';

export interface Reading {
  readonly transcript: string;
  /** Bytes that the reader left, because they are not HTTP any more (or came after an error). */
  readonly left: number;
}

/** One request that a response transcript answers: `GET`, `HEAD`, `CONNECT`, or `GET upgrade`. */
export type Expected = string;

export function readRequests(pieces: Iterable<Uint8Array>, limits: Partial<Limits> = {}): Reading {
  const script = new Script();
  const reader = requestReader(
    {
      onHead: (head) => script.say(`${head.method} ${head.target} ${describe(head)}${extras(head)}`),
      onBody: (bytes, from, to) => script.body(bytes, from, to),
      onTrailers: (trailers) => script.trailers(trailers),
      onEnd: () => script.say('end'),
    },
    limits,
  );
  return feed(reader, pieces, script);
}

export function readResponses(
  pieces: Iterable<Uint8Array>,
  expected: readonly Expected[] = ['GET'],
  limits: Partial<Limits> = {},
): Reading {
  const script = new Script();
  const reader = responseReader(
    {
      onInformation: (head) => script.say(`${head.status} ${head.reason} interim`),
      onHead: (head) => script.say(`${head.status} ${head.reason} ${describe(head)}`),
      onBody: (bytes, from, to) => script.body(bytes, from, to),
      onTrailers: (trailers) => script.trailers(trailers),
      onEnd: () => script.say('end'),
    },
    limits,
  );
  for (const request of expected) reader.expect(request.split(' ')[0] ?? '', request.endsWith('upgrade'));
  return feed(reader, pieces, script);
}

function feed(reader: RequestReader | ResponseReader, pieces: Iterable<Uint8Array>, script: Script): Reading {
  let left = 0;
  for (const piece of pieces) {
    // Once it leaves bytes it leaves all that come after; they would be kept and read again by whoever wants them.
    if (left > 0) left += piece.length;
    else left = piece.length - reader.read(piece);
  }
  const error = reader.error ?? reader.eof();
  if (error !== undefined) script.say(`!${complaint(error)}`);
  return { transcript: script.toString(), left: error === undefined ? left : 0 };
}

class Script {
  readonly #lines: string[] = [];
  #body = '';

  say(line: string): void {
    if (this.#body !== '') this.#lines.push(JSON.stringify(this.#body));
    this.#body = '';
    this.#lines.push(line);
  }

  body(bytes: Uint8Array, from: number, to: number): void {
    this.#body += latin1(bytes, from, to);
  }

  trailers(fields: Fields): void {
    fields.each((name, value) => this.say(`trailer ${name}=${value}`));
  }

  toString(): string {
    if (this.#body !== '') this.say('…');
    return this.#lines.join(' | ');
  }
}

function describe(head: Head): string {
  const parts: string[] = [`1.${head.minorVersion}`];
  if (head.contentLength !== undefined) parts.push(`len=${head.contentLength}`);
  if (head.chunked) parts.push('chunked');
  if (!head.keepAlive) parts.push('close');
  return parts.join(' ');
}

function extras(head: { readonly expectsContinue: boolean; readonly upgrade: string | undefined }): string {
  return (
    (head.expectsContinue ? ' expects-continue' : '') + (head.upgrade === undefined ? '' : ` upgrade=${head.upgrade}`)
  );
}

const complaint = (error: WireError): string => `${error.kind} ${error.status}`;

/** The stream in pieces that end at the given places. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const place of places.toSorted((one, other) => one - other)) {
    pieces.push(bytes.slice(from, place));
    from = place;
  }
  pieces.push(bytes.slice(from));
  return pieces;
}
