// Writing a record: one line of JSON for each thing that happened, handed on as soon as it has. A line that is out of order
// or out of shape, or that contradicts itself, is our own mistake and stops the program: better here than in whoever reads
// the record next year.

import { assert } from '../base.ts';
import { isLine } from './line-shapes.ts';
import type { RecordLine } from './lines.ts';
import { LineOrder } from './order.ts';
import { contradiction } from './sense.ts';
import type { Fault } from './shape.ts';

/** A line as it stands in the file, its newline included. */
export function encodeLine(line: RecordLine): string {
  return `${JSON.stringify(line)}\n`;
}

export class RecordWriter {
  readonly #sink: (text: string) => void;
  readonly #order = new LineOrder();

  /** `sink` gets one whole line each time, its newline included. */
  constructor(sink: (text: string) => void) {
    this.#sink = sink;
  }

  write(line: RecordLine): void {
    const faults: Fault[] = [];
    const isSound = isLine(line, faults);
    const [fault] = faults;
    assert(isSound, `a ${line.kind} line: ${fault?.where} is ${fault?.found}, expected ${fault?.expected}`);
    const problem = contradiction(line) ?? this.#order.accept(line);
    assert(problem === undefined, `a ${line.kind} line: ${problem}`);
    this.#sink(encodeLine(line));
  }
}
