// The PROXY protocol (haproxy.org, proxy-protocol.txt): what a balancer says first on a connection, so that whoever is behind it
// learns who is really calling. Two forms of the same few facts:
//
//   v1  PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n            text, at most 107 bytes with its line end
//   v2  \r\n\r\n\0\r\nQUIT\n │21│11│ 00 0c │ source destination ports │ TLVs       12 + 4 bytes, then as many as are announced
//
// The reader is strict, because what it believes decides who a client is: a preamble is exact or an error, there is no third
// way, and nothing is read as a preamble on a connection that was not promised to have one. LOCAL (v2) and UNKNOWN (v1) say that
// the connection is the balancer's own: its addresses are those of the socket. TLVs are skipped, but for CRC-32c, which is
// checked where it is given.

import { addressBytes, addressText } from './ip-text.ts';

export interface ConnectionEnds {
  readonly source: { readonly address: string; readonly port: number };
  readonly destination: { readonly address: string; readonly port: number };
}

export type Preamble =
  /** More bytes are needed to tell. */
  | { readonly kind: 'incomplete' }
  /** `length` bytes were the preamble. `ends` is undefined when the addresses are those of the socket itself. */
  | {
      readonly kind: 'complete';
      readonly length: number;
      readonly version: 1 | 2;
      readonly ends: ConnectionEnds | undefined;
    }
  | { readonly kind: 'bad'; readonly message: string };

export type PreambleVersion = 'v1' | 'v2';

const lineMax = 107;
/** Addresses and TLVs of v2; others allow 536 and more. */
const announcedMax = 2048;

const signature = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a);
const word = ascii('PROXY ');
const headBytes = 16;

/** Reads the preamble at the beginning of what a connection has sent so far. */
export function readPreamble(bytes: Uint8Array): Preamble {
  if (beginsLike(bytes, signature)) return bytes.length < headBytes ? incomplete : readBinary(bytes);
  if (beginsLike(bytes, word)) return readLine(bytes);
  return bad('neither PROXY nor the signature of version 2');
}

/** The preamble for a connection; without `ends` the one that says it is our own. */
export function encodePreamble(version: PreambleVersion, ends: ConnectionEnds | undefined): Uint8Array {
  const source = ends === undefined ? undefined : addressBytes(ends.source.address);
  const destination = ends === undefined ? undefined : addressBytes(ends.destination.address);
  const known = ends !== undefined && source !== undefined && destination !== undefined;
  if (!known) return version === 'v1' ? ascii('PROXY UNKNOWN\r\n') : binary(0x20, 0x00, new Uint8Array(0));
  // Both must be of one family: where they are not, IPv4 goes into IPv6.
  const wide = source.length === 16 || destination.length === 16;
  const [from, to] = wide ? [widened(source), widened(destination)] : [source, destination];
  const ports = [ends.source.port, ends.destination.port];
  if (version === 'v1') {
    const family = wide ? 'TCP6' : 'TCP4';
    return ascii(`PROXY ${family} ${addressText(from)} ${addressText(to)} ${ports.join(' ')}\r\n`);
  }
  const bigEndian = ports.flatMap((port) => [port >> 8, port & 0xff]);
  return binary(0x21, wide ? 0x21 : 0x11, Uint8Array.of(...from, ...to, ...bigEndian));
}

function readLine(bytes: Uint8Array): Preamble {
  const end = bytes.subarray(0, lineMax).indexOf(0x0a);
  if (end < 0) return bytes.length < lineMax ? incomplete : bad('a line of more than 107 bytes');
  if (bytes[end - 1] !== 0x0d) return bad('a line that does not end with CR LF');
  const line = String.fromCharCode(...bytes.subarray(0, end - 1));
  const length = end + 1;
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN ')) {
    return { kind: 'complete', length, version: 1, ends: undefined };
  }
  const parts = line.split(' ');
  const [, family, from = '', to = '', fromPort = '', toPort = ''] = parts;
  if (parts.length !== 6 || (family !== 'TCP4' && family !== 'TCP6')) return bad('neither TCP4, TCP6 nor UNKNOWN');
  const source = addressBytes(from);
  const destination = addressBytes(to);
  const size = family === 'TCP4' ? 4 : 16;
  if (source?.length !== size || destination?.length !== size) return bad(`an address that is not of ${family}`);
  if (!isPort(fromPort) || !isPort(toPort)) return bad('a port that is none');
  return {
    kind: 'complete',
    length,
    version: 1,
    ends: {
      source: { address: addressText(source), port: Number(fromPort) },
      destination: { address: addressText(destination), port: Number(toPort) },
    },
  };
}

function readBinary(bytes: Uint8Array): Preamble {
  const command = bytes[12] ?? 0;
  const transport = bytes[13] ?? 0;
  const announced = ((bytes[14] ?? 0) << 8) | (bytes[15] ?? 0);
  if (command !== 0x20 && command !== 0x21) return bad('a version or command that does not exist');
  if (announced > announcedMax) return bad(`more than ${announcedMax} bytes announced`);
  const length = headBytes + announced;
  if (bytes.length < length) return incomplete;
  const whole = bytes.subarray(0, length);
  if (command === 0x20) return { kind: 'complete', length, version: 2, ends: undefined };
  const family = transport >> 4;
  if (family > 3 || (transport & 0x0f) > 2) return bad('an address family or transport that does not exist');
  // Only TCP over IP has ends that we can say; of anything else the specification asks to use the socket's own.
  const size = transport === 0x11 ? 4 : transport === 0x21 ? 16 : undefined;
  if (size === undefined) return { kind: 'complete', length, version: 2, ends: undefined };
  const addresses = 2 * size + 4;
  if (announced < addresses) return bad('fewer bytes than its addresses take');
  const wrong = wrongTlvs(whole, headBytes + addresses);
  if (wrong !== undefined) return bad(wrong);
  const at = headBytes;
  const portAt = at + 2 * size;
  const port = (offset: number): number => ((whole[offset] ?? 0) << 8) | (whole[offset + 1] ?? 0);
  return {
    kind: 'complete',
    length,
    version: 2,
    ends: {
      source: { address: addressText(whole.subarray(at, at + size)), port: port(portAt) },
      destination: { address: addressText(whole.subarray(at + size, portAt)), port: port(portAt + 2) },
    },
  };
}

/** TLVs fill the rest exactly: type, length of two bytes, value. Type 3 is the CRC-32c of the whole preamble, itself taken as 0. */
function wrongTlvs(whole: Uint8Array, from: number): string | undefined {
  for (let at = from; at < whole.length;) {
    if (at + 3 > whole.length) return 'a TLV that is cut off';
    const end = at + 3 + (((whole[at + 1] ?? 0) << 8) | (whole[at + 2] ?? 0));
    if (end > whole.length) return 'a TLV longer than the preamble';
    if (whole[at] === 0x03) {
      if (end !== at + 7) return 'a checksum that is not of four bytes';
      const without = Uint8Array.from(whole);
      without.fill(0, at + 3, end);
      const stated = new DataView(whole.buffer, whole.byteOffset).getUint32(at + 3);
      if (stated !== crc32c(without)) return 'a checksum that does not fit';
    }
    at = end;
  }
  return undefined;
}

/** Castagnoli's polynomial, reflected, bit by bit: a few hundred bytes once a connection. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

function binary(command: number, transport: number, addresses: Uint8Array): Uint8Array {
  return Uint8Array.of(...signature, command, transport, addresses.length >> 8, addresses.length & 0xff, ...addresses);
}

function widened(address: Uint8Array): Uint8Array {
  return address.length === 16 ? address : Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...address);
}

/** As far as both go. */
function beginsLike(bytes: Uint8Array, expected: Uint8Array): boolean {
  const length = Math.min(bytes.length, expected.length);
  for (let index = 0; index < length; index++) if (bytes[index] !== expected[index]) return false;
  return true;
}

function isPort(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}

const incomplete: Preamble = { kind: 'incomplete' };

function bad(message: string): Preamble {
  return { kind: 'bad', message };
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
