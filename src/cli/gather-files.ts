// What a person points at, opened: files, folders with everything in them, `-` for standard input; gzip and tar are unpacked, by
// content and not by name.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { UsageError } from './exit.ts';
import { isTar, untar } from './untar.ts';

export interface GatheredFile {
  readonly path: string;
  readonly text: string;
  /** What a person must know of how it was opened. */
  readonly remark?: string;
}

/** A folder with more files than this is no incident but somebody's disk. */
const filesMax = 2000;

/** All of them, in the order given, folders in the order of their names. Throws `UsageError` for what is not there. */
export function gatherFiles(paths: readonly string[]): GatheredFile[] {
  const files = paths.flatMap((path) => (path === '-' ? opened('standard input', readBytes(0, path)) : gathered(path)));
  if (files.length > filesMax) {
    throw new UsageError(`${files.length} files; give the ${filesMax} at most that belong to the incident`);
  }
  return files;
}

function gathered(path: string): GatheredFile[] {
  if (!isFolder(path)) return opened(path, readBytes(path, path));
  // The folder of a run: its record says all, and what stands beside it must not be looked at.
  const names = readdirSync(path).toSorted();
  if (names.includes('record.jsonl')) return gathered(join(path, 'record.jsonl'));
  return names.filter((name) => !name.startsWith('.')).flatMap((name) => gathered(join(path, name)));
}

function opened(path: string, bytes: Uint8Array): GatheredFile[] {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const { content, whole } = unzipped(path, bytes);
    const inner = opened(
      path.replace(/\.t?gz$/, (ending) => (ending === '.tgz' ? '.tar' : '')),
      content,
    );
    const remark = `${path}: the gzip was cut off; this is what came before`;
    return whole ? inner : inner.map((file) => ({ remark, ...file }));
  }
  if (isTar(bytes)) return untar(bytes).flatMap(({ name, content }) => opened(`${path}/${name}`, content));
  return [{ path, text: textOf(path, bytes) }];
}

/** As far as it goes: the last file of an incident is often cut off. */
function unzipped(path: string, bytes: Uint8Array): { content: Uint8Array; whole: boolean } {
  try {
    return { content: gunzipSync(bytes), whole: true };
  } catch {
    try {
      return { content: gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }), whole: false };
    } catch (error) {
      throw new UsageError(`${path}: a gzip that is broken (${messageOf(error)})`);
    }
  }
}

function textOf(path: string, bytes: Uint8Array): string {
  try {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error)}; cut out the time of the incident`);
  }
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

function readBytes(source: string | number, path: string): Uint8Array {
  try {
    return readFileSync(source);
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
