// A few lines at the bottom of the terminal that are painted over again and again. Where there is no terminal (a pipe, a
// log, a CI job) it prints one plain line every few seconds instead.

import { columnsOf, paintFor } from './terminal.ts';
import { liveLine, liveLines, type LiveState } from '../report.ts';

const plainEverySeconds = 5;

export class LiveRegion {
  readonly #stream: NodeJS.WriteStream;
  readonly #repaints: boolean;
  #height = 0;
  #lastPlainAt = Number.NEGATIVE_INFINITY;
  #lastTitle = '';

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#repaints = stream.isTTY && process.env['CI'] === undefined && process.env['TERM'] !== 'dumb';
  }

  show(state: LiveState, atSeconds: number): void {
    if (this.#repaints) this.#paint(liveLines(state, columnsOf(this.#stream) - 1, paintFor(this.#stream)));
    else if (state.title !== this.#lastTitle || atSeconds - this.#lastPlainAt >= plainEverySeconds) {
      this.#lastTitle = state.title;
      this.#lastPlainAt = atSeconds;
      this.#stream.write(`${liveLine(state)}\n`);
    }
  }

  /** A line that stays, above what is repainted. */
  say(text: string): void {
    this.clear();
    this.#stream.write(`${text}\n`);
  }

  clear(): void {
    if (this.#height > 0) this.#stream.write(`\u001B[${this.#height}A\u001B[J`);
    this.#height = 0;
  }

  #paint(lines: readonly string[]): void {
    const up = this.#height > 0 ? `\u001B[${this.#height}A\r` : '\r';
    const body = lines.map((line) => `${line}\u001B[K\n`).join('');
    // Synchronised output (DEC mode 2026) where the terminal knows it: no flicker.
    this.#stream.write(`\u001B[?2026h${up}${body}\u001B[J\u001B[?2026l`);
    this.#height = lines.length;
  }
}
