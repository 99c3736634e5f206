// Access logs at the speed of memory: a line is read along a program, which is what a log's form is (`line-form.ts`).
//
// One pass, no string, no regular expression, nothing allocated but texts that were never seen. What does not fit at first
// sight (an escape, an odd number, one place more or less) is declined, and the slow reader of the format, which knows
// everything, reads that line. So a program may be strict, and it has to be: what it takes it reads exactly as the slow reader
// would. It decides speed, never meaning.
//
// Hot, all of it: some 2 ns a byte. Steps are few kinds with a column each, so that the loop has few ways to go.

import { assert } from '../../base.ts';
import { lastOf } from './access-row.ts';
import { ByteTexts } from './byte-texts.ts';
import { find, isDigit, powersOfTen, repeated, textOf, Wording } from './byte-words.ts';
import type { Place, Program, Step } from './line-form.ts';
import { InstantReader } from './line-numbers.ts';
import { columns, headerSeconds, LineValues, passedOver } from './line-values.ts';
import { cells, type RequestRow, type RequestTableBuilder } from './request-table.ts';
import { isDash, pathEnd, specialValues, type ValueReader } from './special-values.ts';

const blank = 32;
const quote = 34;
const comma = 44;
const dash = 45;
const dot = 46;
const zero = 48;
const colon = 58;
const question = 63;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const blanks = repeated(blank);
const commas = repeated(comma);
const quotes = repeated(quote);
const backslashes = repeated(backslash);
const protocol = new Wording(' HTTP/');

// Kinds of steps, as numbers for the loop.
const skips = 0;
const number = 1;
const text = 2;
const time = 3;
const request = 4;
const special = 5;
const counts = 6;

const numberCells: Readonly<Partial<Record<Place, number>>> = {
  'skip-number': passedOver,
  status: cells.status,
  'bare-status': cells.status,
  'upstream-status': cells.upstreamStatus,
  seconds: cells.seconds,
  'bare-seconds': cells.seconds,
  'upstream-seconds': cells.upstreamSeconds,
  'header-seconds': headerSeconds,
  'connect-seconds': cells.connectSeconds,
  'queue-seconds': cells.queueSeconds,
  retries: cells.attempts,
};
const textColumns: Readonly<Partial<Record<Place, number>>> = {
  flag: columns.flag,
  service: columns.service,
  worker: columns.worker,
};
const timeForms: Readonly<Partial<Record<Place, number>>> = {
  'iso-time': 0,
  'common-time': 1,
  'local-time': 2,
  'epoch-time': 3,
};
/** No time ends before it has so many characters: one may have a blank within. */
const timeLengths = [19, 20, 24, 10];

// How numbers may be written, as numbers for the loop.
const numberForms = { count: 0, 'count-or-dash': 1, integer: 2, decimal: 3, tries: 4, fraction: 5, status: 6 } as const;
const bareForms: Readonly<Partial<Record<Place, keyof typeof numberForms>>> = {
  'bare-seconds': 'fraction',
  'bare-status': 'status',
};

// Where values end.
/** At a blank, or before what precedes one. */
const atBlank = 0;
/** At a quote or a bracket: blanks may be within. */
const atClosing = 1;
/** Within a word, at a byte that stands nowhere else in it. */
const withinWord = 2;
/** At a blank that is not one of a list of tries. */
const afterList = 3;
/** At the second blank. */
const afterTwoWords = 4;
const atLineEnd = 5;

export class LineProgram {
  readonly #table: RequestTableBuilder;
  readonly #program: Program;
  readonly #prefix: Wording;
  readonly #steps: readonly CompiledStep[];
  readonly #instants = new InstantReader();
  readonly #values = new LineValues();
  readonly #replicas: ByteTexts;
  readonly #clients: ByteTexts;
  readonly #routes: ByteTexts;
  readonly #flags: ByteTexts;
  readonly #services: ByteTexts;
  readonly #workers: ByteTexts;

  constructor(program: Program, table: RequestTableBuilder) {
    const { steps } = program;
    assert(steps.length > 0, 'a program has steps');
    this.#program = program;
    this.#table = table;
    this.#prefix = new Wording(program.prefix);
    this.#steps = compiledSteps(steps);
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
    return this.#values.number(cells.startMs);
  }

  get seconds(): number {
    return this.#values.number(cells.seconds);
  }

  /** Reads one line (as `LineReader.take` gets it) into the table; false, and nothing done, when it has another form. */
  take(bytes: DataView, from: number, to: number): boolean {
    if (!this.read(bytes, from, to)) return false;
    if (this.#table.wants()) this.#add(bytes);
    return true;
  }

  /** Reads one line and remembers its numbers and where its texts stand. */
  read(bytes: DataView, from: number, to: number): boolean {
    this.#values.clear();
    if (!this.#prefix.standsAt(bytes, from)) return false;
    let at = from + this.#prefix.length;
    const steps = this.#steps;
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index];
      if (step === undefined) return false;
      if (step.kind === counts) {
        at = afterCounts(bytes, at, step);
        if (at === -1) return false;
        continue;
      }
      const end = step.kind === number ? this.#number(bytes, at, to, step) : this.#value(bytes, at, to, step);
      if (end === -1 || (step.length > 1 && !step.before.standsAt(bytes, end))) return false;
      at = end + step.length;
    }
    return at === to && this.#conclude(bytes);
  }

  /** Whether it reads this line as the slow reader did (undefined: no request). What it declines it agrees with. */
  agrees(bytes: DataView, to: number, slow: RequestRow | undefined): boolean {
    return !this.read(bytes, 0, to) || (slow !== undefined && this.#values.equals(bytes, slow));
  }

  /** Reads a value that is no number. Where it ends; −1: it cannot be read. */
  #value(bytes: DataView, from: number, to: number, step: CompiledStep): number {
    const { kind } = step;
    if (kind === request) return this.#request(bytes, from, to);
    const end = endOfValue(bytes, from, to, step);
    if (end === -1 || (step.quotable && !isPlain(bytes, from, end, step))) return -1;
    let isRead = true;
    if (kind === text) isRead = this.#text(bytes, from, end, step);
    else if (kind === time) isRead = this.#time(bytes, from, end, step.column);
    else if (kind === special) isRead = step.special(this.#values, bytes, from, end, step.needed);
    return isRead ? end : -1;
  }

  #text(bytes: DataView, from: number, to: number, step: CompiledStep): boolean {
    if (isDash(bytes, from, to)) return !step.needed;
    this.#values.note(step.column, from, to);
    return true;
  }

  #time(bytes: DataView, from: number, to: number, form: number): boolean {
    const instants = this.#instants;
    let ms = Number.NaN;
    if (form === 0) ms = instants.iso(bytes, from, to);
    else if (form === 1) ms = instants.common(bytes, from, to);
    else if (form === 2) ms = instants.local(bytes, from, to);
    else ms = instants.epoch(bytes, from, to);
    this.#values.numbers[cells.startMs] = ms;
    return !Number.isNaN(ms);
  }

  /** Where it ends; −1: it is no number, or not as one is written here. */
  #number(bytes: DataView, from: number, to: number, step: CompiledStep): number {
    const { form } = step;
    let at = from;
    let value = 0;
    for (let digit = bytes.getUint8(at) - zero; digit >= 0 && digit <= 9; digit = bytes.getUint8(at) - zero) {
      value = value * 10 + digit;
      at += 1;
    }
    if (at === from) return this.#unusual(bytes, from, to, step);
    let divisor = step.perSecond;
    if (bytes.getUint8(at) === dot) {
      const point = at;
      at += 1;
      for (let digit = bytes.getUint8(at) - zero; digit >= 0 && digit <= 9; digit = bytes.getUint8(at) - zero) {
        value = value * 10 + digit;
        at += 1;
      }
      const places = at - point - 1;
      const mayBe = form >= numberForms.decimal && form <= numberForms.fraction;
      if (!mayBe || places === 0) return -1;
      divisor *= powersOfTen[places] ?? 1;
    } else if (form === numberForms.fraction || (form === numberForms.status && !(value >= 100 && value < 600)))
      return -1;
    if (at - from > 12) return -1;
    const isInList = bytes.getUint8(at) === blank && bytes.getUint8(at + 1) === colon;
    if (isInList || !endsAt(bytes, at, to, step)) return this.#unusual(bytes, from, to, step);
    if (step.column === passedOver) return at;
    return this.#put(step, divisor === 1 ? value : value / divisor, at - from) ? at : -1;
  }

  /** No number, less than nothing, or several of which the last counts. */
  #unusual(bytes: DataView, from: number, to: number, step: CompiledStep): number {
    const isMinus = bytes.getUint8(from) === dash;
    const { column, form } = step;
    if (form === numberForms.tries) return this.#list(bytes, from, to, step);
    if (form === numberForms.integer) {
      const canBeNone = column !== cells.seconds && column !== cells.status;
      const end = afterDigits(bytes, from + 1);
      return isMinus && canBeNone && end > from + 1 && endsAt(bytes, end, to, step) ? end : -1;
    }
    const mayBeDash = form === numberForms['count-or-dash'] || (form === numberForms.decimal && !step.needed);
    return isMinus && mayBeDash && endsAt(bytes, from + 1, to, step) ? from + 1 : -1;
  }

  /** Tries, as nginx writes them: rare, so with strings and as the slow reader does it. */
  #list(bytes: DataView, from: number, to: number, step: CompiledStep): number {
    const end = step.ends === atBlank ? endOfList(bytes, from, to) : endOfValue(bytes, from, to, step);
    if (end === -1) return -1;
    if (isDash(bytes, from, end)) return step.needed ? -1 : end;
    const last = String(lastOf(textOf(bytes, from, end)));
    if (last === '-') return end;
    const isNumber = /^\d{1,8}(?:\.\d{1,4})?$/.test(last);
    return isNumber && this.#put(step, dividedOnce(last, step.perSecond), last.length) ? end : -1;
  }

  /** False when no status looks like this. */
  #put({ column }: CompiledStep, value: number, length: number): boolean {
    const isStatus = column === cells.status || column === cells.upstreamStatus;
    if (isStatus && (length > 3 || value !== (value | 0))) return false;
    this.#values.numbers[column] = column === cells.attempts ? value + 1 : value;
    return true;
  }

  /** Method, path, perhaps a query, and the protocol, up to the quote. Where that is; −1: it is no such request. */
  #request(bytes: DataView, from: number, to: number): number {
    let at = pathEnd(this.#values, bytes, from, to);
    if (at === -1) return -1;
    if (bytes.getUint8(at) === question) {
      at = find(bytes, at, to, blanks);
      if (find(bytes, from, at, backslashes) < at || find(bytes, from, at, quotes) < at) return -1;
    }
    if (!protocol.standsAt(bytes, at)) return -1;
    at += protocol.length;
    while (isDigit(bytes.getUint8(at)) || bytes.getUint8(at) === dot) at += 1;
    return bytes.getUint8(at) === quote ? at : -1;
  }

  #conclude(bytes: DataView): boolean {
    const values = this.#values;
    const { numbers: found } = values;
    const { timesAreEnds, statusIsUpstreams, serviceMayAnswer } = this.#program;
    if (values.noServer) found[cells.attempts] = 0;
    const seconds = values.number(cells.seconds);
    const status = values.number(cells.status);
    if (status === -1 && Number.isNaN(seconds)) return false;
    if (Number.isNaN(values.number(cells.upstreamSeconds))) found[cells.upstreamSeconds] = values.number(headerSeconds);
    if (timesAreEnds && !Number.isNaN(seconds)) found[cells.startMs] = values.number(cells.startMs) - seconds * 1000;
    const isTimed = !Number.isNaN(values.number(cells.upstreamSeconds));
    const isUpstreams = statusIsUpstreams === 'always' || (statusIsUpstreams === 'when-timed' && isTimed);
    if (isUpstreams && values.number(cells.upstreamStatus) === -1) found[cells.upstreamStatus] = status;
    const service = values.begin(columns.service);
    return !(serviceMayAnswer && service !== -1 && !values.has(columns.replica) && isDigit(bytes.getUint8(service)));
  }

  #add(bytes: DataView): void {
    const { begins, ends, numbers: found } = this.#values;
    this.#table.addNumbers(
      found,
      this.#replicas.intern(bytes, begins[columns.replica] ?? -1, ends[columns.replica] ?? -1),
      this.#clients.intern(bytes, begins[columns.client] ?? -1, ends[columns.client] ?? -1),
      this.#routes.intern(bytes, begins[columns.route] ?? -1, ends[columns.route] ?? -1),
      this.#flags.intern(bytes, begins[columns.flag] ?? -1, ends[columns.flag] ?? -1),
      this.#services.intern(bytes, begins[columns.service] ?? -1, ends[columns.service] ?? -1),
      this.#workers.intern(bytes, begins[columns.worker] ?? -1, ends[columns.worker] ?? -1),
    );
  }
}

/** Whether what follows a value begins here. */
function endsAt(bytes: DataView, at: number, to: number, { first }: CompiledStep): boolean {
  return first === 0 ? at === to : bytes.getUint8(at) === first;
}

/** Where the digits that begin here, if any, end. */
function afterDigits(bytes: DataView, from: number): number {
  let at = from;
  while (isDigit(bytes.getUint8(at))) at += 1;
  return at;
}

/** Where the line goes on after so many numbers that end with the same byte; −1: they do not stand here. */
function afterCounts(bytes: DataView, from: number, { first, times }: CompiledStep): number {
  let at = from;
  for (let left = times; left > 0; left--) {
    const begin = at;
    at = afterDigits(bytes, begin);
    if (at === begin || bytes.getUint8(at) !== first) return -1;
    at += 1;
  }
  return at;
}

/** A step as the loop wants it: all that is asked of it, in one place. */
interface CompiledStep {
  readonly kind: number;
  /** Of numbers their cell, of texts their column, of times their form. */
  readonly column: number;
  /** How many counts that are passed over. */
  readonly times: number;
  readonly length: number;
  readonly before: Wording;
  /** The first byte of what follows; 0: the line's end. And four times that byte. */
  readonly first: number;
  readonly pattern: number;
  readonly ends: number;
  /** So many bytes of what follows a word stand before its blank. */
  readonly back: number;
  /** No value ends before it has so many characters: a time may have a blank within. */
  readonly least: number;
  readonly perSecond: number;
  readonly form: number;
  readonly needed: boolean;
  readonly quotable: boolean;
  readonly special: ValueReader;
}

/** Counts that are passed over and end with one byte, the same for several, become one step. */
function compiledSteps(steps: readonly Step[]): readonly CompiledStep[] {
  const all: CompiledStep[] = [];
  for (const step of steps.map(compiledStep)) {
    const last = all.at(-1);
    const isSame = step.kind === counts && last?.kind === counts && last.first === step.first;
    if (isSame && last !== undefined) all[all.length - 1] = { ...last, times: last.times + 1 };
    else all.push(step);
  }
  return all;
}

function compiledStep(step: Step): CompiledStep {
  const { place, before } = step;
  const wording = new Wording(before);
  const first = before === '' ? 0 : before.charCodeAt(0);
  const timeForm = timeForms[place];
  return {
    kind: place === 'skip-number' && step.number === 'count' && before.length === 1 ? counts : kindOf(place),
    column: numberCells[place] ?? textColumns[place] ?? timeForm ?? 0,
    times: 1,
    length: wording.length,
    before: wording,
    first,
    pattern: repeated(first),
    ends: endOf(step),
    back: Math.max(0, before.indexOf(' ')),
    least: timeForm === undefined ? 0 : (timeLengths[timeForm] ?? 0),
    perSecond: step.perSecond ?? 1,
    form: numberForms[bareForms[place] ?? step.number ?? 'decimal'],
    needed: step.needed === true,
    quotable: step.quotable === true,
    special: specialValues[place] ?? (() => true),
  };
}

function kindOf(place: Place): number {
  if (numberCells[place] !== undefined) return number;
  if (textColumns[place] !== undefined) return text;
  if (timeForms[place] !== undefined) return time;
  if (place === 'request') return request;
  return specialValues[place] === undefined ? skips : special;
}

function endOf({ place, before, quotable }: Step): number {
  if (place === 'last-request') return atLineEnd;
  const first = before.charCodeAt(0);
  if (first === quote || first === closeBracket) return atClosing;
  if (place === 'bare-request') return afterTwoWords;
  if ((place === 'tried' || place === 'skip-list') && quotable !== true) return afterList;
  return before === '' || before.includes(' ') ? atBlank : withinWord;
}

/** Where the value that begins here ends; −1: nowhere. */
function endOfValue(bytes: DataView, from: number, to: number, step: CompiledStep): number {
  switch (step.ends) {
    case atBlank: {
      const end = find(bytes, from + step.least, to, blanks);
      // A word has at least one letter.
      return end - step.back > from && end < to !== (step.first === 0) ? end - step.back : -1;
    }
    case atClosing: {
      const end = find(bytes, from, to, step.pattern);
      return end < to ? end : -1;
    }
    case withinWord: {
      const word = find(bytes, from, to, blanks);
      const end = find(bytes, from, word, step.pattern);
      return end > from && end < word && find(bytes, end + 1, word, step.pattern) === word ? end : -1;
    }
    case afterList:
      return endOfList(bytes, from, to);
    case afterTwoWords: {
      const end = find(bytes, find(bytes, from, to, blanks) + 1, to, blanks);
      return end < to ? end : -1;
    }
    default:
      return to;
  }
}

/** Whether nothing has to be taken out of quotes or off a list. */
function isPlain(bytes: DataView, from: number, to: number, step: CompiledStep): boolean {
  if (step.ends === atClosing) return find(bytes, from, to, backslashes) === to;
  const isList = find(bytes, from, to, commas) < to;
  return !isList && find(bytes, from, to, quotes) === to && bytes.getUint8(from) !== openBracket;
}

/** Where a list of tries ends, whose blanks stand after a comma, or beside a colon that stands alone. */
function endOfList(bytes: DataView, from: number, to: number): number {
  if (bytes.getUint8(from) === blank) return -1;
  for (let at = find(bytes, from, to, blanks); at < to; at = find(bytes, at + 1, to, blanks)) {
    const before = bytes.getUint8(at - 1);
    const isWithin =
      before === comma ||
      (before === colon && at - from > 1 && bytes.getUint8(at - 2) === blank) ||
      (bytes.getUint8(at + 1) === colon && bytes.getUint8(at + 2) === blank);
    if (!isWithin) return isTries(bytes, from, at) ? at : -1;
  }
  return isTries(bytes, from, to) ? to : -1;
}

/** A word, or words between `, ` and ` : `. */
function isTries(bytes: DataView, from: number, to: number): boolean {
  const isWord = to > from && find(bytes, from, to, blanks) === to;
  return isWord || /^(?:[^\s,]+(?:, | : ))*\S+$/.test(textOf(bytes, from, to));
}

/** A number of few digits in some unit, divided once. */
function dividedOnce(digits: string, perSecond: number): number {
  const places = digits.includes('.') ? digits.length - digits.indexOf('.') - 1 : 0;
  return Number(digits.replace('.', '')) / ((powersOfTen[places] ?? 1) * perSecond);
}
