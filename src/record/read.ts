// Reading a record as it comes: text goes in, in pieces of any size, lines come out. What a crash leaves behind is read up to
// the last whole line, and the cut is reported. What is no record, or a newer one, or damaged, is refused with one problem
// that says on which line, where in it, what was found and what was expected.
//
//   - Kinds of line that this version does not know are counted and skipped; unknown fields are let through.
//   - A byte order mark, CRLF and empty lines are nothing to complain about: files travel.
//   - A line may be 16 Mi characters long. Nothing else is kept, so a reader's memory is bounded by that.

import { isKnownKind, isLine } from './line-shapes.ts';
import { type RecordLine, recordVersion } from './lines.ts';
import { LineOrder } from './order.ts';
import { recordOf, type RunRecord } from './run-record.ts';
import { contradiction } from './sense.ts';
import { type Fault, isObject, show } from './shape.ts';

/** Longest line, in characters: a tick of 10,000 replicas is a third of it. */
export const lineLengthMax = 16 * 2 ** 20;

/** Why a record cannot be read (further). */
export interface ReadProblem {
  /** From 1. */
  readonly line: number;
  /** `line 7: replicas[0].id: found 5, expected text`. */
  readonly message: string;
}

/** What was noticed on the way and is no reason to stop. */
export interface ReadNotes {
  /** The last line was cut off in the middle. */
  readonly cut: { readonly line: number; readonly characters: number } | undefined;
  /** How many lines of which unknown kind were skipped. */
  readonly skipped: ReadonlyMap<string, number>;
}

export type ReadResult = { readonly record: RunRecord; readonly notes: ReadNotes } | { readonly problem: ReadProblem };

/** Reads the whole text of a record. */
export function readRecord(text: string): ReadResult {
  const reader = new RecordReader();
  const lines = [...reader.feed(text), ...reader.end()];
  const { problem, notes } = reader;
  if (problem !== undefined) return { problem };
  if (lines.some(({ kind }) => kind === 'topology')) return { record: recordOf(lines), notes };
  return { problem: problemAt(reader.lineNumber, 'the record ends before its topology line') };
}

export class RecordReader {
  #pending = '';
  #lineNumber = 0;
  #problem: ReadProblem | undefined;
  #cut: ReadNotes['cut'];
  readonly #skipped = new Map<string, number>();
  readonly #order = new LineOrder();

  /** Takes the next piece of the text and returns the lines that are whole by now. After a problem: none. */
  feed(text: string): readonly RecordLine[] {
    const lines: RecordLine[] = [];
    // Only the new text is searched for newlines, so that a long line in small pieces does not cost its square.
    let from = 0;
    let newline = text.indexOf('\n');
    while (newline >= 0 && this.#problem === undefined) {
      const line = this.#parse(this.#pending + text.slice(from, newline));
      this.#pending = '';
      if (line !== undefined) lines.push(line);
      from = newline + 1;
      newline = text.indexOf('\n', from);
    }
    if (this.#problem !== undefined) return lines;
    this.#pending += text.slice(from);
    if (this.#pending.length > lineLengthMax) {
      this.#fail(this.#lineNumber + 1, `longer than ${lineLengthMax} characters: this is no line of a record`);
      this.#pending = '';
    }
    return lines;
  }

  /** Says that there is no more text. Returns the last line when it is whole but for its newline. */
  end(): readonly RecordLine[] {
    const rest = this.#pending;
    this.#pending = '';
    if (this.#problem !== undefined) return [];
    const isCut = rest.trim() !== '' && this.#lineNumber > 0 && parseJson(rest) === undefined;
    if (isCut) {
      this.#cut = { line: this.#lineNumber + 1, characters: rest.length };
      return [];
    }
    const line = rest === '' ? undefined : this.#parse(rest);
    if (this.#lineNumber === 0) this.#fail(1, 'the file is empty');
    return line === undefined ? [] : [line];
  }

  get problem(): ReadProblem | undefined {
    return this.#problem;
  }

  get notes(): ReadNotes {
    return { cut: this.#cut, skipped: this.#skipped };
  }

  /** Lines read so far. */
  get lineNumber(): number {
    return this.#lineNumber;
  }

  #parse(text: string): RecordLine | undefined {
    this.#lineNumber += 1;
    const trimmed = (this.#lineNumber === 1 ? text.replace(/^\uFEFF/, '') : text).trim();
    if (trimmed.length > lineLengthMax) {
      return this.#fail(this.#lineNumber, `longer than ${lineLengthMax} characters: this is no line of a record`);
    }
    if (this.#lineNumber === 1) return this.#parseHeader(trimmed);
    if (trimmed === '') return undefined;
    const value = parseJson(trimmed);
    if (!isObject(value)) return this.#fail(this.#lineNumber, `found ${excerpt(trimmed)}, expected an object in JSON`);
    const { kind } = value;
    if (typeof kind === 'string' && !isKnownKind(kind)) {
      this.#skipped.set(kind, (this.#skipped.get(kind) ?? 0) + 1);
      return undefined;
    }
    return this.#accept(value);
  }

  #parseHeader(text: string): RecordLine | undefined {
    const value = parseJson(text);
    if (!isObject(value) || value['format'] !== 'plimsoll-record') {
      return this.#fail(
        1,
        `not a Plimsoll record: found ${excerpt(text)}, expected a header with "format":"plimsoll-record"`,
      );
    }
    const { version } = value;
    if (typeof version === 'number' && version > recordVersion) {
      return this.#fail(
        1,
        `version ${version} of the format, but this Plimsoll reads up to ${recordVersion}: use a newer one`,
      );
    }
    return this.#accept(value);
  }

  #accept(value: unknown): RecordLine | undefined {
    const faults: Fault[] = [];
    if (!isLine(value, faults)) return this.#fail(this.#lineNumber, faults.map(sentenceOf).join('; '));
    const problem = this.#order.accept(value) ?? contradiction(value);
    return problem === undefined ? value : this.#fail(this.#lineNumber, problem);
  }

  #fail(line: number, message: string): undefined {
    this.#problem = problemAt(line, message);
    return undefined;
  }
}

const problemAt = (line: number, message: string): ReadProblem => ({ line, message: `line ${line}: ${message}` });
const sentenceOf = ({ where, found, expected }: Fault): string => `${where}: found ${found}, expected ${expected}`;
const excerpt = (text: string): string => (text === '' ? 'nothing' : show(text));

/** The value that the text spells, or undefined when it is no JSON (which cannot spell undefined). */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
