// What a person points at, a record, the folder of a run, or the logs of a balancer, as one record.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readForeign } from '../observe.ts';
import { type ReadNotes, readRecord, recordOf, type RunRecord } from '../record.ts';
import { UsageError } from './exit.ts';
import { version } from './version.ts';

export interface Evidence {
  readonly record: RunRecord;
  /** What was understood and what was not, a sentence each, for stderr. */
  readonly remarks: readonly string[];
  /** The record's own path; undefined when it was made of foreign files. */
  readonly file: string | undefined;
}

/** Throws `UsageError` for what cannot be read or understood: which file, what was found, what would be right. */
export function readEvidence(paths: readonly string[]): Evidence {
  const files = paths.map(readFile);
  const records = files.filter((file) => looksLikeRecord(file.text));
  const [first, ...others] = records;
  if (first === undefined) return foreignEvidence(files);
  if (files.length > 1) {
    const beside = others[0] ?? files.find((file) => file !== first);
    throw new UsageError(
      `${first.path} is a Plimsoll record, and ${beside?.path} is another piece of evidence; give one record, or the logs of one balancer`,
    );
  }
  return recordEvidence(first);
}

interface File {
  readonly path: string;
  readonly text: string;
}

function recordEvidence(file: File): Evidence {
  const read = readRecord(file.text);
  if ('problem' in read) throw new UsageError(`${file.path}: ${read.problem.message}`);
  return { record: read.record, remarks: remarksOf(read.notes, read.record, file.path), file: file.path };
}

function remarksOf(notes: ReadNotes, record: RunRecord, path: string): string[] {
  const remarks: string[] = [];
  if (notes.cut !== undefined)
    remarks.push(`${path}: line ${notes.cut.line} was cut off; everything before it is here`);
  for (const [kind, count] of notes.skipped)
    remarks.push(`${path}: ${count} lines of the unknown kind "${kind}" were skipped`);
  if (!record.complete) remarks.push(`${path}: the run did not come to its end; this is what it had recorded`);
  return remarks;
}

function foreignEvidence(files: readonly File[]): Evidence {
  const read = readForeign(
    files.map((file) => ({ name: file.path, text: file.text })),
    version,
  );
  if (read.kind === 'problem') throw new UsageError(read.message);
  const remarks = read.notes.flatMap((note) => [
    `${note.file}: ${note.format}, ${note.understood} of ${note.lines} lines understood`,
    ...note.foreign.slice(0, 1).map((foreign) => `  not understood, line ${foreign.line}: ${foreign.text}`),
  ]);
  return { record: recordOf(read.lines), remarks, file: undefined };
}

function readFile(path: string): File {
  try {
    const whole = statSync(path).isDirectory() ? join(path, 'record.jsonl') : path;
    return { path: whole, text: readFileSync(whole, 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') {
      throw new UsageError(
        `${path}: there is no such file; expected a record.jsonl, the folder of a run, or the logs of a balancer`,
      );
    }
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function looksLikeRecord(text: string): boolean {
  return text.slice(0, 400).includes('"plimsoll-record"');
}
