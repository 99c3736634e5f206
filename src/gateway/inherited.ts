// Listening sockets that pass from one process to another: to a successor, which takes over while the old process finishes what it
// has, and to workers, which share a port. A socket that is passed is never closed in between, so whoever connects waits in its
// queue at worst and is refused by nobody.
//
// They travel as descriptors of the child, from `firstFd` on; what each of them is stands in one variable of its environment:
//
//   PLIMSOLL_SOCKETS = [{"what":"listener","host":"0.0.0.0","port":8080,"fd":4}, …]
//
// A socket is known by the address that its configuration gives it (port 0 included), so that a changed file takes over exactly
// what it still names.

import { closeSync } from 'node:fs';
import { z } from 'zod';

export interface PassedSocket {
  readonly what: 'listener' | 'admin';
  readonly host: string;
  /** As configured. */
  readonly port: number;
  readonly fd: number;
}

/** After standard input, output, error and the channel to the parent. */
export const firstFd = 4;

const variable = 'PLIMSOLL_SOCKETS';
const passedShape = z.array(
  z.object({ what: z.enum(['listener', 'admin']), host: z.string(), port: z.number(), fd: z.number() }),
);

/** How a child is to be spawned so that it gets these sockets. */
export function passing(sockets: readonly PassedSocket[]): {
  readonly env: Readonly<Record<string, string>>;
  readonly fds: readonly number[];
} {
  const told = sockets.map((socket, index) => ({ ...socket, fd: firstFd + index }));
  return { env: { [variable]: JSON.stringify(told) }, fds: sockets.map((socket) => socket.fd) };
}

/** The sockets that this process was given, each to be taken once. */
export class InheritedSockets {
  #left: readonly PassedSocket[];

  constructor(sockets: readonly PassedSocket[]) {
    this.#left = sockets;
  }

  static fromEnvironment(): InheritedSockets {
    const text = process.env[variable];
    // Not for the children of this process.
    Reflect.deleteProperty(process.env, variable);
    return new InheritedSockets(text === undefined ? [] : passedShape.parse(JSON.parse(text)));
  }

  take(what: PassedSocket['what'], host: string, port: number): number | undefined {
    const found = this.#left.find((socket) => socket.what === what && socket.host === host && socket.port === port);
    this.#left = this.#left.filter((socket) => socket !== found);
    return found?.fd;
  }

  /** Those that nobody took are for addresses that are no longer configured. */
  closeRest(): void {
    for (const { fd } of this.#left) closeSync(fd);
    this.#left = [];
  }
}
