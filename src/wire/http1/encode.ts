// Messages to bytes. Two ways: whole heads from plain values (`encodeRequest`, `encodeResponse`), for messages that are made
// once and sent often; and small writers into a buffer of the caller's, for heads that are put together on the hot path.
// The writers take a position and return the next one. They do not look at the buffer's end: make it large enough.
//
// What would let a value break out of its line (CR, LF, NUL) is a mistake of the program that calls: values from outside are
// checked where they come in.

import { assert } from '../../base.ts';
import { ascii, cr, fieldText, lf, lowerToken, targetText } from './bytes.ts';

/** How the length of a message is told: in bytes, by chunks, or not at all (no body; or, for a response, until close). */
export type BodyLength = { readonly bodyLength: number } | { readonly chunked: true } | { readonly noLength?: true };

/** `headers`: name and value pairs. Content-Length and Transfer-Encoding come from the body's length and not from here. */
export type RequestParts = BodyLength & {
  readonly method: string;
  readonly target: string;
  readonly headers?: readonly (readonly [string, string])[];
};

export type ResponseParts = BodyLength & {
  readonly status: number;
  readonly reason?: string;
  readonly headers?: readonly (readonly [string, string])[];
};

/** The head of a request in HTTP/1.1, up to and including the empty line. */
export function encodeRequest(parts: RequestParts): Uint8Array {
  assert(isToken(parts.method), 'a method is a token');
  assert(isTarget(parts.target), 'a target has no space and no control character');
  return ascii(`${parts.method} ${parts.target} HTTP/1.1\r\n${fieldLines(parts.headers ?? [], parts)}\r\n`);
}

/** The head of a response in HTTP/1.1, up to and including the empty line. */
export function encodeResponse(parts: ResponseParts): Uint8Array {
  assert(Number.isInteger(parts.status) && parts.status >= 100 && parts.status <= 999, 'a status is three digits');
  const reason = parts.reason ?? reasonOf(parts.status);
  assert(isText(reason), 'a reason has no control character');
  return ascii(`HTTP/1.1 ${parts.status} ${reason}\r\n${fieldLines(parts.headers ?? [], parts)}\r\n`);
}

/** One chunk: size, data, CRLF. Empty data would be the last chunk: use `lastChunk` for that. */
export function encodeChunk(data: Uint8Array): Uint8Array {
  assert(data.length > 0, 'a chunk that is not the last has data');
  const head = ascii(`${data.length.toString(16)}\r\n`);
  const chunk = new Uint8Array(head.length + data.length + 2);
  chunk.set(head);
  chunk.set(data, head.length);
  chunk[chunk.length - 2] = cr;
  chunk[chunk.length - 1] = lf;
  return chunk;
}

/** Ends a chunked body without trailers. */
export const lastChunk: Uint8Array = ascii('0\r\n\r\n');

/** What a server says to `Expect: 100-continue`. */
export const continueResponse: Uint8Array = ascii('HTTP/1.1 100 Continue\r\n\r\n');

// Hot: nothing below allocates.

/** Writes bytes as they are. */
export function writeBytes(into: Uint8Array, at: number, bytes: Uint8Array): number {
  // A loop beats `set` for the short pieces of a head.
  if (bytes.length > 64) into.set(bytes, at);
  else for (let index = 0; index < bytes.length; index++) into[at + index] = bytes[index] ?? 0;
  return at + bytes.length;
}

/** Writes text of ISO 8859-1, one byte for each character. */
export function writeText(into: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) into[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/** Writes a whole number ≥ 0 in decimal. */
export function writeDecimal(into: Uint8Array, at: number, value: number): number {
  let digits = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  let rest = value;
  for (let to = at + digits - 1; to >= at; to--) {
    const above = Math.floor(rest / 10);
    into[to] = 0x30 + (rest - above * 10);
    rest = above;
  }
  return at + digits;
}

/** Writes the line that begins a chunk of `size` bytes. After the data comes `writeLineEnd`. */
export function writeChunkSize(into: Uint8Array, at: number, size: number): number {
  let digits = 1;
  for (let rest = size; rest >= 16; rest = Math.floor(rest / 16)) digits++;
  let rest = size;
  for (let to = at + digits - 1; to >= at; to--) {
    const above = Math.floor(rest / 16);
    const digit = rest - above * 16;
    into[to] = digit < 10 ? 0x30 + digit : 0x57 + digit;
    rest = above;
  }
  return writeLineEnd(into, at + digits);
}

export function writeLineEnd(into: Uint8Array, at: number): number {
  into[at] = cr;
  into[at + 1] = lf;
  return at + 2;
}

/** Writes `HTTP/1.1 200 OK` CRLF. */
export function writeStatusLine(into: Uint8Array, at: number, status: number, reason = reasonOf(status)): number {
  let to = writeBytes(into, at, version);
  to = writeDecimal(into, to, status);
  into[to++] = 0x20;
  to = writeText(into, to, reason);
  return writeLineEnd(into, to);
}

/** Writes `name: value` CRLF. */
export function writeField(into: Uint8Array, at: number, name: string, value: string): number {
  let to = writeText(into, at, name);
  into[to++] = 0x3a;
  into[to++] = 0x20;
  to = writeText(into, to, value);
  return writeLineEnd(into, to);
}

/** Writes `Content-Length: n` CRLF. */
export function writeContentLength(into: Uint8Array, at: number, length: number): number {
  return writeLineEnd(into, writeDecimal(into, writeBytes(into, at, contentLength), length));
}

/** The registered reason of a status; empty for one we do not know. */
export function reasonOf(status: number): string {
  return reasons[status] ?? '';
}

function fieldLines(headers: readonly (readonly [string, string])[], body: BodyLength): string {
  let lines = '';
  for (const [name, value] of headers) {
    assert(isToken(name), 'a field name is a token');
    assert(isText(value), 'a field value has no control character and only ISO 8859-1');
    const lower = name.toLowerCase();
    assert(lower !== 'content-length' && lower !== 'transfer-encoding', 'the length of the body is told apart');
    lines += `${name}: ${value}\r\n`;
  }
  if ('bodyLength' in body) {
    assert(Number.isSafeInteger(body.bodyLength) && body.bodyLength >= 0, 'a length is a whole number of bytes');
    lines += `Content-Length: ${body.bodyLength}\r\n`;
  } else if ('chunked' in body) lines += 'Transfer-Encoding: chunked\r\n';
  return lines;
}

/** For what comes from a person or a file: may it stand as a method or a field name? */
export function isToken(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (!lowerToken[text.charCodeAt(index)]) return false;
  return text !== '';
}

/** May it stand as a field value? */
export function isText(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (fieldText[text.charCodeAt(index)] !== 1) return false;
  return true;
}

/** May it stand as a request target? */
export function isTarget(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (targetText[text.charCodeAt(index)] !== 1) return false;
  return text !== '';
}

const version = ascii('HTTP/1.1 ');
const contentLength = ascii('Content-Length: ');

const reasons: Readonly<Record<number, string>> = {
  100: 'Continue',
  101: 'Switching Protocols',
  103: 'Early Hints',
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  411: 'Length Required',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  425: 'Too Early',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
};
