// nginx's access log as facts, where its form is known: one of the usual ones, or a `log_format` that stands in an nginx.conf
// among the files. Logs of any other form go to the general reader of access lines.
//
// nginx writes a line when the request is over; the beginning is that less `$request_time`.

import { AccessRows } from './access-row.ts';
import { FastLines } from './fast-lines.ts';
import { firstLines, type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import { nginxFormats, type NginxReader, nginxReader } from './nginx-access.ts';
import type { Program } from './line-form.ts';
import { nginxProgram } from './nginx-program.ts';
import { blankRow, clearRow, type RequestRow } from './request-table.ts';
import type { Hints, Sink } from './sink.ts';

const program = 'nginx';
/** `$request` and a status are in every form; more makes it surer that the form is meant. */
const combined =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';

export const nginxAccess: LineFormat = {
  kind: 'lines',
  name: 'nginx access log',
  recognise: (head, _name, hints) => bestReader(head, hints).share * 0.95,
  open: nginxAccessReader,
};

function nginxAccessReader(sink: Sink, head: string): LineReader {
  const { reader, program: fastProgram } = bestReader(head, sink.hints);
  const values = firstLines(head, 50).flatMap((line) => reader.values(line) ?? []);
  const rows = new AccessRows(values);
  const table = sink.requests(program);
  const row = blankRow();
  const readLine = (text: string, into: RequestRow): boolean => {
    const found = reader.values(text);
    if (found === undefined) return false;
    clearRow(into);
    return rows.fill(into, found);
  };
  const fast = new FastLines(fastProgram === undefined ? [] : [fastProgram], table, head, readLine);
  const [example] = values;
  table.stepMs = leadingInstant(example?.get('msec') ?? example?.get('time_iso8601') ?? '')?.stepMs ?? 1000;
  return {
    take: (bytes, from, to) => fast.take(bytes, from, to),
    line(text) {
      if (!readLine(text, row)) return false;
      if (table.wants()) table.add(row);
      return true;
    },
    end: () => table.nameServers(sink.hints.servers),
  };
}

/** The form that most of the first lines have; of two the one that stands first, which says more. */
function bestReader(head: string, hints: Hints): { reader: NginxReader; program: Program | undefined; share: number } {
  const known = [...hints.logFormats, ...Object.entries(nginxFormats), ['combined', combined] as const];
  let best = { reader: nginxReader('combined', combined), format: combined, share: 0 };
  for (const [name, format] of known) {
    const reader = nginxReader(name, format);
    const share = shareOfLines(head, (line) => reader.values(line) !== undefined);
    if (share > best.share) best = { reader, format, share };
  }
  return { ...best, program: nginxProgram(best.format) };
}
