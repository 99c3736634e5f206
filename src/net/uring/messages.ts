// Sends of several pieces, as the kernel reads them: a `struct msghdr` that points to a list of addresses and lengths. It reads them
// when the submission is told, so each submission has a place for one: that is free when the submission's own is.
//
//   place   name – | list, its length | control – | flags –          56 bytes
//           address, length | address, length | …                    16 bytes for each piece

import { assert } from '../../base.ts';
import type { Foreign } from './libc.ts';
import type { Piece } from './send-chunks.ts';

/** So many pieces go out in one send. */
export const piecesMax = 16;

const headerWords = 14;
const placeWords = headerWords + piecesMax * 4;

export class Messages {
  readonly #words: Int32Array;
  readonly #address: number;

  /** `places`: how many submissions there can be. */
  constructor(foreign: Foreign, places: number) {
    this.#words = new Int32Array(places * placeWords);
    this.#address = foreign.addressOf(new Uint8Array(this.#words.buffer));
  }

  /** Hot. Returns the address of the message, for the submission in this place. */
  write(place: number, pieces: readonly Piece[]): number {
    assert(pieces.length <= piecesMax, 'a message has room for its pieces');
    const at = place * placeWords;
    let word = at + headerWords;
    this.#writeNumber(at + 4, this.#address + word * 4);
    this.#words[at + 6] = pieces.length;
    for (const piece of pieces) {
      this.#writeNumber(word, piece.address + piece.start);
      this.#writeNumber(word + 2, piece.end - piece.start);
      word += 4;
    }
    return this.#address + at * 4;
  }

  /** Of eight bytes. */
  #writeNumber(word: number, value: number): void {
    this.#words[word] = value;
    this.#words[word + 1] = value / 2 ** 32;
  }
}
