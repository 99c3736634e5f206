// Whatever an incident left behind, in any order, as one dossier. Each file is recognised by its content and handed to the
// one reader that is surest of it; configurations go first, because they say how to read logs.
//
// Nothing here fails for what is in a file. What cannot be read is said, with the file and what was expected.

import type { Dossier, SampleFact, SourceNote } from '../record.ts';
import { formats as allFormats } from './formats.ts';
import { type Format, firstLines, type LineFormat } from './parse/format.ts';
import { firstReadings } from './parse/readings.ts';
import { type Hints, noHints, Sink } from './parse/sink.ts';

export interface DossierFile {
  readonly name: string;
  readonly text: string;
}

export interface DossierReading {
  readonly dossier: Dossier;
  /** What a person must know: files that were not read, and what was left out of those that were. */
  readonly problems: readonly string[];
}

const headLength = 65_536;
const newline = 10;
const carriageReturn = 13;
/** Below this nobody is sure enough. */
const confidenceMin = 0.3;

/** Reads all files together. `formats`: the table, for tests. */
export function readDossier(files: readonly DossierFile[], formats: readonly Format[] = allFormats): DossierReading {
  const problems: string[] = [];
  const hints = noHints();
  const parts: (FileFacts | undefined)[] = files.map(() => undefined);
  const opened = files.map((file) => openFile(file, formats, hints));
  for (const [index, file] of opened.entries()) {
    if (file.format?.early === true) parts[index] = readFile(file, file.format, hints);
  }
  for (const [index, file] of opened.entries()) {
    if (parts[index] !== undefined) continue;
    // Configurations have told by now how their logs are written.
    const format = recognise(file.head, file.name, formats, hints);
    if (format === undefined) problems.push(`${file.name}: ${complaint(file.head)}`);
    else parts[index] = readFile(file, format, hints);
  }
  const read = parts.filter((part) => part !== undefined);
  return { dossier: together(read), problems: [...problems, ...read.flatMap((part) => part.remarks)] };
}

function openFile(file: DossierFile, formats: readonly Format[], hints: Hints): OpenedFile {
  const text = file.text.replace(/^\uFEFF/, '');
  const head = text.slice(0, headLength).replaceAll('\r\n', '\n');
  return { name: file.name, text, head, format: recognise(head, file.name, formats, hints) };
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

interface OpenedFile {
  readonly name: string;
  readonly text: string;
  readonly head: string;
  readonly format: Format | undefined;
}

type FileFacts = ReturnType<Sink['finish']> & { readonly remarks: readonly string[] };

function readFile(file: OpenedFile, format: Format, hints: Hints): FileFacts {
  const sink = new Sink(file.name, hints);
  if (format.kind === 'whole') format.read(file.text.replaceAll('\r\n', '\n'), sink);
  else readLines(format, file, sink);
  const facts = sink.finish(format.name);
  return { ...facts, remarks: sink.remarks.map((remark) => `${file.name}: ${remark}`) };
}

/** One line after the other, from bytes: a reader that takes them makes a string of none. */
function readLines(format: LineFormat, file: OpenedFile, sink: Sink): void {
  const reader = format.open(sink, file.head);
  const bytes = Buffer.from(file.text);
  let number = 0;
  let taken = 0;
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(newline, at);
    const next = found === -1 ? bytes.length : found;
    const end = next > at && bytes[next - 1] === carriageReturn ? next - 1 : next;
    number += 1;
    if (end > at) {
      if (reader.take?.(bytes, at, end) === true) taken += 1;
      else {
        const line = bytes.toString('utf8', at, end);
        if (reader.line(line, number)) sink.understood();
        else sink.foreign(number, line);
      }
    }
    at = next + 1;
  }
  sink.understood(taken);
  reader.end?.();
}

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
