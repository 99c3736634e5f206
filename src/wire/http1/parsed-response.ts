// What the bytes of a response's head say, apart from what was asked: the status line as positions, the fields, and what the
// fields say about the message. A reader has one that it fills again and again; copies are remembered (see known-heads.ts).

import type { FieldBlock } from './field-block.ts';
import type { HeadNotes } from './events.ts';
import type { Framing } from './framing.ts';
import type { Known } from './known-heads.ts';
import { knownText } from './known-texts.ts';

export class ParsedResponse implements Known, HeadNotes {
  readonly block: FieldBlock;
  readonly framing: Framing;
  length = 0;
  made: unknown = undefined;
  minorVersion: 0 | 1 = 1;
  status = 0;
  /** Counted from the beginning of the head. */
  reasonFrom = 0;
  reasonTo = 0;
  /** Of a copy: the watched values as texts. */
  #watched: readonly (string | undefined)[] | undefined;

  constructor(block: FieldBlock, framing: Framing) {
    this.block = block;
    this.framing = framing;
  }

  get reason(): string {
    const { bytes, base } = this.block;
    return knownText(bytes, base + this.reasonFrom, base + this.reasonTo);
  }

  /** Hot. */
  watched(index: number): string | undefined {
    if (this.#watched !== undefined) return this.#watched[index];
    return this.#text(this.framing.watchedFields[index] ?? -1);
  }

  /** To be kept: refers to nothing that was lent. */
  copy(length: number): ParsedResponse {
    const copy = new ParsedResponse(this.block.copy(length), this.framing.copy());
    copy.length = length;
    copy.minorVersion = this.minorVersion;
    copy.status = this.status;
    copy.reasonFrom = this.reasonFrom;
    copy.reasonTo = this.reasonTo;
    copy.#watched = Array.from(this.framing.watchedFields, (field) => this.#text(field));
    return copy;
  }

  #text(field: number): string | undefined {
    const { block } = this;
    return field < 0 ? undefined : knownText(block.bytes, block.valueFrom(field), block.valueTo(field));
  }
}
