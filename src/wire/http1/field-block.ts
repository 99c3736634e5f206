// A block of fields (of a head, or the trailers) as offsets into the bytes that carried them. Nothing is decoded until
// somebody asks; a field costs four integers.
//
//   bytes   … X - R e p l i c a :   a p i - 2 \r \n …
//             ▲                 ▲   ▲         ▲
//          nameFrom          nameTo valueFrom valueTo         (all counted from `base`)
//
// Offsets count from `base` so that a block that began in one chunk and goes on in the next can be moved to a buffer of
// its own by changing two fields.

import { ascii, colon, comma, copyOf, cr, latin1, lf, lowerToken, sameToken, space, tab } from './bytes.ts';
import type { FieldNames } from './field-names.ts';
import type { Fields } from './events.ts';

export class FieldBlock implements Fields {
  bytes: Uint8Array = nothing;
  base = 0;
  count = 0;
  /** Grows on demand: most heads have fewer than sixteen fields, and idle connections keep their block. */
  offsets: Int32Array;
  /** `Connection` names more than `close`, `keep-alive` and `upgrade`. Rare, so that copying need not look. */
  connectionNamesOthers = false;

  constructor(fields = 16) {
    this.offsets = new Int32Array(fields * 4);
  }

  begin(bytes: Uint8Array, base: number): void {
    this.bytes = bytes;
    this.base = base;
    this.count = 0;
    this.connectionNamesOthers = false;
  }

  /** Hot. Records one field; positions are absolute in `bytes`. */
  add(nameFrom: number, nameTo: number, valueFrom: number, valueTo: number): void {
    const at = this.count * 4;
    if (at === this.offsets.length) this.#grow();
    const { base, offsets } = this;
    offsets[at] = nameFrom - base;
    offsets[at + 1] = nameTo - base;
    offsets[at + 2] = valueFrom - base;
    offsets[at + 3] = valueTo - base;
    this.count++;
  }

  /** The same fields over a copy of their bytes, `length` of them, to be kept. */
  copy(length: number): FieldBlock {
    const copy = new FieldBlock(this.count);
    copy.bytes = copyOf(this.bytes, this.base, this.base + length);
    copy.count = this.count;
    copy.offsets.set(this.offsets.subarray(0, this.count * 4));
    copy.connectionNamesOthers = this.connectionNamesOthers;
    return copy;
  }

  nameFrom(field: number): number {
    return this.base + (this.offsets[field * 4] ?? 0);
  }
  nameTo(field: number): number {
    return this.base + (this.offsets[field * 4 + 1] ?? 0);
  }
  valueFrom(field: number): number {
    return this.base + (this.offsets[field * 4 + 2] ?? 0);
  }
  valueTo(field: number): number {
    return this.base + (this.offsets[field * 4 + 3] ?? 0);
  }

  /** The next field called `lower` from number `from` on; −1 when there is none. */
  find(lower: Uint8Array, from: number): number {
    for (let field = from; field < this.count; field++) {
      if (sameToken(this.bytes, this.nameFrom(field), this.nameTo(field), lower)) return field;
    }
    return -1;
  }

  header(lowerCaseName: string): string | undefined {
    let value: string | undefined;
    for (let field = 0; field < this.count; field++) {
      if (!this.#named(field, lowerCaseName)) continue;
      const next = this.#value(field);
      value = value === undefined ? next : `${value}, ${next}`;
    }
    return value;
  }

  has(lowerCaseName: string): boolean {
    for (let field = 0; field < this.count; field++) if (this.#named(field, lowerCaseName)) return true;
    return false;
  }

  each(visit: (name: string, value: string) => void): void {
    for (let field = 0; field < this.count; field++) {
      visit(latin1(this.bytes, this.nameFrom(field), this.nameTo(field)), this.#value(field));
    }
  }

  copyFields(into: Uint8Array, at: number, except: FieldNames): number {
    const { bytes } = this;
    let to = at;
    for (let field = 0; field < this.count; field++) {
      const nameFrom = this.nameFrom(field);
      const nameTo = this.nameTo(field);
      if (except.has(bytes, nameFrom, nameTo)) continue;
      if (this.connectionNamesOthers && this.#namedByConnection(nameFrom, nameTo)) continue;
      const valueFrom = this.valueFrom(field);
      const valueTo = this.valueTo(field);
      if (to + (nameTo - nameFrom) + (valueTo - valueFrom) + 4 > into.length) return -1;
      for (let from = nameFrom; from < nameTo; from++) into[to++] = bytes[from] ?? 0;
      into[to++] = colon;
      into[to++] = space;
      for (let from = valueFrom; from < valueTo; from++) into[to++] = bytes[from] ?? 0;
      into[to++] = cr;
      into[to++] = lf;
    }
    return to;
  }

  /** Is the field one that `Connection` names, and therefore for this hop only (RFC 9110 section 7.6.1)? */
  #namedByConnection(nameFrom: number, nameTo: number): boolean {
    for (let field = this.find(connection, 0); field >= 0; field = this.find(connection, field + 1)) {
      const to = this.valueTo(field);
      for (let from = this.valueFrom(field); from < to;) {
        const stop = elementEnd(this.bytes, from, to);
        if (this.#sameName(nameFrom, nameTo, from, trimmedEnd(this.bytes, from, stop))) return true;
        from = elementStart(this.bytes, stop, to);
      }
    }
    return false;
  }

  #sameName(from: number, to: number, otherFrom: number, otherTo: number): boolean {
    if (to - from !== otherTo - otherFrom) return false;
    for (let index = 0; index < to - from; index++) {
      if (lowerToken[this.bytes[from + index] ?? 0] !== lowerToken[this.bytes[otherFrom + index] ?? 0]) return false;
    }
    return true;
  }

  #named(field: number, lowerCaseName: string): boolean {
    const from = this.nameFrom(field);
    if (this.nameTo(field) - from !== lowerCaseName.length) return false;
    for (let index = 0; index < lowerCaseName.length; index++) {
      if (lowerToken[this.bytes[from + index] ?? 0] !== lowerCaseName.charCodeAt(index)) return false;
    }
    return true;
  }

  #value(field: number): string {
    return latin1(this.bytes, this.valueFrom(field), this.valueTo(field));
  }

  #grow(): void {
    const larger = new Int32Array(this.offsets.length * 2);
    larger.set(this.offsets);
    this.offsets = larger;
  }
}

/** A comma-separated list (RFC 9110 section 5.6.1), walked without making anything: where the element at `from` ends … */
export function elementEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== comma) at++;
  return at;
}

/** … where it ends without the white space before the comma … */
export function trimmedEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && isBlank(bytes[end - 1])) end--;
  return end;
}

/** … and where the next one starts, after the comma and white space. */
export function elementStart(bytes: Uint8Array, elementStop: number, to: number): number {
  let at = elementStop + 1;
  while (at < to && isBlank(bytes[at])) at++;
  return at;
}

const isBlank = (code: number | undefined): boolean => code === space || code === tab;
const connection = ascii('connection');
const nothing = ascii('');
