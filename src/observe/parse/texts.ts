// Texts by number: a column of millions of rows keeps numbers, and each different text once.
//
// The bound: so many different texts; whatever comes after them is `(others)`. A column in which every row has a text of its
// own (a path with an identifier in it) says nothing by its texts anyway, and would not fit.

const textsMax = 65_536;
const others = '(others)';

export class Texts {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  /** In the order in which they were first seen; index is the number. */
  get all(): readonly string[] {
    return this.#texts;
  }

  /** Whether no other text gets a number of its own any more. */
  get isFull(): boolean {
    return this.#texts.length >= textsMax - 1;
  }

  /** The number of `(others)`. */
  get others(): number {
    return this.#add(others);
  }

  /** The number of this text, −1 for none. Hot: once a column and row. */
  intern(text: string | undefined): number {
    if (text === undefined) return -1;
    const known = this.#numbers.get(text);
    return known ?? this.#add(this.isFull ? others : detached(text));
  }

  #add(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#texts.length);
    return this.#texts.push(text) - 1;
  }
}

/** A copy of its own: a slice of a line would keep the whole line (and what that is a slice of) in memory. */
export function detached(text: string): string {
  return text.length < 13 ? text : Array.from(text).join('');
}
