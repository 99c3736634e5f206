// Access logs at the speed of memory: a line is read byte by byte along a program, which is what a log's form is once it is
// known. The program of nginx's combined form begins
//
//   client, until " - " · skip, until " [" · common time, until "] \"" · request, until "\" " · status, until " " · …
//
// One pass, no string, no regular expression, nothing allocated but texts that were never seen. What does not fit at first
// sight (an escape, an odd number, one place more or less) is declined, and the slow reader of the format, which knows
// everything, reads that line. So a program may be strict: it decides speed, never meaning. Before it is used it is held
// against the slow reader on the head of the file (`agrees`).
//
// Hot, all of it: some 3 ns a byte. Steps are few kinds with a column each, so that the loop has few ways to go.

import { assert } from '../../base.ts';
import { ByteTexts, textOf } from './byte-texts.ts';
import { InstantReader, numberIn, outOfForm, portBegin } from './line-numbers.ts';
import { cellCount, cells, type RequestRow, type RequestTableBuilder } from './request-table.ts';

/** What stands at a place of a line. */
export type Place =
  | 'skip'
  /** Of a value that may be a list of tries. */
  | 'skip-list'
  /** Of a value that is a whole number. */
  | 'skip-number'
  /** `2026-03-04T14:00:15.250Z` · `04/Mar/2026:14:00:15.250 +0000` · `1772632815.250` */
  | 'iso-time'
  | 'common-time'
  | 'epoch-time'
  /** `GET /path?query HTTP/1.1`, up to what follows it. */
  | 'request'
  /** `GET /path?query` without more: it ends at the blank after the path. */
  | 'bare-request'
  /** In quotes at the end of the line, after what may stand in braces. */
  | 'last-request'
  | 'status'
  | 'upstream-status'
  | 'seconds'
  /** With a fraction: a whole number would be a size. */
  | 'bare-seconds'
  | 'upstream-seconds'
  /** Counts where there is no `upstream-seconds`. */
  | 'header-seconds'
  | 'connect-seconds'
  | 'queue-seconds'
  /** Tries after the first. */
  | 'retries'
  | 'replica'
  /** As HAProxy writes it: in angle brackets when there was none, and then nobody was asked. */
  | 'server'
  /** As nginx writes it: a list of tries, or the name of a group when none was possible. */
  | 'tried'
  /** The first that is not a dash counts; `…-with-port`: without the port that follows it. */
  | 'client'
  | 'client-with-port'
  | 'flag'
  /** The last that is not a dash counts. */
  | 'service'
  | 'worker';

export interface Step {
  readonly place: Place;
  /** What follows the value: it ends where this begins. Empty: the end of the line. */
  readonly before: string;
  /** Of durations: how many of the unit make a second. */
  readonly perSecond?: number;
  /** A dash here means that another place counts: the line is declined. */
  readonly needed?: boolean;
}

export interface Program {
  /** Text that every line begins with. */
  readonly prefix: string;
  readonly steps: readonly Step[];
  /** What a line may have after its last step. */
  readonly rest: 'nothing' | 'anything';
  /** Whether the time on a line is that of its end. */
  readonly timesAreEnds: boolean;
  /** Whether the status came from the upstream wherever that took time. */
  readonly statusIsUpstreams: boolean;
}

const blank = 32;
const quote = 34;
const hash = 35;
const comma = 44;
const dash = 45;
const slash = 47;
const colon = 58;
const lessThan = 60;
const question = 63;
const backslash = 92;
const letterU = 117;
const openBrace = 123;
const closeBrace = 125;
/** HAProxy's name for a server that was not chosen. */
const nobody = bytesOf('<NOSRV>');

// Kinds of steps, as numbers for the loop.
const skipsText = 0;
const number = 1;
const text = 2;
const time = 3;
const request = 4;
const special = 5;
const skipsFields = 6;
const skipsNumbers = 7;

/** Where texts stand: their columns. */
const columns = { replica: 0, client: 1, route: 2, flag: 3, service: 4, worker: 5 } as const;
/** A cell beyond those of a row: time to the header. */
const headerSeconds = cellCount;

interface Compiled {
  readonly kind: number;
  /** Of numbers their cell, of texts their column. */
  readonly column: number;
}

const compiled: Readonly<Record<Place, Compiled>> = {
  skip: { kind: skipsText, column: 0 },
  'skip-number': { kind: skipsNumbers, column: 0 },
  'skip-list': { kind: special, column: 6 },
  'iso-time': { kind: time, column: 0 },
  'common-time': { kind: time, column: 1 },
  'epoch-time': { kind: time, column: 2 },
  request: { kind: request, column: 0 },
  'bare-request': { kind: special, column: 0 },
  'last-request': { kind: special, column: 1 },
  status: { kind: number, column: cells.status },
  'upstream-status': { kind: number, column: cells.upstreamStatus },
  seconds: { kind: number, column: cells.seconds },
  'bare-seconds': { kind: special, column: 7 },
  'upstream-seconds': { kind: number, column: cells.upstreamSeconds },
  'header-seconds': { kind: number, column: headerSeconds },
  'connect-seconds': { kind: number, column: cells.connectSeconds },
  'queue-seconds': { kind: number, column: cells.queueSeconds },
  retries: { kind: number, column: cells.attempts },
  replica: { kind: text, column: columns.replica },
  server: { kind: special, column: 2 },
  tried: { kind: special, column: 3 },
  client: { kind: special, column: 4 },
  'client-with-port': { kind: special, column: 5 },
  flag: { kind: text, column: columns.flag },
  service: { kind: text, column: columns.service },
  worker: { kind: text, column: columns.worker },
};

export class LineProgram {
  readonly #table: RequestTableBuilder;
  readonly #kinds: Uint8Array;
  readonly #columns: Uint8Array;
  /** The first byte of what follows each value; 0: the line's end. */
  readonly #firsts: Uint8Array;
  readonly #befores: readonly Uint8Array[];
  readonly #lengths: Uint8Array;
  /** Of steps that skip, how many values. */
  readonly #times: Uint8Array;
  readonly #perSecond: Float64Array;
  /** Added to a number: retries are tries after the first. */
  readonly #plus: Uint8Array;
  readonly #needed: Uint8Array;
  readonly #prefix: Uint8Array;
  readonly #program: Program;
  readonly #instants = new InstantReader();
  readonly #replicas: ByteTexts;
  readonly #clients: ByteTexts;
  readonly #routes: ByteTexts;
  readonly #flags: ByteTexts;
  readonly #services: ByteTexts;
  readonly #workers: ByteTexts;
  /** The numbers of the line that was read last. */
  readonly #numbers = new Float64Array(cellCount + 1);
  /** Where its texts begin (−1: it has none) and end, by column. */
  readonly #begins = new Int32Array(6);
  readonly #ends = new Int32Array(6);
  #noServer = false;

  constructor(program: Program, table: RequestTableBuilder) {
    assert(program.steps.length > 0, 'a program has steps');
    this.#program = program;
    this.#table = table;
    const steps = mergedSkips(program.steps);
    this.#kinds = Uint8Array.from(steps, kindOf);
    this.#columns = Uint8Array.from(steps, (step) => compiled[step.place].column);
    this.#befores = steps.map((step) => bytesOf(step.before));
    this.#firsts = Uint8Array.from(this.#befores, (before) => before[0] ?? 0);
    this.#lengths = Uint8Array.from(this.#befores, (before) => before.length);
    this.#times = Uint8Array.from(steps, (step) => step.times);
    this.#perSecond = Float64Array.from(steps, (step) => step.perSecond ?? 1);
    this.#plus = Uint8Array.from(steps, (step) => (step.place === 'retries' ? 1 : 0));
    this.#needed = Uint8Array.from(steps, (step) => (step.needed === true ? 1 : 0));
    this.#prefix = bytesOf(program.prefix);
    this.#replicas = new ByteTexts(table.replicas);
    this.#clients = new ByteTexts(table.clients);
    this.#routes = new ByteTexts(table.routes);
    this.#flags = new ByteTexts(table.flags);
    this.#services = new ByteTexts(table.services);
    this.#workers = new ByteTexts(table.workers);
  }

  /** How precisely times are written, in milliseconds, by the last line. */
  get stepMs(): number {
    return this.#instants.stepMs;
  }

  /** When the last line's request began, and how long it took. */
  get startMs(): number {
    return this.#numbers[cells.startMs] ?? Number.NaN;
  }

  get seconds(): number {
    return this.#numbers[cells.seconds] ?? Number.NaN;
  }

  /** Reads one line into the table; false, and nothing done, when it has another form. */
  take(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.read(bytes, from, to)) return false;
    if (this.#table.wants()) this.#add(bytes);
    return true;
  }

  /** Reads one line and remembers its numbers and where its texts stand. */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    this.#clear();
    const prefix = this.#prefix;
    if (!standsAt(bytes, from, to, prefix)) return false;
    const kinds = this.#kinds;
    const firsts = this.#firsts;
    const lengths = this.#lengths;
    let at = from + prefix.length;
    for (let step = 0; step < kinds.length; step++) {
      const kind = kinds[step] ?? 0;
      const first = firsts[step] ?? 0;
      if (kind >= skipsFields) {
        // So many values that each end with the same byte.
        for (let left = this.#times[step] ?? 1; left > 0; left--) {
          const begin = at;
          while (at < to && bytes[at] !== first) {
            if (kind === skipsNumbers && !isOfNumber(bytes[at] ?? 0)) return false;
            at += 1;
          }
          if (at === to || (kind === skipsNumbers && at === begin)) return false;
          at += 1;
        }
        continue;
      }
      const length = lengths[step] ?? 0;
      let end = at;
      if (kind === number) end = this.#number(bytes, at, to, step, first);
      else if (kind === request) end = this.#request(bytes, at, to, first);
      else if (kind === special) end = this.#special(bytes, at, to, step, first);
      else {
        end = this.#endBefore(bytes, at, to, step, first, length);
        if (kind === text && !this.#text(bytes, at, end, step)) return false;
        if (kind === time && end !== -1 && !this.#time(bytes, at, end, this.#columns[step] ?? 0)) return false;
      }
      // Where one byte follows, it is where the value ended.
      if (end === -1 || end + length > to || (length > 1 && !this.#follows(bytes, end, to, step))) return false;
      at = end + length;
    }
    if (at < to && this.#program.rest === 'nothing') return false;
    return this.#conclude();
  }

  /** Where the value that begins here ends: before the text that follows it; −1 when that does not come. */
  #endBefore(bytes: Uint8Array, from: number, to: number, step: number, first: number, length: number): number {
    if (length === 0) return to;
    for (let at = from; at < to; at++) {
      if (bytes[at] === first && (length === 1 || this.#follows(bytes, at, to, step))) return at;
    }
    return -1;
  }

  /** Whether what must follow the value does follow it here. */
  #follows(bytes: Uint8Array, at: number, to: number, step: number): boolean {
    const before = this.#befores[step];
    return before === undefined || standsAt(bytes, at, to, before);
  }

  #add(bytes: Uint8Array): void {
    const begins = this.#begins;
    const ends = this.#ends;
    this.#table.addNumbers(
      this.#numbers,
      this.#replicas.intern(bytes, begins[columns.replica] ?? -1, ends[columns.replica] ?? -1),
      this.#clients.intern(bytes, begins[columns.client] ?? -1, ends[columns.client] ?? -1),
      this.#routes.intern(bytes, begins[columns.route] ?? -1, ends[columns.route] ?? -1),
      this.#flags.intern(bytes, begins[columns.flag] ?? -1, ends[columns.flag] ?? -1),
      this.#services.intern(bytes, begins[columns.service] ?? -1, ends[columns.service] ?? -1),
      this.#workers.intern(bytes, begins[columns.worker] ?? -1, ends[columns.worker] ?? -1),
    );
  }

  #clear(): void {
    const numbers = this.#numbers;
    numbers[cells.startMs] = Number.NaN;
    numbers[cells.seconds] = Number.NaN;
    numbers[cells.upstreamSeconds] = Number.NaN;
    numbers[cells.queueSeconds] = Number.NaN;
    numbers[cells.connectSeconds] = Number.NaN;
    numbers[cells.status] = -1;
    numbers[cells.upstreamStatus] = -1;
    numbers[cells.attempts] = -1;
    numbers[headerSeconds] = Number.NaN;
    const begins = this.#begins;
    begins[columns.replica] = -1;
    begins[columns.client] = -1;
    begins[columns.route] = -1;
    begins[columns.flag] = -1;
    begins[columns.service] = -1;
    begins[columns.worker] = -1;
    this.#noServer = false;
  }

  #conclude(): boolean {
    const numbers = this.#numbers;
    if (!isStatus(numbers[cells.status] ?? -1) || !isStatus(numbers[cells.upstreamStatus] ?? -1)) return false;
    if (this.#noServer) numbers[cells.attempts] = 0;
    const seconds = numbers[cells.seconds] ?? Number.NaN;
    let upstream = numbers[cells.upstreamSeconds] ?? Number.NaN;
    if (Number.isNaN(upstream)) {
      upstream = numbers[headerSeconds] ?? Number.NaN;
      numbers[cells.upstreamSeconds] = upstream;
    }
    if (this.#program.timesAreEnds && !Number.isNaN(seconds)) {
      numbers[cells.startMs] = (numbers[cells.startMs] ?? Number.NaN) - seconds * 1000;
    }
    if (this.#program.statusIsUpstreams && !Number.isNaN(upstream)) {
      numbers[cells.upstreamStatus] = numbers[cells.status] ?? -1;
    }
    return true;
  }

  #text(bytes: Uint8Array, from: number, to: number, step: number): boolean {
    if (to === -1) return false;
    if (isDash(bytes, from, to)) return this.#needed[step] === 0;
    this.#note(this.#columns[step] ?? 0, from, to);
    return true;
  }

  #note(column: number, from: number, to: number): void {
    this.#begins[column] = from;
    this.#ends[column] = to;
  }

  #time(bytes: Uint8Array, from: number, to: number, form: number): boolean {
    const instants = this.#instants;
    const ms =
      form === 0
        ? instants.iso(bytes, from, to)
        : form === 1
          ? instants.common(bytes, from, to)
          : instants.epoch(bytes, from, to);
    this.#numbers[cells.startMs] = ms;
    return !Number.isNaN(ms);
  }

  /** A number, of a list the last; a dash or a negative length of time is none. Where it ends; −1: it is no number. */
  #number(bytes: Uint8Array, from: number, to: number, step: number, first: number): number {
    // Most are a few digits and perhaps a point: read them while looking for the end.
    let at = from;
    let value = 0;
    let point = -1;
    for (; at < to; at++) {
      const byte = bytes[at] ?? 0;
      const digit = byte - 48;
      if (digit >= 0 && digit <= 9) value = value * 10 + digit;
      else if (byte === 46 && point === -1 && at > from) point = at;
      else break;
    }
    const length = at - from;
    const column = this.#columns[step] ?? 0;
    const fits = point === -1 || column < cells.status || column === headerSeconds;
    if (fits && length > 0 && length < 10 && point !== at - 1 && (at === to ? first === 0 : bytes[at] === first)) {
      this.#put(step, point === -1 ? value : value / (powersOfTen[at - point - 1] ?? 1));
      return at;
    }
    return this.#oddNumber(bytes, from, to, step, first);
  }

  /** With a sign, in a list, or none. */
  #oddNumber(bytes: Uint8Array, from: number, to: number, step: number, first: number): number {
    const end = first === 0 ? to : endOfList(bytes, from, to, first);
    if (end === -1) return -1;
    const last = lastOfList(bytes, from, end);
    if (last > from && !isSeparated(bytes, last)) return -1;
    if (isDash(bytes, last, end)) return this.#needed[step] === 1 ? -1 : end;
    const value = numberIn(bytes, last, end);
    if (value === outOfForm) return -1;
    const column = this.#columns[step] ?? 0;
    if (value >= 0) this.#put(step, value);
    else if (column === cells.seconds || column === cells.status || column === cells.attempts) return -1;
    return end;
  }

  #put(step: number, value: number): void {
    this.#numbers[this.#columns[step] ?? 0] = value / (this.#perSecond[step] ?? 1) + (this.#plus[step] ?? 0);
  }

  /** Method and path as they stand beside each other, up to a query. Where what follows begins; −1: it is no request. */
  #request(bytes: Uint8Array, from: number, to: number, first: number): number {
    let at = this.#path(bytes, from, to, first);
    if (at === -1 || first === 0) return at === -1 ? -1 : to;
    while (at < to && bytes[at] !== first) {
      if (bytes[at] === backslash) return -1;
      at += 1;
    }
    return at;
  }

  /** Notes the route; where its path ends. −1 when no method and path begin here. */
  #path(bytes: Uint8Array, from: number, to: number, first: number): number {
    let at = from;
    for (; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte < 65 || byte > 90) break;
    }
    if (at - from < 3 || bytes[at] !== blank || bytes[at + 1] !== slash) return -1;
    for (at += 2; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === blank || byte === question || byte === first) break;
      if (byte === backslash || byte === quote || byte === hash) return -1;
    }
    this.#note(columns.route, from, at);
    return at;
  }

  #special(bytes: Uint8Array, from: number, to: number, step: number, first: number): number {
    switch (this.#columns[step] ?? 0) {
      case 0:
        return this.#bareRequest(bytes, from, to);
      case 1:
        return this.#lastRequest(bytes, from, to);
      case 2:
        return this.#server(bytes, from, to, first);
      case 3:
        return this.#tried(bytes, from, to, step, first);
      case 4:
        return this.#client(bytes, from, to, step, false);
      case 7:
        return this.#bareSeconds(bytes, from, to, first);
      case 6:
        return first === 0 ? to : endOfList(bytes, from, to, first);
      default:
        return this.#client(bytes, from, to, step, true);
    }
  }

  #bareRequest(bytes: Uint8Array, from: number, to: number): number {
    let at = this.#path(bytes, from, to, blank);
    while (at !== -1 && at < to && bytes[at] !== blank) at += 1;
    return at;
  }

  #bareSeconds(bytes: Uint8Array, from: number, to: number, first: number): number {
    let end = from;
    let points = 0;
    for (; end < to && bytes[end] !== first; end++) if (bytes[end] === 46) points += 1;
    const value = points === 1 ? numberIn(bytes, from, end) : outOfForm;
    if (!(value >= 0 && value < outOfForm)) return -1;
    this.#numbers[cells.seconds] = value;
    return end;
  }

  /** HAProxy's captured headers stand in braces before the request, and may hold quotes. */
  #lastRequest(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    if (bytes[at] === openBrace) {
      while (at < to && !(bytes[at] === closeBrace && bytes[at + 1] === blank && bytes[at + 2] !== openBrace)) at += 1;
      at += 2;
    }
    if (bytes[at] !== quote || bytes[to - 1] !== quote) return -1;
    return this.#path(bytes, at + 1, to - 1, blank) === -1 ? -1 : to;
  }

  /** Who was asked after all had gone is told by the retries, which come later. */
  #server(bytes: Uint8Array, from: number, to: number, first: number): number {
    let at = from;
    while (at < to && bytes[at] !== first) at += 1;
    this.#noServer = bytes[from] === lessThan;
    if (!this.#noServer) this.#note(columns.replica, from, at);
    return this.#noServer && !standsAt(bytes, from, at, nobody) ? -1 : at;
  }

  /** nginx's list of tries. What has no port is the name of a group: no server could be chosen. */
  #tried(bytes: Uint8Array, from: number, to: number, step: number, first: number): number {
    const end = first === 0 ? to : endOfList(bytes, from, to, first);
    if (end === -1 || (isDash(bytes, from, end) && this.#needed[step] === 1)) return -1;
    if (isDash(bytes, from, end)) return end;
    const last = lastOfList(bytes, from, end);
    if (last > from && !isSeparated(bytes, last)) return -1;
    let tries = 1;
    for (let at = from; at < last; at++) {
      if (bytes[at] === comma || (bytes[at] === colon && bytes[at + 1] === blank)) tries += 1;
    }
    this.#numbers[cells.attempts] = tries;
    const named = portBegin(bytes, last, end) === end && bytes[last] !== letterU;
    if (!named) this.#note(columns.replica, last, end);
    else if (this.#begins[columns.service] === -1) this.#note(columns.service, last, end);
    return end;
  }

  /** Proxies append to a list; the first is who asked. */
  #client(bytes: Uint8Array, from: number, to: number, step: number, hasPort: boolean): number {
    const end = this.#endBefore(bytes, from, to, step, this.#firsts[step] ?? 0, this.#lengths[step] ?? 0);
    if (end === -1 || this.#begins[columns.client] !== -1 || isDash(bytes, from, end)) return end;
    let own = from;
    for (; own < end; own++) {
      if (bytes[own] === blank) return -1;
      if (bytes[own] === comma && !hasPort) break;
    }
    this.#note(columns.client, from, hasPort ? portBegin(bytes, from, own) : own);
    return end;
  }

  /** Whether it reads this line as the slow reader did. What it declines it agrees with. */
  agrees(bytes: Uint8Array, slow: RequestRow): boolean {
    if (!this.read(bytes, 0, bytes.length)) return true;
    const numbersAgree = (Object.keys(cells) as (keyof typeof cells)[]).every((name) => {
      const one = this.#numbers[cells[name]] ?? Number.NaN;
      return Object.is(one, slow[name]) || Math.abs(one - slow[name]) < 1e-6;
    });
    const textsAgree = (Object.keys(columns) as (keyof typeof columns)[]).every((name) => {
      const begin = this.#begins[columns[name]] ?? -1;
      const found = begin === -1 ? undefined : textOf(bytes, begin, this.#ends[columns[name]] ?? -1);
      return found === slow[name];
    });
    return numbersAgree && textsAgree;
  }
}

/** Values that are passed over and end with one byte, the same for several: one step. `times` is 0 for all other steps. */
function mergedSkips(steps: readonly Step[]): (Step & { readonly times: number })[] {
  const merged: (Step & { times: number })[] = [];
  for (const step of steps) {
    const last = merged.at(-1);
    const single = (step.place === 'skip' || step.place === 'skip-number') && step.before.length === 1;
    const same = last?.place === step.place && last.before === step.before;
    if (single && last !== undefined && last.times > 0 && same) last.times += 1;
    else merged.push({ ...step, times: single ? 1 : 0 });
  }
  return merged;
}

function kindOf(step: Step & { readonly times: number }): number {
  return step.times > 0 && step.place === 'skip' ? skipsFields : compiled[step.place].kind;
}

function isStatus(value: number): boolean {
  return value <= 999 && value % 1 === 0;
}

/** A digit, a sign. */
function isOfNumber(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || byte === dash || byte === 43;
}

const powersOfTen = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

function isDash(bytes: Uint8Array, from: number, to: number): boolean {
  return to <= from || (to - from === 1 && bytes[from] === dash);
}

/** Where a list of tries ends, whose blanks stand after a comma, or beside a colon that stands alone. */
function endOfList(bytes: Uint8Array, from: number, to: number, first: number): number {
  for (let at = from; at < to; at++) {
    if (bytes[at] !== first) continue;
    if (first !== blank) return at;
    const after = bytes[at - 1] === comma || (bytes[at - 1] === colon && bytes[at - 2] === blank);
    if (!after && !(bytes[at + 1] === colon && bytes[at + 2] === blank)) return at;
  }
  return -1;
}

/** Where the last of a list begins. */
function lastOfList(bytes: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && bytes[at - 1] !== blank && bytes[at - 1] !== comma) at -= 1;
  return at;
}

/** Whether `, ` or ` : ` stands before this member of a list. */
function isSeparated(bytes: Uint8Array, at: number): boolean {
  if (bytes[at - 1] !== blank) return false;
  return bytes[at - 2] === comma || (bytes[at - 2] === colon && bytes[at - 3] === blank);
}

function standsAt(bytes: Uint8Array, at: number, to: number, words: Uint8Array): boolean {
  const length = words.length;
  if (at + length > to) return false;
  for (let index = 0; index < length; index++) if (bytes[at + index] !== words[index]) return false;
  return true;
}

/** ASCII only, which a program's texts are. */
export function bytesOf(characters: string): Uint8Array {
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
