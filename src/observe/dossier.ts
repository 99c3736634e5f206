// Whatever an incident left behind, in any order, as one dossier. Each file is recognised by its content and handed to the
// one reader that is surest of it; configurations go first, because they say how to read logs.
//
// Nothing here fails for what is in a file. What cannot be read is said, with the file and what was expected.

import type { Dossier, SampleFact, SourceNote } from '../record.ts';
import { formats as allFormats } from './formats.ts';
import { LineFeeder } from './line-feeder.ts';
import { type Format, firstLines } from './parse/format.ts';
import { firstReadings } from './parse/readings.ts';
import { type Hints, noHints, Sink } from './parse/sink.ts';
import { unwrapText, wrappingOf } from './parse/wrapping.ts';

/** A file that is in memory. */
export type DossierFile =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly bytes: Uint8Array };

/** A file in pieces, read once and in order: it may be larger than memory. */
export interface StreamedFile {
  readonly name: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface DossierReading {
  readonly dossier: Dossier;
  /** What a person must know: files that were not read, and what was left out of those that were. */
  readonly problems: readonly string[];
}

const headLength = 65_536;
/** What is not read line by line must fit into memory. */
const wholeMax = 256 * 1024 * 1024;
/** Below this nobody is sure enough. */
const confidenceMin = 0.3;

/** Reads all files together. `formats`: the table, for tests. */
export function readDossier(files: readonly DossierFile[], formats: readonly Format[] = allFormats): DossierReading {
  const contents = files.map((file) => ('text' in file ? Buffer.from(file.text) : bufferOf(file.bytes)));
  const opened = files.map((file, index) => openFile(file.name, contents[index] ?? Buffer.alloc(0)));
  const parts = new Map<number, FileFacts>();
  const problems: string[] = [];
  for (const { index, reading } of readingsOf(opened, formats, problems)) {
    reading.feed(contents[index] ?? Buffer.alloc(0));
    parts.set(index, reading.finish());
  }
  return concluded(parts, problems);
}

/** The same for files that are read as they come. Rejects only when a stream does. */
export async function readDossierStreams(
  files: readonly StreamedFile[],
  formats: readonly Format[] = allFormats,
): Promise<DossierReading> {
  const streams = files.map((file) => file.pieces[Symbol.asyncIterator]());
  const begun = await Promise.all(streams.map(beginningOf));
  const opened = files.map((file, index) => openFile(file.name, begun[index] ?? Buffer.alloc(0)));
  const parts = new Map<number, FileFacts>();
  const problems: string[] = [];
  for (const { index, reading } of readingsOf(opened, formats, problems)) {
    reading.feed(begun[index] ?? Buffer.alloc(0));
    begun[index] = Buffer.alloc(0);
    for (let next = await streams[index]?.next(); next?.done === false; next = await streams[index]?.next()) {
      reading.feed(bufferOf(next.value));
    }
    parts.set(index, reading.finish());
  }
  return concluded(parts, problems);
}

/** As many pieces as are needed to recognise a file. */
async function beginningOf(stream: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let length = 0; length < headLength;) {
    const next = await stream.next();
    if (next.done === true) break;
    // The stream may reuse its memory.
    pieces.push(Buffer.from(next.value));
    length += next.value.length;
  }
  return Buffer.concat(pieces);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** What is known of a file before it is read. */
interface OpenedFile {
  readonly name: string;
  /** The first lines, as the reader will see them: no byte order mark, `\n` only, without what a container put around. */
  readonly head: string;
  readonly unwrap: ReturnType<typeof wrappingOf>;
}

function openFile(name: string, beginning: Buffer): OpenedFile {
  const text = beginning
    .toString('utf8', 0, headLength)
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  const unwrap = wrappingOf(text);
  return { name, unwrap, head: unwrap === undefined ? text : unwrapText(text, unwrap) };
}

/** One reading after the other, to be fed before the next is asked for: configurations first, for they tell how logs look. */
function* readingsOf(
  opened: readonly OpenedFile[],
  formats: readonly Format[],
  problems: string[],
): Iterable<{ readonly index: number; readonly reading: FileReading }> {
  const hints = noHints();
  const first = opened.map((file) => recognise(file.head, file.name, formats, hints));
  for (const [index, file] of opened.entries()) {
    const format = first[index];
    if (format?.early === true) yield { index, reading: new FileReading(file, format, hints) };
  }
  for (const [index, file] of opened.entries()) {
    if (first[index]?.early === true) continue;
    const format = recognise(file.head, file.name, formats, hints);
    if (format === undefined) problems.push(`${file.name}: ${complaint(file.head)}`);
    else yield { index, reading: new FileReading(file, format, hints) };
  }
}

/** One file on its way through its reader. */
class FileReading {
  readonly #file: OpenedFile;
  readonly #format: Format;
  readonly #sink: Sink;
  readonly #lines: LineFeeder | undefined;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #begun = false;

  constructor(file: OpenedFile, format: Format, hints: Hints) {
    this.#file = file;
    this.#format = format;
    this.#sink = new Sink(file.name, hints);
    if (format.kind === 'lines') {
      this.#lines = new LineFeeder(format.open(this.#sink, file.head), this.#sink, file.unwrap);
    }
  }

  feed(piece: Buffer): void {
    const bytes = !this.#begun && piece.indexOf('\uFEFF') === 0 ? piece.subarray(3) : piece;
    this.#begun ||= piece.length > 0;
    if (this.#lines !== undefined) this.#lines.feed(bytes);
    else if (this.#length < wholeMax) this.#pieces.push(Buffer.from(bytes));
    this.#length += bytes.length;
  }

  finish(): FileFacts {
    const sink = this.#sink;
    this.#lines?.end();
    if (this.#format.kind === 'whole') {
      const text = Buffer.concat(this.#pieces).toString('utf8').replaceAll('\r\n', '\n');
      this.#format.read(this.#file.unwrap === undefined ? text : unwrapText(text, this.#file.unwrap), sink);
      if (this.#length >= wholeMax) sink.remark('only the first 256 MiB were read: this format must fit into memory');
    }
    const facts = sink.finish(this.#format.name);
    return { ...facts, remarks: sink.remarks.map((remark) => `${this.#file.name}: ${remark}`) };
  }
}

function concluded(parts: ReadonlyMap<number, FileFacts>, problems: readonly string[]): DossierReading {
  const read = [...parts].toSorted(([one], [other]) => one - other).map(([, part]) => part);
  return { dossier: together(read), problems: [...problems, ...read.flatMap((part) => part.remarks)] };
}

/** The format that is surest of this text; undefined when none is. */
function recognise(head: string, name: string, formats: readonly Format[], hints: Hints): Format | undefined {
  let best: Format | undefined;
  let bestConfidence = confidenceMin;
  if (head.trim() === '' || isBinary(head)) return undefined;
  for (const format of formats) {
    const confidence = format.recognise(head, name, hints);
    if (confidence > bestConfidence) {
      best = format;
      bestConfidence = confidence;
    }
  }
  return best;
}

type FileFacts = ReturnType<Sink['finish']> & { readonly remarks: readonly string[] };

function together(parts: readonly FileFacts[]): Dossier {
  const first = firstReadings(
    parts.map((part) => ({
      name: part.source.file,
      format: part.source.format,
      readings: 1 + part.samples.reduce((most, sample) => Math.max(most, sample.reading), 0),
      firstMs: earliest(part.samples),
      counters: countersOf(part.samples),
    })),
  );
  const sources: SourceNote[] = parts.map((part) => part.source);
  return {
    sources,
    settings: parts.flatMap((part) => part.settings),
    samples: parts.flatMap((part, index) => renumbered(part.samples, first[index] ?? 0)),
    series: parts.flatMap((part) => part.series),
    requests: parts.flatMap((part) => part.requests),
    results: parts.flatMap((part) => part.results),
    messages: parts.flatMap((part) => part.messages),
    events: parts.flatMap((part) => part.events),
  };
}

function renumbered(samples: readonly SampleFact[], first: number): readonly SampleFact[] {
  return first === 0 ? samples : samples.map((sample) => ({ ...sample, reading: sample.reading + first }));
}

function countersOf(samples: readonly SampleFact[]): ReadonlyMap<string, number> {
  const counters = samples.filter((sample) => sample.type === 'counter');
  return new Map(counters.map(({ name, labels, value }) => [`${name} ${JSON.stringify(labels)}`, value]));
}

function earliest(samples: readonly SampleFact[]): number | undefined {
  let least = Number.POSITIVE_INFINITY;
  for (const { atMs } of samples) least = Math.min(least, atMs ?? least);
  return least === Number.POSITIVE_INFINITY ? undefined : least;
}

function complaint(head: string): string {
  if (head.trim() === '') return 'the file is empty';
  if (isBinary(head)) return 'this is no text; give logs, metrics and configurations as text (gzip is unpacked)';
  return `not a format that is known here; its first line is\n  ${(firstLines(head, 1)[0] ?? '').slice(0, 160)}`;
}

/** Text has no zero bytes and hardly any other control characters or broken encodings. */
function isBinary(head: string): boolean {
  if (head.includes('\0')) return true;
  let odd = 0;
  for (let at = 0; at < head.length; at++) {
    const code = head.charCodeAt(at);
    if (code === 0xfffd || (code < 32 && code !== 9 && code !== 10 && code !== 13 && code !== 27)) odd += 1;
  }
  return odd > head.length * 0.05;
}
