// One JSON line for each request, in the order in which they ended. Lines are put together in memory and written every
// `flushInterval` or when a block is full; a disk that cannot keep up costs lines, never requests: beyond `pendingMax` bytes
// lines are dropped and counted.

import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Instant } from '../base.ts';
import type { Exchange } from './request.ts';
import { flagsOf, type WayOut } from './ways-out.ts';

const flushIntervalMs = 100;
const blockBytes = 64 * 1024;
const pendingMax = 16 * 1024 * 1024;

export class AccessLog {
  dropped = 0;
  readonly #stream: WriteStream;
  /** Wall clock at instant 0 of the engine, in ms. */
  readonly #wallStart: number;
  #block = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string, now: Instant) {
    this.#stream = createWriteStream(path, { flags: 'a' });
    this.#wallStart = Date.now() - now / 1e6;
  }

  /** Resolves when the file is open; rejects when it cannot be. */
  async opened(): Promise<void> {
    await once(this.#stream, 'open');
    // A full disk later: nothing to be done here but to go on serving.
    this.#stream.on('error', () => {
      this.dropped += 1;
    });
  }

  write(exchange: Exchange, way: WayOut, now: Instant): void {
    if (this.#stream.writableLength > pendingMax) {
      this.dropped += 1;
      return;
    }
    const line = {
      time: new Date(this.#wallStart + exchange.startedAt / 1e6).toISOString(),
      method: exchange.method,
      path: exchange.path,
      host: exchange.authority ?? null,
      client: exchange.client.address,
      status: exchange.status,
      way: way.name,
      flag: flagsOf(way, exchange.retryRefused),
      endpoint: exchange.endpoint?.endpoint.id ?? null,
      attempts: exchange.attempts,
      request_bytes: exchange.requestBytes,
      answer_bytes: exchange.answerBytes,
      first_byte_ns: exchange.firstByteAfter ?? null,
      duration_ns: now - exchange.startedAt,
    };
    this.#block += `${JSON.stringify(line)}\n`;
    if (this.#block.length >= blockBytes) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushIntervalMs).unref();
  }

  async close(): Promise<void> {
    this.#flush();
    await new Promise<void>((resolve) => this.#stream.end(resolve));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#block === '') return;
    this.#stream.write(this.#block);
    this.#block = '';
  }
}
