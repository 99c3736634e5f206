// Sockets for several processes at one address: each has one of its own, bound with SO_REUSEPORT, and the kernel deals connections
// among them by their addresses and ports. The supervisor makes them and keeps them, and never listens on them: what has come to
// the queue of a worker that has crashed waits there for the one that takes its place.

import { lookup } from 'node:dns/promises';
import net, { isIP } from 'node:net';
import type { InheritedSockets, PassedSocket } from './inherited.ts';

/** `UV_TCP_REUSEPORT` of libuv. */
const reusePort = 2;

interface BoundHandle {
  readonly fd: number;
  getsockname(into: { port?: number }): number;
  close(): void;
}

/** Keeps the descriptors open: a handle that is collected closes its own. */
const kept: BoundHandle[] = [];

/** `count` sockets at one address, those that were inherited first. Rejects when there can be none; when there can be no
 * further one beside those inherited, fewer. */
export async function socketsAt(
  host: string,
  port: number,
  count: number,
  inherited: InheritedSockets,
): Promise<readonly PassedSocket[]> {
  const sockets: PassedSocket[] = [];
  const passed = (fd: number): PassedSocket => ({ what: 'listener', host, port, fd });
  for (let fd = inherited.take('listener', host, port); fd !== undefined; fd = inherited.take('listener', host, port)) {
    sockets.push(passed(fd));
  }
  const address = isIP(host) === 0 ? (await lookup(host)).address : host;
  let actual = port;
  while (sockets.length < count) {
    const handle = bound(address, actual);
    if (typeof handle === 'string') {
      if (sockets.length > 0) break;
      throw new Error(`listen ${host}:${port}: ${handle}`);
    }
    kept.push(handle);
    sockets.push(passed(handle.fd));
    const at: { port?: number } = {};
    handle.getsockname(at);
    actual = at.port ?? port;
  }
  return sockets;
}

/** A socket that is bound and does not listen, or why there is none. Node makes such ones for its own clusters. */
function bound(address: string, port: number): BoundHandle | string {
  const make: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof make !== 'function') return 'this Node cannot bind without listening';
  const handle: unknown = Reflect.apply(make, net, [address, port, isIP(address), undefined, reusePort]);
  if (typeof handle === 'number') return `error ${handle}`;
  return isBoundHandle(handle) ? handle : 'this Node cannot bind without listening';
}

function isBoundHandle(value: unknown): value is BoundHandle {
  return typeof value === 'object' && value !== null && 'fd' in value && 'getsockname' in value;
}
