// What a person points at, understood: a record of our own, or whatever else an incident left behind as a dossier. Logs that
// know the replica of every request are a record as well, and then there are both.

import { type DossierReading, readDossierStreams, readForeign, requestsMax } from '../observe.ts';
import { type Dossier, type ReadNotes, readRecord, recordOf, type RequestTable, type RunRecord } from '../record.ts';
import { UsageError } from './exit.ts';
import { type OpenedFile, openFiles } from './open-files.ts';
import { version } from './version.ts';

export interface Evidence {
  readonly record: RunRecord | undefined;
  readonly dossier: Dossier | undefined;
  /** What was understood and what was not, a sentence each, for stderr. */
  readonly remarks: readonly string[];
  /** The record's own path; undefined when it was made of foreign files. */
  readonly file: string | undefined;
}

/** A log up to this size is kept as text beside what was read of it. */
const textMax = 24 * 1024 * 1024;

/** Throws `UsageError` for what cannot be read or understood: which file, what was found, what would be right. */
export async function readEvidence(paths: readonly string[], further: readonly OpenedFile[] = []): Promise<Evidence> {
  const files = [...(await openFiles(paths)), ...further];
  const [first, ...others] = files.filter(({ head }) => looksLikeRecord(head));
  if (first === undefined) return foreignEvidence(files);
  if (files.length > 1) {
    const beside = others[0] ?? files.find((file) => file !== first);
    throw new UsageError(
      `${first.path} is a Plimsoll record, and ${beside?.path} is another piece of evidence; give one record, or what one incident left behind`,
    );
  }
  return { ...(await recordEvidence(first)), dossier: undefined };
}

/** The record of a run, or one made of a balancer's logs. Throws `UsageError` where there is neither. */
export async function readRecordAt(
  path: string,
): Promise<{ readonly record: RunRecord; readonly remarks: readonly string[] }> {
  const { record, remarks } = await readEvidence([path]);
  if (record === undefined) {
    throw new UsageError(
      `${path}: no record, and nothing that knows the replica of each request; plimsoll diagnose reads more kinds of files`,
    );
  }
  return { record, remarks };
}

async function recordEvidence(file: OpenedFile): Promise<{ record: RunRecord; remarks: string[]; file: string }> {
  const pieces: Buffer[] = [];
  for await (const piece of file.pieces) pieces.push(Buffer.from(piece));
  const read = readRecord(Buffer.concat(pieces).toString('utf8'));
  if ('problem' in read) throw new UsageError(`${file.path}: ${read.problem.message}`);
  const remarks = [...file.remarks, ...remarksOf(read.notes, read.record, file.path)];
  return { record: read.record, remarks, file: file.path };
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

async function foreignEvidence(files: readonly OpenedFile[]): Promise<Evidence> {
  const kept = new Map<string, Buffer[]>();
  const reading = await readDossierStreams(
    files.map((file) => ({ name: file.path, pieces: keeping(file, (pieces) => kept.set(file.path, pieces)) })),
  );
  if (reading.dossier.sources.length === 0) {
    throw new UsageError(reading.problems.length === 0 ? 'there is no file in there' : reading.problems.join('\n'));
  }
  // Files that only the dossier can read do not keep the others from being a record.
  const balancers = files.filter(({ path }) => isBalancers(reading, path));
  const texts = balancers.flatMap(({ path }) => {
    const pieces = kept.get(path);
    return pieces === undefined ? [] : [{ name: path, text: Buffer.concat(pieces).toString('utf8') }];
  });
  const large = balancers.filter(({ path }) => !kept.has(path));
  const tables = reading.dossier.requests.filter(
    ({ origin, skipped }) => skipped === 0 && large.some(({ path }) => path === origin.file),
  );
  const timed = readForeign(texts, version, tables);
  return {
    record: timed.kind === 'record' ? recordOf(timed.lines) : undefined,
    dossier: reading.dossier,
    remarks: [
      ...new Set(files.flatMap(({ remarks }) => remarks)),
      ...reading.dossier.sources.flatMap(sourceRemarks),
      ...reading.problems,
      ...large.flatMap(
        ({ path }) =>
          aboutLarge(
            path,
            tables.find(({ origin }) => origin.file === path),
          ) ?? [],
      ),
    ],
    file: undefined,
  };
}

/** What a person must know of the record that was made of a large log, or was not. */
function aboutLarge(path: string, table: RequestTable | undefined): string | undefined {
  if (table === undefined) {
    return `${path}: too many requests for a look second by second; cut out the time of the incident to have that as well`;
  }
  return table.count <= requestsMax
    ? undefined
    : `${path}: second by second only the worst ${requestsMax} requests in a row were looked at`;
}

/** The pieces as they pass, and at the end all of them, where they are not too many. */
async function* keeping(file: OpenedFile, whole: (pieces: Buffer[]) => void): AsyncGenerator<Uint8Array> {
  let pieces: Buffer[] | undefined = [];
  let length = 0;
  for await (const piece of file.pieces) {
    length += piece.length;
    if (length > textMax) pieces = undefined;
    // A stream may use its memory again.
    pieces?.push(Buffer.from(piece));
    yield piece;
  }
  if (pieces !== undefined) whole(pieces);
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

function looksLikeRecord(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 400)).includes('"plimsoll-record"');
}
