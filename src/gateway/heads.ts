// What a message's head becomes on its way through: the fields of this hop are taken away, ours are added, and where the body
// ends is said anew in one way only. Since we write the framing ourselves, what stands behind us never sees the client's
// version of it.
//
// Fields that are not passed on: those RFC 9110 section 7.6.1 lists, those `Connection` names, and the framing and forwarding
// fields that are written here. Trailers are not passed on (section 6.5.1 allows it), so neither is `TE: trailers`.
//
// Via is added to requests, as section 7.6.3 demands of a gateway, and not to responses, where it is optional and a few
// bytes of every answer. (nginx behind us then leaves out gzip unless told `gzip_proxied any`.)
//
// Hot: all of it. No allocation for a head of the usual size.

import { assert } from '../base.ts';
import { type Fields, type FieldNames, notForwarded, type RequestHead, type ResponseHead } from '../wire.ts';
import type { GrowingBytes } from './growing-bytes.ts';
import { timeLeftFields, type TimeLeftLines } from './time-left.ts';

export type BodyFraming = 'none' | 'length' | 'chunked' | 'until-close';

/** Writes the request as the endpoint will see it. `fallbackHost` is for an HTTP/1.0 request that names no host;
 * `timeLeft` writes the deadline, where it is passed on. */
export function writeRequestHead(
  out: GrowingBytes,
  head: RequestHead,
  body: BodyFraming,
  upgrade: string | undefined,
  clientAddress: string,
  fallbackHost: string,
  timeLeft: TimeLeftLines | undefined,
): void {
  out.text(head.method);
  out.text(' ');
  copyPath(out, head);
  out.bytes(requestVersionAndHost);
  out.text(head.authority ?? fallbackHost);
  out.bytes(lineEnd);
  copyFields(out, head, timeLeft === undefined ? requestFieldsDropped : requestFieldsDroppedWithTime);
  timeLeft?.write(out, head);
  out.bytes(forwardedFor);
  const before = head.header('x-forwarded-for');
  if (before !== undefined && before !== '') {
    out.text(before);
    out.text(', ');
  }
  out.text(clientAddress);
  out.bytes(viaLine);
  if (upgrade !== undefined) writeUpgrade(out, upgrade);
  writeFraming(out, body, head.contentLength);
  out.bytes(lineEnd);
}

/** Writes the answer as the client will see it. `date` is used when the endpoint sent none. */
export function writeResponseHead(
  out: GrowingBytes,
  head: ResponseHead,
  body: BodyFraming,
  connection: 'keep-alive' | 'close' | undefined,
  date: string,
): void {
  writeStatusLine(out, head.status, head.reason);
  copyFields(out, head, responseFieldsDropped);
  if (!head.has('date')) {
    out.text('date: ');
    out.text(date);
    out.bytes(lineEnd);
  }
  if (head.status === 101) writeUpgrade(out, head.header('upgrade') ?? '');
  else if (connection !== undefined) writeConnection(out, connection);
  writeFraming(out, body, head.contentLength);
  out.bytes(lineEnd);
}

/** Writes a 1xx that is not the answer yet: its fields, and nothing of ours. */
export function writeInformation(out: GrowingBytes, head: ResponseHead): void {
  writeStatusLine(out, head.status, head.reason);
  copyFields(out, head, responseFieldsDropped);
  out.bytes(lineEnd);
}

export function writeStatusLine(out: GrowingBytes, status: number, reason: string): void {
  if (status === 200 && reason === 'OK') return out.bytes(statusLine200);
  out.text('HTTP/1.1 ');
  out.decimal(status);
  out.text(' ');
  out.text(reason);
  out.bytes(lineEnd);
}

export function writeConnection(out: GrowingBytes, connection: 'keep-alive' | 'close'): void {
  out.bytes(connection === 'close' ? connectionClose : connectionKeepAlive);
}

function writeUpgrade(out: GrowingBytes, protocol: string): void {
  out.bytes(upgradeLine);
  out.text(protocol);
  out.bytes(lineEnd);
}

function writeFraming(out: GrowingBytes, body: BodyFraming, length: number | undefined): void {
  switch (body) {
    case 'chunked':
      return out.bytes(transferChunked);
    case 'length':
      assert(length !== undefined, 'a body framed by its length has one');
      out.bytes(contentLength);
      out.decimal(length);
      return out.bytes(lineEnd);
    case 'none':
    case 'until-close':
      return;
  }
}

function copyPath(out: GrowingBytes, head: RequestHead): void {
  for (;;) {
    const length = head.copyPath(out.array, out.length);
    if (length >= 0) {
      out.length = length;
      return;
    }
    out.reserve(out.array.length - out.length + 1);
  }
}

function copyFields(out: GrowingBytes, fields: Fields, except: FieldNames): void {
  for (;;) {
    const length = fields.copyFields(out.array, out.length, except);
    if (length >= 0) {
      out.length = length;
      return;
    }
    out.reserve(out.array.length - out.length + 1);
  }
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

const requestFieldsDropped = notForwarded(['host', 'content-length', 'x-forwarded-for']);
const requestFieldsDroppedWithTime = notForwarded(['host', 'content-length', 'x-forwarded-for', ...timeLeftFields]);
const responseFieldsDropped = notForwarded(['content-length']);

const lineEnd = ascii('\r\n');
const requestVersionAndHost = ascii(' HTTP/1.1\r\nhost: ');
const forwardedFor = ascii('x-forwarded-for: ');
const viaLine = ascii('\r\nvia: 1.1 plimsoll\r\n');
const statusLine200 = ascii('HTTP/1.1 200 OK\r\n');
const connectionClose = ascii('connection: close\r\n');
const connectionKeepAlive = ascii('connection: keep-alive\r\n');
const upgradeLine = ascii('connection: upgrade\r\nupgrade: ');
const transferChunked = ascii('transfer-encoding: chunked\r\n');
const contentLength = ascii('content-length: ');
