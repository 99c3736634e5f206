// One growing log, cut into named pieces. A program that writes its log to its stdout cannot be told to write elsewhere, so
// its file is left to grow and the lines of each stretch are copied out of it:
//
//   gateway-haproxy.log   ├── before ──┼── baseline ──┼── stop-replica ──
//                                      └► baseline.log └► stop-replica.log

import { createReadStream, createWriteStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

interface Slice {
  readonly path: string;
  /** Bytes of the whole log before the slice and, of those, copied so far. */
  copied: number;
}

export class LogSlices {
  /** The whole log. */
  readonly path: string;
  #slice: Slice | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Ends the slice so far; what is written from now on belongs to the one at `path`. */
  async cutTo(path: string): Promise<void> {
    await this.complete();
    await writeFile(path, '');
    this.#slice = { path, copied: await this.#size() };
  }

  /** Copies what has been written since the last time. */
  async complete(): Promise<void> {
    const slice = this.#slice;
    if (slice === undefined) return;
    const size = await this.#size();
    if (size === slice.copied) return;
    const from = createReadStream(this.path, { start: slice.copied, end: size - 1 });
    await pipeline(from, createWriteStream(slice.path, { flags: 'a' }));
    slice.copied = size;
  }

  async #size(): Promise<number> {
    return (await stat(this.path)).size;
  }
}
