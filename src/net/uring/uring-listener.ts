// A listening socket. One request goes on accepting until it is canceled or something runs out; then it is made again.

import { getSystemErrorName } from 'node:util';
import { after, ms } from '../../base.ts';
import type { Alarm, Listener, ListenAt, NetError, Socket, SocketHandler } from '../engine.ts';
import { netError } from '../errors.ts';
import { canceled, type Home } from './home.ts';
import type { Foreign } from './libc.ts';
import { familyOf, type Place, socketAddress } from './socket-address.ts';
import { noDelay, reuseAddress, reusePort } from './socket-options.ts';

const defaultBacklog = 4096;

/** Out of descriptors or memory: the peers wait in the backlog for so long. */
const acceptAgainAfter = ms(50);

/** Binds and listens at a numeric address; returns the descriptor. */
export function listenAt(foreign: Foreign, at: ListenAt, address: string): number | NetError {
  const { libc } = foreign;
  if (at.fd !== undefined) {
    const listens = libc.listen(at.fd, at.backlog ?? defaultBacklog) === 0;
    return listens ? at.fd : failure(`listen on descriptor ${at.fd}`, foreign.errno());
  }
  const local = socketAddress(libc, { address, port: at.port });
  // SOCK_STREAM | SOCK_CLOEXEC
  const fd = libc.socket(familyOf(address), 0x80001, 0);
  if (fd < 0) return failure('socket', foreign.errno());
  reuseAddress(foreign, fd);
  if (at.reusePort === true) reusePort(foreign, fd);
  noDelay(foreign, fd);
  const done = libc.bind(fd, local, local.length) === 0 && libc.listen(fd, at.backlog ?? defaultBacklog) === 0;
  if (done) return fd;
  const error = failure(`listen ${at.host}:${at.port}`, foreign.errno());
  libc.close(fd);
  return error;
}

export class UringListener implements Listener {
  slot = -1;
  readonly fd: number;
  readonly host: string;
  readonly port: number;
  readonly onAccept: (socket: Socket) => SocketHandler;
  readonly #home: Home;
  #closed = false;
  /** Nothing of it is left in the kernel. */
  #finished = false;
  #accepting = false;
  #retry: Alarm | undefined;
  #whenClosed: (() => void)[] = [];

  constructor(home: Home, fd: number, place: Place, onAccept: (socket: Socket) => SocketHandler) {
    this.#home = home;
    this.fd = fd;
    this.host = place.address;
    this.port = place.port;
    this.onAccept = onAccept;
  }

  accept(): void {
    this.#accepting = true;
    this.#home.requests.accept(this.slot, this.fd);
  }

  accepted(result: number, more: boolean): void {
    if (!more) this.#accepting = false;
    // Also while closing: whoever was let in is served.
    if (result >= 0) this.#home.adopt(this, result);
    if (more) return;
    if (this.#closed) return this.#finish();
    if (result >= 0 || result === canceled) return this.accept();
    this.#retry = this.#home.alarm(after(this.#home.now(), acceptAgainAfter), () => {
      this.#retry = undefined;
      this.accept();
    });
    return undefined;
  }

  close(): Promise<void> {
    if (this.fd < 0 || this.#finished) return Promise.resolve();
    const closed = new Promise<void>((resolve) => this.#whenClosed.push(resolve));
    if (this.#closed) return closed;
    this.#closed = true;
    this.#retry?.cancel();
    // Not shut down: the socket may be another process's too, which goes on accepting.
    if (this.#accepting) this.#home.requests.cancelAll(this.fd);
    else this.#finish();
    this.#home.soon();
    return closed;
  }

  #finish(): void {
    this.#finished = true;
    this.#home.foreign.libc.close(this.fd);
    this.#home.forget(this);
    for (const resolve of this.#whenClosed) resolve();
    this.#whenClosed = [];
  }
}

function failure(what: string, code: number): NetError {
  const name = getSystemErrorName(-code);
  return netError('listen', name, `${what}: ${name}`);
}
