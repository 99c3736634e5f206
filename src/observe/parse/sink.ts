// Where readers put what they find, one sink a file. It knows the file, so that every fact has its origin; it keeps the
// bounds; and it counts what was understood.
//
// The bound on messages: a log with an error in every line would not fit. Beyond it only the number by code and subject is
// kept, as the sample `messages_total`, so a rate can still be told.

import type {
  Dossier,
  EventFact,
  LoadResultFact,
  MessageFact,
  Origin,
  RequestTable,
  SampleFact,
  SeriesFact,
  SettingFact,
  SettingKey,
  SourceNote,
} from '../../record.ts';
import { RequestTableBuilder } from './request-table.ts';
import { detached } from './texts.ts';

const foreignKept = 5;
const foreignLength = 160;
const textLength = 500;
const messagesMax = 100_000;

/** What one file tells about others: `log_format`s, names of servers. */
export interface Hints {
  /** nginx's `log_format` by name. */
  readonly logFormats: Map<string, string>;
  /** The group and the name that a configuration gives to an address. */
  readonly servers: Map<string, { readonly service: string; readonly label: string | undefined }>;
  /** Addresses that some file lists as targets: who has one of them is asked, and asks nobody. */
  readonly addresses: Set<string>;
}

export function noHints(): Hints {
  return { logFormats: new Map(), servers: new Map(), addresses: new Set() };
}

export class Sink {
  readonly file: string;
  readonly hints: Hints;
  readonly settings: SettingFact[] = [];
  readonly samples: SampleFact[] = [];
  readonly allSeries: SeriesFact[] = [];
  readonly results: LoadResultFact[] = [];
  readonly messages: MessageFact[] = [];
  readonly events: EventFact[] = [];
  /** Said to the person beside the count of lines: an include that was not followed, a bound that was reached. */
  readonly remarks: string[] = [];
  readonly #tables = new Map<string, RequestTableBuilder>();
  readonly #foreign: { line: number; text: string }[] = [];
  readonly #surplus = new Map<string, { code: string; subject: string | undefined; count: number }>();
  #lines = 0;
  #understood = 0;
  #reading = 0;

  constructor(file: string, hints: Hints = noHints()) {
    this.file = file;
    this.hints = hints;
  }

  /** One setting. `implied`: nobody wrote it, it is the program's default. */
  setting(
    fact: Omit<SettingFact, 'origin' | 'implied' | 'key'> & {
      readonly key: SettingKey;
      readonly implied?: boolean;
      readonly line?: number | undefined;
    },
  ): void {
    const { line, implied = false, ...rest } = fact;
    this.settings.push({ ...rest, implied, origin: this.origin(line) });
  }

  /** One number, of the reading that is going on. */
  sample(
    name: string,
    labels: Readonly<Record<string, string>>,
    value: number,
    more: {
      readonly type?: SampleFact['type'];
      readonly atMs?: number | undefined;
      readonly line?: number | undefined;
    } = {},
  ): void {
    this.samples.push({
      name,
      labels,
      value,
      type: more.type ?? 'unknown',
      reading: this.#reading,
      atMs: more.atMs,
      origin: this.origin(more.line),
    });
  }

  /** From here on samples belong to another reading: one file may hold several (`ss` every 30 s). */
  nextReading(): void {
    this.#reading += 1;
  }

  /** Instants need not rise yet. */
  series(
    name: string,
    labels: Readonly<Record<string, string>>,
    points: readonly { readonly atMs: number; readonly value: number }[],
    line?: number,
  ): void {
    const ordered = points.toSorted((one, other) => one.atMs - other.atMs);
    this.allSeries.push({
      name,
      labels,
      atMs: ordered.map((point) => point.atMs),
      values: ordered.map((point) => point.value),
      origin: this.origin(line),
    });
  }

  result(fact: Omit<LoadResultFact, 'origin'>, line?: number): void {
    this.results.push({ ...fact, origin: this.origin(line) });
  }

  message(fact: Omit<MessageFact, 'origin'> & { readonly line?: number | undefined }): void {
    const { line, ...rest } = fact;
    if (this.messages.length >= messagesMax) {
      const key = `${fact.code} ${fact.subject ?? ''}`;
      const surplus = this.#surplus.get(key);
      if (surplus === undefined) this.#surplus.set(key, { code: fact.code, subject: fact.subject, count: 1 });
      else surplus.count += 1;
      return;
    }
    this.messages.push({ ...rest, text: detached(rest.text.slice(0, textLength)), origin: this.origin(line) });
  }

  event(fact: Omit<EventFact, 'origin'> & { readonly line?: number | undefined }): void {
    const { line, ...rest } = fact;
    this.events.push({ ...rest, origin: this.origin(line) });
  }

  /** The table of this program's requests in this file; made when it is first asked for. */
  requests(program: string): RequestTableBuilder {
    const known = this.#tables.get(program);
    if (known !== undefined) return known;
    const table = new RequestTableBuilder();
    this.#tables.set(program, table);
    return table;
  }

  /** So many lines (or things, where lines mean nothing) were understood. */
  understood(count = 1): void {
    this.#lines += count;
    this.#understood += count;
  }

  /** A line that was not. */
  foreign(line: number, text: string): void {
    this.#lines += 1;
    if (this.#foreign.length < foreignKept) this.#foreign.push({ line, text: detached(text.slice(0, foreignLength)) });
  }

  remark(text: string): void {
    if (!this.remarks.includes(text)) this.remarks.push(text);
  }

  origin(line?: number): Origin {
    return line === undefined ? { file: this.file } : { file: this.file, line };
  }

  /** All of it, once the file is read. */
  finish(format: string): Omit<Dossier, 'sources'> & { readonly source: SourceNote } {
    for (const { code, subject, count } of this.#surplus.values()) {
      const labels = { code, ...(subject === undefined ? {} : { subject }) };
      this.sample('messages_total', labels, count, { type: 'counter' });
      this.remark(`more than ${messagesMax} messages: of the rest only the number is kept`);
    }
    const requests: RequestTable[] = [];
    for (const [program, table] of this.#tables) {
      if (table.count > 0) requests.push(table.finish(program, this.origin()));
    }
    return {
      source: {
        file: this.file,
        format,
        lines: this.#lines,
        understood: this.#understood,
        foreign: this.#foreign,
      },
      settings: this.settings,
      samples: this.samples,
      series: this.allSeries,
      requests,
      results: this.results,
      messages: this.messages,
      events: this.events,
    };
  }
}
