// Bytes to strings, where the same few texts come again and again: the replica that answered, the method, the reason. A text
// seen before is found by its bytes and returned as the string it was then; only a new one is made. Bounded: when the table
// is full, or a text is long, every call makes its string, which is right and merely slower.

import { latin1 } from './bytes.ts';

const slots = 256;
const textLengthMax = 64;

/** Hot. The text of `bytes` from `from` to `to`. */
export function knownText(bytes: Uint8Array, from: number, to: number): string {
  const length = to - from;
  if (length > textLengthMax) return latin1(bytes, from, to);
  let hash = length;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  // Open addressing with three tries: a full neighbourhood is as good as a full table.
  for (let step = 0; step < 3; step++) {
    const slot = (hash + step * 89) & (slots - 1);
    const known = texts[slot];
    if (known === undefined) return (texts[slot] = latin1(bytes, from, to));
    if (says(known, bytes, from, length)) return known;
  }
  return latin1(bytes, from, to);
}

function says(text: string, bytes: Uint8Array, from: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index++) if (text.charCodeAt(index) !== bytes[from + index]) return false;
  return true;
}

/** Shared by all readers: what it holds can be seen only as speed. */
const texts: (string | undefined)[] = Array.from({ length: slots }, () => undefined);
