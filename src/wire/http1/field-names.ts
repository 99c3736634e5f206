// A set of field names that is asked with bytes, in any case: for the names that a gateway does not forward, or that may not
// stand in trailers. Built once; asking allocates nothing and compares only names of the same length.

import { ascii, sameToken } from './bytes.ts';

export class FieldNames {
  readonly #byLength: Uint8Array[][] = [];

  /** Names in lower case. */
  constructor(lowerCaseNames: Iterable<string>) {
    for (const name of lowerCaseNames) (this.#byLength[name.length] ??= []).push(ascii(name));
  }

  has(bytes: Uint8Array, from: number, to: number): boolean {
    const names = this.#byLength[to - from];
    if (names === undefined) return false;
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      if (name !== undefined && sameToken(bytes, from, to, name)) return true;
    }
    return false;
  }
}

const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade', 'trailer'];

/** What an intermediary never passes on (RFC 9110 section 7.6.1), and `others` of its own choice. */
export function notForwarded(others: Iterable<string> = []): FieldNames {
  return new FieldNames([...hopByHop, ...others]);
}
