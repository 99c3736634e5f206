// What a person points at, understood: a record of our own, or whatever else an incident left behind as a dossier. Logs that
// know the replica of every request are a record as well, and then there are both.

import { type DossierReading, readDossier, readForeign } from '../observe.ts';
import { type Dossier, type ReadNotes, readRecord, recordOf, type RunRecord } from '../record.ts';
import { UsageError } from './exit.ts';
import { gatherFiles, type GatheredFile } from './gather-files.ts';
import { version } from './version.ts';

export interface Evidence {
  readonly record: RunRecord | undefined;
  readonly dossier: Dossier | undefined;
  /** What was understood and what was not, a sentence each, for stderr. */
  readonly remarks: readonly string[];
  /** The record's own path; undefined when it was made of foreign files. */
  readonly file: string | undefined;
}

/** Throws `UsageError` for what cannot be read or understood: which file, what was found, what would be right. */
export function readEvidence(paths: readonly string[]): Evidence {
  const files = gatherFiles(paths);
  const [first, ...others] = files.filter((file) => looksLikeRecord(file.text));
  if (first === undefined) return foreignEvidence(files);
  if (files.length > 1) {
    const beside = others[0] ?? files.find((file) => file !== first);
    throw new UsageError(
      `${first.path} is a Plimsoll record, and ${beside?.path} is another piece of evidence; give one record, or what one incident left behind`,
    );
  }
  return { ...recordEvidence(first), dossier: undefined };
}

/** The record of a run, or one made of a balancer's logs. Throws `UsageError` where there is neither. */
export function readRecordAt(path: string): { readonly record: RunRecord; readonly remarks: readonly string[] } {
  const { record, remarks } = readEvidence([path]);
  if (record === undefined) {
    throw new UsageError(
      `${path}: no record, and nothing that knows the replica of each request; plimsoll diagnose reads more kinds of files`,
    );
  }
  return { record, remarks };
}

function recordEvidence(file: GatheredFile): { record: RunRecord; remarks: string[]; file: string } {
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

function foreignEvidence(files: readonly GatheredFile[]): Evidence {
  const named = files.map((file) => ({ name: file.path, text: file.text }));
  const reading = readDossier(named);
  if (reading.dossier.sources.length === 0) {
    throw new UsageError(reading.problems.length === 0 ? 'there is no file in there' : reading.problems.join('\n'));
  }
  // Files that only the dossier can read do not keep the others from being a record.
  const timed = readForeign(
    named.filter(({ name }) => isBalancers(reading, name)),
    version,
  );
  return {
    record: timed.kind === 'record' ? recordOf(timed.lines) : undefined,
    dossier: reading.dossier,
    remarks: [
      ...new Set(files.flatMap(({ remark }) => remark ?? [])),
      ...reading.dossier.sources.flatMap(sourceRemarks),
      ...reading.problems,
    ],
    file: undefined,
  };
}

/** Whether a file is one of those of which a record can be made. */
function isBalancers({ dossier }: DossierReading, name: string): boolean {
  const format = dossier.sources.find(({ file }) => file === name)?.format ?? '';
  return /^(?:HAProxy log|HAProxy statistics|Envoy access log|nginx access log|nginx configuration)/.test(format);
}

function sourceRemarks({ file, format, lines, understood, foreign }: Dossier['sources'][number]): string[] {
  return [
    `${file}: ${format}, ${understood} of ${lines} lines understood`,
    ...foreign.slice(0, 1).map(({ line, text }) => `  not understood, line ${line}: ${text}`),
  ];
}

function looksLikeRecord(text: string): boolean {
  return text.slice(0, 400).includes('"plimsoll-record"');
}
