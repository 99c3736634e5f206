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
