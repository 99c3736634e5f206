// What the bytes of a request's head say: the request line as positions, the fields, and what the fields say about the message.
// A reader has one that it fills again and again; copies are remembered (see known-heads.ts).

import { latin1 } from './bytes.ts';
import type { FieldBlock } from './field-block.ts';
import type { HeadNotes } from './events.ts';
import type { Framing } from './framing.ts';
import type { Known } from './known-heads.ts';
import { knownText } from './known-texts.ts';

export class ParsedRequest implements Known, HeadNotes {
  readonly block: FieldBlock;
  readonly framing: Framing;
  length = 0;
  made: unknown = undefined;
  minorVersion: 0 | 1 = 1;
  /** Counted from the beginning of the head. The method begins there. */
  methodTo = 0;
  targetFrom = 0;
  targetTo = 0;
  /** Of an absolute target or one of CONNECT: where its authority is; both 0 for none. */
  authorityFrom = 0;
  authorityTo = 0;
  isConnect = false;
  /** Of a copy: texts that were asked for, or would be soon. */
  #kept: Texts | undefined;

  constructor(block: FieldBlock, framing: Framing) {
    this.block = block;
    this.framing = framing;
  }

  get method(): string {
    return this.#kept?.method ?? this.#known(0, this.methodTo);
  }

  get target(): string {
    const { bytes, base } = this.block;
    return this.#kept?.target ?? latin1(bytes, base + this.targetFrom, base + this.targetTo);
  }

  get authority(): string | undefined {
    if (this.#kept !== undefined) return this.#kept.authority;
    if (this.authorityTo > 0) return this.#known(this.authorityFrom, this.authorityTo);
    return this.#field(this.framing.hostField);
  }

  get path(): string {
    if (this.authorityTo === 0 || this.isConnect) return this.target;
    const { bytes, base } = this.block;
    const path = latin1(bytes, base + this.authorityTo, base + this.targetTo);
    // RFC 9112 section 3.2.4: OPTIONS for an authority without a path asks the server as a whole.
    if (path === '') return this.method === 'OPTIONS' ? '*' : '/';
    return path.startsWith('?') ? `/${path}` : path;
  }

  /** Hot. Writes the path without making a text of it; the new length, or −1 when it does not fit. */
  copyPath(into: Uint8Array, at: number): number {
    // A target that names its host is rare, and its path may have to be made up.
    if (this.authorityTo !== 0 && !this.isConnect) return copyText(this.path, into, at);
    const { bytes, base } = this.block;
    const from = base + this.targetFrom;
    const length = this.targetTo - this.targetFrom;
    if (at + length > into.length) return -1;
    for (let index = 0; index < length; index++) into[at + index] = bytes[from + index] ?? 0;
    return at + length;
  }

  /** HTTP/1.0 knows no interim responses; the expectation is then ignored (RFC 9110 section 10.1.1). */
  get expectsContinue(): boolean {
    return this.framing.expectsContinue && this.minorVersion === 1;
  }

  get upgrade(): string | undefined {
    if (!this.framing.upgrade || this.minorVersion === 0) return undefined;
    const protocol = this.#field(this.framing.upgradeField);
    return protocol === '' ? undefined : protocol;
  }

  watched(index: number): string | undefined {
    if (this.#kept !== undefined) return this.#kept.watched[index];
    return this.#field(this.framing.watchedFields[index] ?? -1);
  }

  /** To be kept: refers to nothing that was lent. */
  copy(length: number): ParsedRequest {
    const copy = new ParsedRequest(this.block.copy(length), this.framing.copy());
    copy.length = length;
    copy.minorVersion = this.minorVersion;
    copy.methodTo = this.methodTo;
    copy.targetFrom = this.targetFrom;
    copy.targetTo = this.targetTo;
    copy.authorityFrom = this.authorityFrom;
    copy.authorityTo = this.authorityTo;
    copy.isConnect = this.isConnect;
    const { method, target, authority } = this;
    const watched = Array.from(this.framing.watchedFields, (field) => this.#field(field));
    copy.#kept = { method, target, authority, watched };
    return copy;
  }

  #field(field: number): string | undefined {
    const { block } = this;
    return field < 0 ? undefined : knownText(block.bytes, block.valueFrom(field), block.valueTo(field));
  }

  #known(from: number, to: number): string {
    const { bytes, base } = this.block;
    return knownText(bytes, base + from, base + to);
  }
}

interface Texts {
  readonly method: string;
  readonly target: string;
  readonly authority: string | undefined;
  readonly watched: readonly (string | undefined)[];
}

function copyText(text: string, into: Uint8Array, at: number): number {
  if (at + text.length > into.length) return -1;
  for (let index = 0; index < text.length; index++) into[at + index] = text.charCodeAt(index);
  return at + text.length;
}
