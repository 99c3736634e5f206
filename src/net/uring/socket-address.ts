// Socket addresses as the kernel writes them (struct sockaddr_in and sockaddr_in6).
//
//   IPv4   family 2 (2) | port (2, big-endian) | address (4) | – (8)
//   IPv6   family 10 (2) | port (2, big-endian) | flow (4) | address (16) | scope (4)

import { isIPv4, isIPv6 } from 'node:net';
import { assert } from '../../base.ts';
import type { Foreign, Libc } from './libc.ts';

export const inet = 2;
export const inet6 = 10;

export interface Place {
  readonly address: string;
  readonly port: number;
}

/** `address` is a numeric one. */
export function socketAddress(libc: Libc, { address, port }: Place): Uint8Array {
  const family = familyOf(address);
  const bytes = new Uint8Array(family === inet ? 16 : 28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, family, true);
  view.setUint16(2, port);
  const parsed = libc.inet_pton(family, address, bytes.subarray(family === inet ? 4 : 8));
  assert(parsed === 1, 'a numeric address is one');
  return bytes;
}

export function familyOf(address: string): number {
  if (isIPv4(address)) return inet;
  assert(isIPv6(address), 'a numeric address is of one of two families');
  return inet6;
}

/** Of this machine alone: 127.0.0.0/8 and ::1. */
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** Where a socket stands, or its peer. undefined when the socket has none. */
export function placeOfSocket(foreign: Foreign, fd: number, which: 'getsockname' | 'getpeername'): Place | undefined {
  const bytes = new Uint8Array(28);
  const length = new Uint8Array(new Uint32Array([28]).buffer);
  return foreign.libc[which](fd, bytes, length) < 0 ? undefined : placeOf(bytes);
}

/** What the kernel wrote. IPv6 comes out in full, without shortening. */
export function placeOf(bytes: Uint8Array): Place {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const port = view.getUint16(2);
  if (view.getUint16(0, true) === inet) return { address: bytes.subarray(4, 8).join('.'), port };
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(8 + 2 * index).toString(16));
  return { address: shortened(groups), port };
}

/** RFC 5952: the longest run of at least two zero groups is written `::`. */
function shortened(groups: readonly string[]): string {
  let best = { from: 0, length: 0 };
  for (let from = 0; from < groups.length; from++) {
    let length = 0;
    while (groups[from + length] === '0') length++;
    if (length > best.length) best = { from, length };
  }
  if (best.length < 2) return groups.join(':');
  return `${groups.slice(0, best.from).join(':')}::${groups.slice(best.from + best.length).join(':')}`;
}
