// What a person points at, as streams: files, folders with everything in them, `-` for standard input; gzip and tar are unpacked by
// content and not by name. Nothing is in memory but what is being read, so a log may be as large as the disk.
//
// Whoever reads wants the beginning of every file first (configurations tell how logs look), then one file after the other. A file is
// therefore closed after its beginning and opened again; what lies within a gzip or a tar is passed over again up to that place.
// Standard input comes only once: it stays open, and the parts of an archive on it are kept in memory, up to a bound.

import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from './exit.ts';
import { isTar, type TarHeader, TarReader } from './untar.ts';

export interface OpenedFile {
  readonly path: string;
  /** The first bytes, at least 512 where there are as many. */
  readonly head: Uint8Array;
  /** The whole of it, once. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** What a person must know of how it was opened; complete when it has been read. */
  readonly remarks: readonly string[];
}

/** A folder with more files than this is no incident but somebody's disk. */
const filesMax = 2000;
/** What is read before a file is closed again for the time being. */
const beginning = 65_536;
const headLength = 512;
/** Parts of archives up to this size are kept when they are met; larger ones are met again. */
const keptMax = 4 * 1024 * 1024;
const keptAltogether = 64 * 1024 * 1024;

/** All of them, in the order given, folders in the order of their names. Throws `UsageError` for what is not there. */
export async function openFiles(paths: readonly string[]): Promise<readonly OpenedFile[]> {
  const names = paths.flatMap((path) => (path === '-' ? [path] : namesIn(path)));
  if (names.length > filesMax) {
    throw new UsageError(`${names.length} files; give the ${filesMax} at most that belong to the incident`);
  }
  const opened: OpenedFile[] = [];
  for (const name of names) {
    const source = name === '-' ? onceOf(process.stdin) : fileSource(name);
    opened.push(...(await unpacked(name === '-' ? 'standard input' : name, source, [])));
  }
  return opened;
}

/** A file, or all files below a folder. Of a run its record says all, and what stands beside it must not be looked at. */
export function namesIn(path: string): readonly string[] {
  if (!isFolder(path)) return [path];
  const names = readdirSync(path).toSorted();
  if (names.includes('record.jsonl')) return [join(path, 'record.jsonl')];
  return names.filter((name) => !name.startsWith('.')).flatMap((name) => namesIn(join(path, name)));
}

/** Bytes that can be read, once or again and again. */
interface Source {
  open(): AsyncIterable<Uint8Array>;
  readonly again: boolean;
}

async function unpacked(path: string, source: Source, remarks: string[]): Promise<readonly OpenedFile[]> {
  const { head, source: whole } = await peeked(path, source);
  if (head[0] === 0x1f && head[1] === 0x8b) {
    const name = path.replace(/\.t?gz$/, (ending) => (ending === '.tgz' ? '.tar' : ''));
    return unpacked(name, unzipped(path, whole, remarks), remarks);
  }
  if (isTar(head)) return partsOf(path, whole, remarks);
  return [{ path, head, pieces: whole.again ? sparing(path, whole) : whole.open(), remarks }];
}

/** The first bytes, and a source that still has them. */
async function peeked(path: string, source: Source): Promise<{ readonly head: Uint8Array; readonly source: Source }> {
  if (source.again) return { head: await beginningOf(path, source, headLength), source };
  const iterator = source.open()[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  for (let length = 0; length < headLength;) {
    const next = await iterator.next();
    if (next.done === true) break;
    begun.push(next.value);
    length += next.value.length;
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    yield* begun;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  }
  return { head: Buffer.concat(begun), source: { open: rest, again: false } };
}

/** Its beginning, then, when more is asked for, the rest; closed in between. */
async function* sparing(path: string, source: Source): AsyncGenerator<Uint8Array> {
  const begun = await beginningOf(path, source, beginning);
  if (begun.length > 0) yield begun;
  if (begun.length < beginning) return;
  let passed = 0;
  for await (const piece of told(path, source.open())) {
    const from = Math.max(0, begun.length - passed);
    passed += piece.length;
    if (from < piece.length) yield piece.subarray(from);
  }
}

async function beginningOf(path: string, source: Source, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let have = 0;
  for await (const piece of told(path, source.open())) {
    pieces.push(piece);
    have += piece.length;
    if (have >= length) break;
  }
  return Buffer.concat(pieces);
}

/** The world's mistakes as a person's: which file, what was wrong. */
async function* told(path: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${path}: ${messageOf(error)}`);
  }
}

function fileSource(path: string): Source {
  return { open: () => createReadStream(path, { highWaterMark: 1 << 20 }), again: true };
}

function onceOf(stream: AsyncIterable<Uint8Array>): Source {
  return { open: () => stream, again: false };
}

/** As far as it goes: the last file of an incident is often cut off. */
function unzipped(path: string, source: Source, remarks: string[]): Source {
  async function* open(): AsyncGenerator<Uint8Array> {
    let given = 0;
    const gunzip = Readable.from(source.open()).pipe(createGunzip({ chunkSize: 1 << 18 }));
    try {
      for await (const piece of gunzip) {
        if (!(piece instanceof Uint8Array)) continue;
        given += piece.length;
        yield piece;
      }
    } catch (error) {
      const isCut = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';
      if (!isCut || given === 0) throw new UsageError(`${path}: a gzip that is broken (${messageOf(error)})`);
      const remark = `${path}: the gzip was cut off; this is what came before`;
      if (!remarks.includes(remark)) remarks.push(remark);
    }
  }
  return { open, again: source.again };
}

/** The files of an archive: small ones are kept, large ones are found again. */
async function partsOf(path: string, archive: Source, remarks: string[]): Promise<readonly OpenedFile[]> {
  const parts: { readonly header: TarHeader; readonly kept: Buffer | undefined }[] = [];
  let altogether = 0;
  for await (const { header, pieces } of new TarReader(told(path, archive.open())).entries()) {
    const keep = !archive.again || (header.size <= keptMax && altogether + header.size <= keptAltogether);
    if (!archive.again && altogether + header.size > 4 * keptAltogether) {
      throw new UsageError(`${path}: an archive of more than 256 MiB; save it as a file and give its name`);
    }
    const own: Uint8Array[] = [];
    if (keep) for await (const piece of pieces) own.push(Buffer.from(piece));
    altogether += keep ? header.size : 0;
    parts.push({ header, kept: keep ? Buffer.concat(own) : undefined });
  }
  const opened: OpenedFile[] = [];
  for (const [index, { header, kept }] of parts.entries()) {
    const source: Source =
      kept === undefined ? partOf(path, archive, index) : { open: () => Readable.from([kept]), again: true };
    opened.push(...(await unpacked(`${path}/${header.name}`, source, remarks)));
  }
  return opened;
}

function partOf(path: string, archive: Source, wanted: number): Source {
  async function* open(): AsyncGenerator<Uint8Array> {
    let index = 0;
    for await (const { pieces } of new TarReader(told(path, archive.open())).entries()) {
      if (index === wanted) {
        yield* pieces;
        return;
      }
      index += 1;
    }
  }
  return { open, again: true };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') {
      throw new UsageError(
        `${path}: there is no such file; expected a record.jsonl, the folder of a run, or what an incident left behind: ` +
          'logs, metrics, configurations, notes',
      );
    }
    throw new UsageError(`${path}: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
