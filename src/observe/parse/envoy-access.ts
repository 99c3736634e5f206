// Envoy's access log as text: its default form, and Istio's, which puts details in the middle and the cluster at the end.
//
//   [time] "method path protocol" code flags [details termination "transport failure"] received sent duration service-time
//     "forwarded-for" "agent" "request id" "authority" "upstream host" [cluster local-address …]
//
// The time is when the request began; durations are milliseconds; `-` is unset. Envoy's own answers (503 UO, 504 UT) have no
// service time: the upstream said nothing.

import { FastLines } from './fast-lines.ts';
import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import type { Program, Step } from './line-form.ts';
import { withoutQuery, withReason } from './access-row.ts';
import { blankRow, clearRow, type RequestRow } from './request-table.ts';
import type { Sink } from './sink.ts';

const program = 'envoy';

const line =
  /^\[([^\]]+)\] "(\S+) ((?:[^"\\]|\\.)*?) ?([^" ]*)" (\d{1,3}|-) ([A-Z][A-Za-z,_]*|-) (?:(\S+) (\S+) "((?:[^"\\]|\\.)*)" )?(\d+|-) (\d+|-) (\d+|-) (\d+|-) "([^"]*)" "((?:[^"\\]|\\.)*)" "([^"]*)" "([^"]*)" "([^"]*)"(?: (\S+) (\S+) (\S+) (\S+) (\S+) (\S+))?/;

export const envoyAccess: LineFormat = {
  kind: 'lines',
  name: 'Envoy access log',
  recognise: (head) => shareOfLines(head, (text) => line.test(text)) * 0.98,
  open: envoyAccessReader,
};

function envoyAccessReader(sink: Sink, head: string): LineReader {
  const table = sink.requests(program);
  const row = blankRow();
  const fast = new FastLines([defaultForm, istioForm], table, head, readLine);
  table.stepMs = leadingInstant(/\[([^\]]+)\]/.exec(head)?.[1] ?? '')?.stepMs ?? 1;
  return {
    take: (bytes, from, to) => fast.take(bytes, from, to),
    line(text) {
      if (!readLine(text, row)) return false;
      if (table.wants()) table.add(row);
      return true;
    },
  };
}

const beginning = [
  { place: 'iso-time', before: '] "' },
  { place: 'request', before: '" ' },
  { place: 'status', number: 'count-or-dash', before: ' ' },
  { place: 'envoy-flag', before: ' ' },
] as const satisfies readonly Step[];
const middle = [
  { place: 'skip-number', number: 'count-or-dash', before: ' ' },
  { place: 'skip-number', number: 'count-or-dash', before: ' ' },
  { place: 'seconds', number: 'count-or-dash', before: ' ', perSecond: 1000 },
  { place: 'upstream-seconds', number: 'count-or-dash', before: ' "', perSecond: 1000 },
  { place: 'client', before: '" "' },
  { place: 'skip', before: '" "', quotable: true },
  { place: 'skip', before: '" "' },
  { place: 'service', before: '" "' },
] as const satisfies readonly Step[];

const defaultForm: Program = {
  prefix: '[',
  steps: [...beginning, ...middle, { place: 'replica', before: '"' }],
  timesAreEnds: false,
  statusIsUpstreams: 'when-timed',
  serviceMayAnswer: false,
};

const istioForm: Program = {
  ...defaultForm,
  steps: [
    ...beginning,
    { place: 'details', before: ' ' },
    // With a reason of the transport it is the slow reader's.
    { place: 'skip', before: ' "-" ' },
    ...middle,
    { place: 'replica', before: '" ' },
    { place: 'service', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'client-with-port', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'skip', before: '' },
  ],
};

/** Fills the row from a line; whether it is one of ours. */
function readLine(text: string, row: RequestRow): boolean {
  const found = line.exec(text);
  const began = leadingInstant(found?.[1] ?? '');
  if (found === null || began === undefined) return false;
  clearRow(row);
  row.startMs = began.ms;
  fill(row, found);
  return true;
}

function fill(row: RequestRow, found: RegExpExecArray): void {
  const given = (index: number): string | undefined => {
    const text = found[index];
    return text === undefined || text === '-' || text === '' ? undefined : text;
  };
  row.status = Number(given(5) ?? -1);
  row.seconds = Number(given(12) ?? Number.NaN) / 1000;
  row.upstreamSeconds = Number(given(13) ?? Number.NaN) / 1000;
  if (!Number.isNaN(row.upstreamSeconds)) row.upstreamStatus = row.status;
  row.flag = withReason(given(6), `${given(7) ?? ''} ${given(9) ?? ''}`);
  const method = given(2);
  const path = given(3);
  if (method !== undefined && path !== undefined) row.route = `${method} ${withoutQuery(path)}`;
  row.replica = given(18);
  row.service = given(19) ?? given(17);
  const remote = given(22)?.replace(/:\d+$/, '');
  row.client = given(14)?.split(',')[0]?.trim() ?? remote;
}
