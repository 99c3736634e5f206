// Spans of any format, and the requests that they are.
//
//   client span   one service calls another: a request with its caller, callee and tries
//   server span   a service answers: a request with the replica that answered it
//
//   caller   |------------- GET /cart -------------|            the parent
//   call       |-- timeout --|   |---- ok ----|                 two sibling spans of one name, one after the other: two tries
//   callee       |------- goes on although nobody waits ----|   outlives the call that asked for it: wasted work
//
// Calls that overlap are no tries but a fan-out. Clocks of two machines differ: work counts as outliving its caller only when it
// goes on for more than 20 ms after it.

import { withoutQuery } from '../access-row.ts';
import { blankRow, clearRow, type RequestRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

export interface Span {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly service: string | undefined;
  /** Which of several instances of the service: a pod, an instance id, a host. */
  readonly replica: string | undefined;
  /** Who is called, where a client says. */
  readonly peer: string | undefined;
  readonly status: number;
  /** What went wrong in the tracer's words; an empty text: something did. */
  readonly error: string | undefined;
  readonly line: number | undefined;
}

const spansMax = 500_000;
const clockSlackMs = 20;
const outlivedMax = 1000;

export class Spans {
  readonly #sink: Sink;
  readonly #all: Span[] = [];
  #left = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  add(span: Span): void {
    if (this.#all.length < spansMax) this.#all.push(span);
    else this.#left += 1;
  }

  /** All spans are there: requests, and what outlived its caller. */
  write(): void {
    if (this.#left > 0) this.#sink.remark(`more than ${spansMax} spans: ${this.#left} after them are left out`);
    const byId = new Map(this.#all.map((span) => [`${span.trace} ${span.id}`, span]));
    const parentOf = (span: Span): Span | undefined =>
      span.parent === undefined ? undefined : byId.get(`${span.trace} ${span.parent}`);
    const answers = new Map<string, Span>();
    for (const span of this.#all) {
      if (span.kind === 'server' && span.parent !== undefined) answers.set(`${span.trace} ${span.parent}`, span);
    }
    this.#writeAnswers(parentOf);
    this.#writeCalls(answers);
    this.#writeOutlived(parentOf);
  }

  #writeAnswers(parentOf: (span: Span) => Span | undefined): void {
    const row = blankRow();
    for (const span of this.#all) {
      if (span.kind !== 'server' && span.kind !== 'consumer') continue;
      const table = this.#sink.requests('trace');
      if (!table.wants()) continue;
      table.stepMs = 0.001;
      fill(row, span, span.endMs);
      row.replica = span.replica;
      row.service = span.service;
      const caller = parentOf(span);
      row.client = caller?.replica ?? caller?.service;
      table.add(row);
    }
  }

  #writeCalls(answers: ReadonlyMap<string, Span>): void {
    const row = blankRow();
    for (const tries of triesOf(this.#all.filter((span) => span.kind === 'client'))) {
      const first = tries[0];
      const last = tries.at(-1);
      if (first === undefined || last === undefined) continue;
      const table = this.#sink.requests('trace-calls');
      if (!table.wants()) continue;
      table.stepMs = 0.001;
      const answer = answers.get(`${last.trace} ${last.id}`);
      fill(row, last, last.endMs);
      row.startMs = first.startMs;
      row.seconds = (last.endMs - first.startMs) / 1000;
      row.upstreamSeconds = (last.endMs - last.startMs) / 1000;
      row.attempts = tries.length;
      row.upstreamStatus = answer?.status ?? -1;
      row.replica = answer?.replica ?? last.peer;
      row.service = answer?.service ?? last.peer;
      row.client = last.replica ?? last.service;
      table.add(row);
    }
  }

  #writeOutlived(parentOf: (span: Span) => Span | undefined): void {
    let count = 0;
    let seconds = 0;
    for (const span of this.#all) {
      const caller = parentOf(span);
      // Messages are meant to be worked on later.
      if (caller === undefined || span.kind === 'consumer' || caller.kind === 'producer') continue;
      const beyondMs = span.endMs - caller.endMs;
      if (beyondMs <= clockSlackMs) continue;
      count += 1;
      seconds += beyondMs / 1000;
      if (count > outlivedMax) continue;
      this.#sink.message({
        program: 'trace',
        atMs: caller.endMs,
        code: 'outlived-caller',
        ...(span.service === undefined ? {} : { subject: span.service }),
        text: `${span.name} went on for ${(beyondMs / 1000).toFixed(3)} s after ${caller.name} of ${caller.service ?? 'its caller'} was over`,
        line: span.line,
      });
    }
    if (count === 0) return;
    this.#sink.sample('spans_outlived_caller_total', {}, count, { type: 'counter' });
    this.#sink.sample('spans_outlived_caller_seconds_total', {}, seconds, { type: 'counter' });
  }
}

function fill(row: RequestRow, span: Span, endMs: number): void {
  clearRow(row);
  row.startMs = span.startMs;
  row.seconds = (endMs - span.startMs) / 1000;
  row.status = span.status;
  row.route = withoutQuery(span.name);
  if (span.name.includes(' ')) row.route = span.name.split('?')[0];
  row.flag = span.error === undefined ? undefined : span.error === '' ? 'error' : span.error.slice(0, 120);
}

/** Calls of one parent by one name to one peer, cut into groups that follow each other after a failure. */
function triesOf(calls: readonly Span[]): Span[][] {
  const groups = new Map<string, Span[]>();
  for (const span of calls) {
    const key =
      span.parent === undefined ? `${span.trace} ${span.id}` : [span.trace, span.parent, span.name].join('\n');
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [span]);
    else known.push(span);
  }
  return [...groups.values()].flatMap((siblings) => {
    const ordered = siblings.toSorted((one, other) => one.startMs - other.startMs);
    const tries: Span[][] = [];
    for (const span of ordered) {
      const before = tries.at(-1)?.at(-1);
      const again = before !== undefined && span.startMs >= before.endMs && failed(before);
      if (again) tries.at(-1)?.push(span);
      else tries.push([span]);
    }
    return tries;
  });
}

function failed(span: Span): boolean {
  return span.error !== undefined || span.status >= 500;
}
