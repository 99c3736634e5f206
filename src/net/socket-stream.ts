// One of our sockets as a stream of Node's, for what of Node wants to sit on top of one: TLS behind a preamble, HTTP/2. The
// stream reads no more than is asked for (back-pressure goes down to the kernel), and every byte is copied once on its way up,
// because the engine only lends it.

import { Duplex } from 'node:stream';
import type { NetError, Socket, SocketHandler } from './engine.ts';

export interface SocketStream {
  readonly stream: Duplex;
  /** What the socket is to be handled by from now on. */
  readonly handler: SocketHandler;
}

/** `first` has been read from the socket already and comes before everything else. */
export function streamOf(socket: Socket, first: Uint8Array): SocketStream {
  let waiting: ((error?: Error | null) => void) | undefined;
  let closed = false;
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (bytes: Buffer, _encoding, done) => {
      if (closed || socket.write(bytes)) done();
      else waiting = done;
    },
    final: (done) => {
      socket.end();
      done();
    },
    destroy: (error, done) => {
      if (!closed) socket.destroy();
      done(error);
    },
  });
  const push = (bytes: Uint8Array): void => {
    if (!stream.push(Buffer.from(bytes)) && !closed) socket.pause();
  };
  const goOn = (): void => {
    const done = waiting;
    waiting = undefined;
    done?.();
  };
  const handler: SocketHandler = {
    onData: (_socket, bytes) => push(bytes),
    onDrain: goOn,
    onEnd: () => void stream.push(null),
    onClose: (_socket, error) => {
      closed = true;
      stream.destroy(error === undefined ? undefined : systemError(error));
      goOn();
    },
  };
  if (first.length > 0) push(first);
  return { stream, handler };
}

function systemError(error: NetError): Error {
  return Object.assign(new Error(error.message), { code: error.code });
}
