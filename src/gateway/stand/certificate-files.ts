// Certificates of the tests as files in a folder of their own.

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateFolder {
  readonly folder: string;
  /** What a configuration says of it. */
  readonly entry: (name: string) => { readonly cert_file: string; readonly key_file: string };
  /** Puts a pair there, as a whole: nobody sees half a file. */
  write(name: string, pair: Pair): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function certificateFolder(pairs: Readonly<Record<string, Pair>>): Promise<CertificateFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-tls-'));
  const put = async (file: string, text: string): Promise<void> => {
    await writeFile(join(folder, `${file}.new`), text);
    await rename(join(folder, `${file}.new`), join(folder, file));
  };
  const write = async (name: string, { cert, key }: Pair): Promise<void> => {
    await put(`${name}.key`, key);
    await put(`${name}.pem`, cert);
  };
  for (const [name, pair] of Object.entries(pairs)) await write(name, pair);
  return {
    folder,
    entry: (name) => ({ cert_file: join(folder, `${name}.pem`), key_file: join(folder, `${name}.key`) }),
    write,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
