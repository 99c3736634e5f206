// The socket options that we set, by their numbers on Linux.

import type { Foreign } from './libc.ts';

const solSocket = 1;
const ipProtocol = 0;
const tcpProtocol = 6;

const value = new Int32Array(2);
const valueBytes = new Uint8Array(value.buffer);

/** Send small writes at once. Accepted sockets inherit it from their listener. */
export function noDelay(foreign: Foreign, fd: number): void {
  set(foreign, fd, tcpProtocol, 1, 1);
}

/** The port is chosen by `connect`, which knows the whole four-tuple, and not by `bind`: the ports of one source address
 * are then counted for each target and not in all. */
export function bindAddressNoPort(foreign: Foreign, fd: number): void {
  set(foreign, fd, ipProtocol, 24, 1);
}

const reno = new TextEncoder().encode('reno');

/** On this machine's own addresses there is no network to be careful of, and none to be measured: the plainest congestion control
 * instead of the system's. Where that is BBR, each answer otherwise pays for its model of the path and each send for its
 * pacing: 3 % of a request. */
export function plainCongestionControl(foreign: Foreign, fd: number): void {
  foreign.libc.setsockopt(fd, tcpProtocol, 13, reno, reno.length);
}

export function reuseAddress(foreign: Foreign, fd: number): void {
  set(foreign, fd, solSocket, 2, 1);
}

export function reusePort(foreign: Foreign, fd: number): void {
  set(foreign, fd, solSocket, 15, 1);
}

/** Closing sends RST instead of FIN (SO_LINGER of no time). */
export function resetOnClose(foreign: Foreign, fd: number): void {
  value[0] = 1;
  value[1] = 0;
  foreign.libc.setsockopt(fd, solSocket, 13, valueBytes, 8);
}

function set(foreign: Foreign, fd: number, level: number, option: number, to: number): void {
  value[0] = to;
  foreign.libc.setsockopt(fd, level, option, valueBytes, 4);
}
