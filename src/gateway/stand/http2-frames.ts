// Raw frames of HTTP/2 (RFC 9113 section 4.1), for what no proper client sends.

import { once } from 'node:events';
import net from 'node:net';

export const frameType = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, window: 8, continuation: 9 };
export const flag = { endStream: 1, endHeaders: 4 };

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header block without compression: each field a literal that is not indexed (RFC 7541 section 6.2.2). */
export function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const literal = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'latin1');
    return Buffer.concat([lengthOf(bytes.length), bytes]);
  };
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.of(0), literal(name), literal(value)])));
}

/** An integer with a prefix of seven bits (RFC 7541 section 5.1). */
function lengthOf(length: number): Buffer {
  if (length < 127) return Buffer.of(length);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

export const getRequest = headerBlock([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'shop.test'],
  [':path', '/'],
]);

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A client that says the frames it is told to and notes those that come back. */
export class FrameTalk {
  readonly socket: net.Socket;
  readonly heard: Frame[] = [];
  ended = false;
  #rest = Buffer.alloc(0);
  #changed: () => void = () => {};

  static async with(port: number): Promise<FrameTalk> {
    const socket = net.connect(port, '127.0.0.1');
    const talk = new FrameTalk(socket);
    await once(socket, 'connect');
    talk.say(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(frameType.settings, 0, 0));
    return talk;
  }

  constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.#hear(bytes));
    for (const event of ['close', 'error', 'end'] as const) {
      socket.on(event, () => {
        this.ended = true;
        this.#changed();
      });
    }
  }

  say(...frames: readonly Buffer[]): this {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames));
    return this;
  }

  /** The first frame of this type; undefined at the end of the connection without one. */
  async until(type: number): Promise<Frame | undefined> {
    for (;;) {
      const found = this.heard.find((one) => one.type === type);
      if (found !== undefined || this.ended) return found;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async toTheEnd(): Promise<readonly Frame[]> {
    while (!this.ended) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.heard;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #hear(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const seen = this.#rest;
      const end = seen.length < 9 ? Infinity : 9 + seen.readUIntBE(0, 3);
      if (seen.length < end) break;
      const stream = seen.readUInt32BE(5);
      this.heard.push({ type: seen[3] ?? 0, flags: seen[4] ?? 0, stream, payload: seen.subarray(9, end) });
      this.#rest = seen.subarray(end);
    }
    this.#changed();
  }
}
