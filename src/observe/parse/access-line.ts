// Access logs as people write them themselves: a time, a request, a status and whatever else was wanted, in any order.
//
//   2026-03-04T14:00:15.000Z host=inner "GET /x HTTP/1.1" 504 rt=15.001 up=127.0.0.1:3000 us=504
//   2026-03-06T07:00:00.000Z GET /data/f5 200 rt=0.025 uht="0.037"
//   10.9.0.1 - - [02/Mar/2026:10:00:00 +0000] "GET /v1/items HTTP/1.1" 200 512 "-" "agent" 0.021
//   10.0.7.11:8080 200 0.003
//
// One reader for all of them: the line is cut into words, and a word tells what it is by its form and its place. Keys say
// more than places, so `key=value` counts first.

import { learntProgram, type PlacedWord } from './access-program.ts';
import { AccessRows, withoutQuery } from './access-row.ts';
import { FastLines } from './fast-lines.ts';
import { firstLines, type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import type { Program } from './line-form.ts';
import { messageCode } from './message-codes.ts';
import { parseSeconds } from './quantities.ts';
import { blankRow, clearRow, type RequestRow } from './request-table.ts';
import type { Hints, Sink } from './sink.ts';
import { WrittenWhen } from './written-when.ts';

export const accessLines: LineFormat = {
  kind: 'lines',
  name: 'access log',
  recognise(head, _name, hints) {
    const reader = new AccessLineParser(head, hints);
    const row = blankRow();
    const requests = shareOfLines(head, (line) => reader.parse(line, row));
    // A program that complains of a request says more than that there was one.
    const complaints = shareOfLines(
      head,
      (line) =>
        complaint.test(line) && messageCode(line) !== undefined && reader.parse(line, row) && Number.isNaN(row.seconds),
    );
    return (complaints > 0.5 ? 0.45 : 0.75) * requests;
  },
  open: accessLineReader,
};

const complaint = /\b(?:WARN|WARNING|ERROR|ERR|FATAL|CRITICAL)\b/i;

function accessLineReader(sink: Sink, head: string): LineReader {
  const parser = new AccessLineParser(head, sink.hints);
  const table = sink.requests(parser.program);
  const when = new WrittenWhen();
  const row = blankRow();
  const learnt = parser.learn(head);
  const fast = new FastLines(learnt === undefined ? [] : [learnt], table, head, (line, into) =>
    parser.parse(line, into),
  );
  let step = Number.POSITIVE_INFINITY;
  return {
    take(bytes, from, to) {
      if (!fast.take(bytes, from, to)) return false;
      step = Math.min(step, fast.stepMs);
      if (parser.timesAreStarts === undefined) when.observe(fast.startMs, fast.seconds);
      return true;
    },
    line(text) {
      if (!parser.parse(text, row)) return false;
      if (parser.stepMs > 0) step = Math.min(step, parser.stepMs);
      if (parser.timesAreStarts === undefined) when.observe(row.startMs, row.seconds);
      if (table.wants()) table.add(row);
      return true;
    },
    end() {
      if (Number.isFinite(step)) table.stepMs = step;
      if (parser.timesAreStarts === undefined && !when.isStart) table.timesWereEnds();
    },
  };
}

/** Cuts a line into words: `[bracketed]`, `"quoted"`, `key=value` in all their forms, and bare ones. */
const word =
  /\s*(?:\[([^\]]*)\]|"((?:\\.|[^"\\])*)"?|([A-Za-z_@][\w.@-]*)=(?:"((?:\\.|[^"\\])*)"?|\[([^\]]*)\]|((?:[^\s",]+(?:, ?|(?= )))*[^\s",]*))|([^\s"]+))/y;
const wordPlaces = new RegExp(word.source, 'dy');
const requestLine = /^([A-Z]{3,12}) (\S+)(?: HTTP\/[\d.]+)?$/;
const methods = /^(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH|CONNECT|TRACE)$/;
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\])(?::\d+)?$/i;

export class AccessLineParser {
  readonly program: string;
  readonly timesAreStarts: boolean | undefined;
  /** How precisely the last line's time was written; 0: it had none. */
  stepMs = 0;
  readonly #rows: AccessRows;
  readonly #hints: Hints;
  #pairs: [string, string][] = [];

  constructor(head: string, hints: Hints) {
    this.#hints = hints;
    const examples = firstLines(head, 50).map((line) => [...pairsOf(line)]);
    this.#rows = new AccessRows(examples);
    this.program = this.#rows.program;
    this.timesAreStarts = this.#rows.timesAreStarts;
  }

  /** Whether the line is a request; then the row says what is known of it. */
  parse(line: string, row: RequestRow): boolean {
    clearRow(row);
    this.#pairs = [];
    const words = this.#words(line);
    const isRequest = this.#rows.fill(row, this.#pairs);
    this.#places(words, row);
    if (row.status < 0) return false;
    return isRequest || row.route !== undefined || (row.replica !== undefined && !Number.isNaN(row.seconds));
  }

  /** What the form of these lines is, from the first that is a request: for fast reading. */
  learn(head: string): Program | undefined {
    const row = blankRow();
    const line = firstLines(head, 20).find((one) => this.parse(one, row));
    const program = line === undefined ? undefined : learntProgram(line, placedWords(line), row, this.#rows);
    // Where files name addresses, an address is not told by its place.
    const names = this.#hints.servers.size + this.#hints.addresses.size > 0;
    return names && program?.steps.some(({ place }) => place === 'bare-client') === true ? undefined : program;
  }

  /** The words of the line, pairs apart. The first time in it becomes the pair `time`. */
  #words(line: string): string[] {
    const words: string[] = [];
    this.stepMs = 0;
    let at = 0;
    while (at < line.length && words.length < 100) {
      if (this.stepMs === 0) {
        const begin = line[at] === '[' ? at + 1 : at;
        const instant = leadingInstant(line, begin);
        if (instant !== undefined) {
          this.#pairs.push(['time', String(instant.ms)]);
          this.#pairs.push(['msec', String(instant.ms)]);
          this.stepMs = instant.stepMs;
          at = instant.end + (line[instant.end] === ']' ? 1 : 0);
          words.push('<time>');
          continue;
        }
      }
      word.lastIndex = at;
      const found = word.exec(line);
      if (found === null || found[0] === '') break;
      at = word.lastIndex;
      while (line[at] === ' ') at += 1;
      const key = found[3];
      if (key !== undefined) this.#pairs.push([key, found[4] ?? found[5] ?? (found[6] ?? '').replace(/,$/, '')]);
      else words.push(found[1] ?? found[2] ?? found[7] ?? '');
    }
    return words;
  }

  /** What words say by their form and place, where no pair said it. */
  #places(words: readonly string[], row: RequestRow): void {
    let asked = row.route !== undefined ? -1 : undefined;
    let status = row.status >= 0 ? -1 : undefined;
    for (let index = 0; index < words.length; index++) {
      const text = words[index] ?? '';
      if (asked === undefined && methods.test(text) && /^[/*]|^https?:/.test(words[index + 1] ?? '')) {
        row.route = `${text} ${withoutQuery(words[index + 1] ?? '')}`;
        asked = index + 1;
        index += 1;
        continue;
      }
      const request = asked === undefined ? requestLine.exec(text) : null;
      if (request !== null) {
        row.route = `${request[1]} ${withoutQuery(request[2] ?? '')}`;
        asked = index;
      } else if (status === undefined && /^[1-5]\d\d$/.test(text) && (asked !== undefined || index > 0)) {
        row.status = Number(text);
        status = index;
      } else if (status !== undefined && Number.isNaN(row.seconds) && isLength(text)) {
        row.seconds = parseSeconds(text) ?? Number.NaN;
      } else if (address.test(text)) this.#address(text, row, asked === undefined, words.length);
    }
  }

  /** Before the request stands who asked, after it who answered; but an address that another file calls a server is one. */
  #address(text: string, row: RequestRow, before: boolean, words: number): void {
    const host = text.replace(/:\d+$/, '');
    const known = this.#hints.servers.has(text) || this.#hints.addresses.has(text) || this.#hints.addresses.has(host);
    // A line of an address, a status and a time is a probe: it names what was asked.
    const probe = words <= 3 && /:\d+$/.test(text);
    if (row.replica === undefined && (known || probe || !before)) row.replica = text;
    else if (row.client === undefined && before && !known) row.client = host;
  }
}

/** A length of time: with a fraction or with a unit. Whole numbers are sizes. */
function isLength(text: string): boolean {
  return /^\d+\.\d+$/.test(text) || /^\d+(?:\.\d+)?(?:ns|us|µs|ms|s)$/.test(text);
}

/** Where every value of the line stands: the first time in it, and all words and pairs around it. */
function placedWords(line: string): PlacedWord[] {
  const words: PlacedWord[] = [];
  let timed = false;
  let at = 0;
  while (at < line.length && words.length < 100) {
    const begin = line[at] === '[' ? at + 1 : at;
    const instant = timed ? undefined : leadingInstant(line, begin);
    if (instant !== undefined) {
      timed = true;
      words.push({ begin, end: instant.end, key: undefined });
      at = instant.end + (line[instant.end] === ']' ? 1 : 0);
      continue;
    }
    wordPlaces.lastIndex = at;
    const found = wordPlaces.exec(line);
    if (found === null || found[0] === '') break;
    at = wordPlaces.lastIndex;
    while (line[at] === ' ') at += 1;
    const value =
      found.indices?.[1] ??
      found.indices?.[2] ??
      found.indices?.[4] ??
      found.indices?.[5] ??
      found.indices?.[6] ??
      found.indices?.[7];
    if (value !== undefined) words.push({ begin: value[0], end: value[1], key: found[3] });
  }
  return words;
}

function* pairsOf(line: string): Iterable<readonly [string, string]> {
  word.lastIndex = 0;
  for (let count = 0; count < 100 && word.lastIndex < line.length; count++) {
    const found = word.exec(line);
    if (found === null || found[0] === '') return;
    const next = word.lastIndex;
    if (found[3] !== undefined) yield [found[3], found[4] ?? found[5] ?? found[6] ?? ''];
    word.lastIndex = next;
  }
}
