// The programs of one log, each held against the slow reader on the head of the file before it may read the rest. A log has
// often two forms (requests with and without details): the program that read the last line is tried first.

import { lineBytes } from './byte-words.ts';
import { firstLines } from './format.ts';
import type { Program } from './line-form.ts';
import { LineProgram } from './line-program.ts';
import { blankRow, clearRow, type RequestRow, type RequestTableBuilder } from './request-table.ts';

const examples = 200;

export class FastLines {
  readonly #programs: readonly LineProgram[];
  #last: LineProgram | undefined;

  /** `slow` fills a row from a line; false when it is no request. Programs that disagree with it are not used. */
  constructor(
    programs: readonly Program[],
    table: RequestTableBuilder,
    head: string,
    slow: (line: string, row: RequestRow) => boolean,
  ) {
    const row = blankRow();
    // The last line of a head may be cut off.
    const lines = firstLines(head.slice(0, head.lastIndexOf('\n') + 1), examples)
      .filter((line) => /^[ -~]*$/.test(line))
      .map((line) => {
        clearRow(row);
        const found = slow(line, row) ? { ...row } : undefined;
        return { bytes: lineBytes(line), to: line.length, row: found };
      });
    // Without an example there is nothing to agree with, and no need for speed either.
    this.#programs = (lines.every((line) => line.row === undefined) ? [] : programs)
      .map((program) => new LineProgram(program, table))
      .filter((program) => lines.every((line) => program.agrees(line.bytes, line.to, line.row)));
    this.#last = this.#programs[0];
  }

  /** Reads one line into the table; false when no program knows its form. Hot. */
  take(bytes: DataView, from: number, to: number): boolean {
    if (this.#last === undefined) return false;
    if (this.#last.take(bytes, from, to)) return true;
    for (const program of this.#programs) {
      if (program === this.#last || !program.take(bytes, from, to)) continue;
      this.#last = program;
      return true;
    }
    return false;
  }

  /** Whether any program may read. */
  get any(): boolean {
    return this.#last !== undefined;
  }

  /** When the request that was read last began, and how long it took. */
  get startMs(): number {
    return this.#last?.startMs ?? Number.NaN;
  }

  get seconds(): number {
    return this.#last?.seconds ?? Number.NaN;
  }

  /** How precisely times are written, in milliseconds. */
  get stepMs(): number {
    return this.#last?.stepMs ?? 1;
  }
}
