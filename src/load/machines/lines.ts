// What machines say to each other: JSON, one message a line, over TCP. A stranger may say little before he has shown that he knows
// the token; what is too long, or no JSON, or cannot be got rid of, ends the connection.

import type net from 'node:net';

/** Of a message before the handshake is done, and of one after it: a round of counts of a large fleet is some megabytes. */
const strangerBytesMax = 4096;
const friendBytesMax = 64 * 1024 * 1024;
/** Written and not yet taken by the kernel: a peer that reads nothing any more. */
const waitingBytesMax = 64 * 1024 * 1024;

export interface LinesEvents {
  readonly onMessage: (message: unknown) => void;
  /** The end, told once, with the reason in words. Not told to whoever closes. */
  readonly onEnd: (why: string) => void;
}

export class Lines {
  readonly #socket: net.Socket;
  readonly #events: LinesEvents;
  #bytesMax = strangerBytesMax;
  /** Pieces of a line that has not ended. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #ended = false;

  constructor(socket: net.Socket, events: LinesEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.setNoDelay(true);
    socket.on('data', this.#read);
    socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message));
    socket.on('close', () => this.#end('the connection was closed'));
  }

  /** The peer has shown who he is. */
  trust(): void {
    this.#bytesMax = friendBytesMax;
  }

  send(message: object): void {
    if (this.#ended) return;
    this.#socket.write(`${JSON.stringify(message)}\n`);
    if (this.#socket.writableLength > waitingBytesMax) this.#end('it reads nothing any more');
  }

  /** Sends what is left and ends. */
  close(): void {
    this.#ended = true;
    this.#socket.end();
    this.#socket.destroySoon();
  }

  readonly #read = (bytes: Buffer): void => {
    let from = 0;
    while (!this.#ended) {
      const end = bytes.indexOf(0x0a, from);
      this.#bytes += (end < 0 ? bytes.length : end) - from;
      if (this.#bytes > this.#bytesMax) return this.#end('a message that is too long');
      this.#pieces.push(bytes.subarray(from, end < 0 ? bytes.length : end));
      if (end < 0) return undefined;
      from = end + 1;
      this.#take(Buffer.concat(this.#pieces).toString());
      this.#pieces = [];
      this.#bytes = 0;
    }
    return undefined;
  };

  #take(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#end('something that is no message');
    }
    this.#events.onMessage(message);
    return undefined;
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.destroy();
    this.#events.onEnd(why);
  }
}

/** A field of a message from outside. */
export const field = (message: unknown, name: string): unknown =>
  typeof message === 'object' && message !== null ? Reflect.get(message, name) : undefined;
