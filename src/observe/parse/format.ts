// What a reader of a foreign format is. There is one file a format, and a table of them in `formats.ts`; nothing else is
// needed to add one.
//
// A format recognises by content. People rename files, so a name may only break a tie between formats that both fit.
//
//   confidence   1     nothing else looks like this (a magic first line, a fixed grammar on every line)
//                0.8   the lines fit a grammar that others could fit by accident
//                0.5   the shape fits (an object of settings, a table), the words are not ours
//                0     it is something else
//
// Most telemetry is lines, each by itself: such a format is handed one line at a time and need not hold the file, so that a
// log may be larger than memory. What has structure over several lines is handed whole.

import type { Hints, Sink } from './sink.ts';

interface Recognition {
  /** For people: `HAProxy log`, `Envoy access log (default format)`. */
  readonly name: string;
  /** How sure this format is, 0–1, from the first lines (at most 64 KiB, no byte order mark, `\n` only), the name, and what
   * files read before have told. */
  recognise(head: string, fileName: string, hints: Hints): number;
  /** Read before the others: what it finds (log formats, names of servers) helps to read other files. */
  readonly early?: boolean;
}

export interface LineFormat extends Recognition {
  readonly kind: 'lines';
  /** A reader for one file. `head` is what was recognised. */
  open(sink: Sink, head: string): LineReader;
}

export interface LineReader {
  /** Takes one line, without its end; whether it was understood. Empty lines do not come. Throws for nothing. */
  line(text: string, number: number): boolean;
  /**
   * The same from bytes, for speed: what it declines goes to `line`. Only lines of printable ASCII come, followed by a byte that
   * is none, and by as many to read as `slack` says. A reader may do without. Hot.
   */
  take?(bytes: DataView, from: number, to: number): boolean;
  /** After the last line. */
  end?(): void;
}

export interface WholeFormat extends Recognition {
  readonly kind: 'whole';
  /** Reads the file (`\n` only). Says with `sink.understood` and `sink.foreign` what it made of the lines. Throws for nothing. */
  read(text: string, sink: Sink): void;
}

export type Format = LineFormat | WholeFormat;

/** The first lines that are not empty. */
export function firstLines(head: string, count: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < head.length && lines.length < count;) {
    const end = head.indexOf('\n', at);
    const line = head.slice(at, end === -1 ? head.length : end);
    if (line.trim() !== '') lines.push(line);
    at = end === -1 ? head.length : end + 1;
  }
  return lines;
}

/** The share of the first lines for which `fits` holds, 0 when there are none. */
export function shareOfLines(head: string, fits: (line: string) => boolean, count = 40): number {
  const lines = firstLines(head, count);
  return lines.length === 0 ? 0 : lines.filter((line) => fits(line)).length / lines.length;
}
