// A tar archive as a list of files: 512-byte headers with the name, the size in octal and a type, each before its content, which
// is padded to whole blocks. Formats ustar, GNU (long names) and pax (the `path` record); links and folders are left out.

export interface TarEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

const block = 512;

/** `ustar` at 257, as every tar of this century has it. */
export function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= block && ascii(bytes, 257, 5) === 'ustar';
}

/** Ends at the first empty header, at a header that is none, or where the archive was cut off. */
export function untar(bytes: Uint8Array): TarEntry[] {
  const entries: TarEntry[] = [];
  let longName: string | undefined;
  for (let at = 0; at + block <= bytes.length;) {
    const size = Number.parseInt(ascii(bytes, at + 124, 12), 8);
    if (bytes[at] === 0 || Number.isNaN(size)) break;
    const type = ascii(bytes, at + 156, 1);
    const content = bytes.subarray(at + block, at + block + size);
    const prefix = ascii(bytes, at + 345, 155);
    const name = ascii(bytes, at, 100);
    if (type === 'L') longName = ascii(content, 0, content.length);
    else if (type === 'x') longName = /^\d+ path=(.*)$/m.exec(ascii(content, 0, content.length))?.[1] ?? longName;
    else {
      if (type === '0' || type === '') {
        entries.push({ name: longName ?? (prefix === '' ? name : `${prefix}/${name}`), content });
      }
      longName = undefined;
    }
    at += block + Math.ceil(size / block) * block;
  }
  return entries;
}

/** Text up to the first zero. */
function ascii(bytes: Uint8Array, from: number, length: number): string {
  const end = bytes.subarray(from, from + length).indexOf(0);
  return Buffer.from(bytes.subarray(from, from + (end === -1 ? length : end))).toString('latin1');
}

export interface TarHeader {
  readonly name: string;
  /** Of the content, bytes. */
  readonly size: number;
}

/** The same from a stream: one file after the other, whatever their sizes. The pieces of a file are read before the next file is
 * asked for; what of them was not read is passed over. */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #have: Uint8Array = new Uint8Array(0);
  /** Content and padding of the present file that nobody has taken yet. */
  #left = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Ends like `untar`. */
  async *entries(): AsyncGenerator<{ readonly header: TarHeader; readonly pieces: AsyncIterable<Uint8Array> }> {
    try {
      let longName: string | undefined;
      for (;;) {
        await this.#pass();
        const head = await this.#take(block);
        const size = Number.parseInt(ascii(head, 124, 12), 8);
        if (head.length < block || head[0] === 0 || Number.isNaN(size)) return;
        const type = ascii(head, 156, 1);
        this.#left = Math.ceil(size / block) * block;
        if (type === 'L' || type === 'x') {
          const content = await this.#take(this.#left);
          this.#left = 0;
          const text = ascii(content, 0, size);
          longName = type === 'L' ? text : (/^\d+ path=(.*)$/m.exec(text)?.[1] ?? longName);
          continue;
        }
        const prefix = ascii(head, 345, 155);
        const own = ascii(head, 0, 100);
        const name = longName ?? (prefix === '' ? own : `${prefix}/${own}`);
        longName = undefined;
        if (type === '0' || type === '') yield { header: { name, size }, pieces: this.#content(size) };
      }
    } finally {
      await this.#source.return?.();
    }
  }

  async *#content(size: number): AsyncGenerator<Uint8Array> {
    for (let rest = size; rest > 0;) {
      if (this.#have.length === 0 && !(await this.#more())) return;
      const piece = this.#have.subarray(0, rest);
      this.#have = this.#have.subarray(piece.length);
      this.#left -= piece.length;
      rest -= piece.length;
      yield piece;
    }
  }

  async #pass(): Promise<void> {
    while (this.#left > 0) {
      if (this.#have.length === 0 && !(await this.#more())) return;
      const passed = Math.min(this.#left, this.#have.length);
      this.#have = this.#have.subarray(passed);
      this.#left -= passed;
    }
  }

  /** So many bytes, or fewer where the archive ends. */
  async #take(length: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let have = 0;
    while (have < length) {
      if (this.#have.length === 0 && !(await this.#more())) break;
      const piece = this.#have.subarray(0, length - have);
      pieces.push(piece);
      have += piece.length;
      this.#have = this.#have.subarray(piece.length);
    }
    return Buffer.concat(pieces);
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#have = next.value;
    return true;
  }
}
