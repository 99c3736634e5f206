// Locust's CSV files: `_stats.csv` (one row a request, and `Aggregated`), `_stats_history.csv` (the same every second or so, with
// the number of users), `_failures.csv` (what went wrong, how often). Times are milliseconds.
//
// Locust's users wait for their answers: a closed loop.

import { firstLines, type WholeFormat } from '../format.ts';
import { parseInstant } from '../instants.ts';
import { splitCells } from '../plain-table.ts';
import { Points } from '../points.ts';
import { parseNumber } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { type LoadDraft, latenciesOf, put, runOf } from './draft.ts';
import { errorKind } from './tally.ts';

const tool = 'locust';
const stats = /^"?Type"?,"?Name"?,"?(?:# )?[Rr]equest(?:s| Count)"?,/;
const history = /^"?Timestamp"?,"?User Count"?,"?Type"?,"?Name"?,/;
const failures = /^"?Method"?,"?Name"?,"?Error"?,"?Occurrences"?/;

export const locust: WholeFormat = {
  kind: 'whole',
  name: 'Locust results',
  recognise(head) {
    const first = firstLines(head, 1)[0] ?? '';
    return stats.test(first) || history.test(first) || failures.test(first) ? 1 : 0;
  },
  read(text, sink) {
    const lines = text.split('\n');
    const first = lines.findIndex((line) => line.trim() !== '');
    const head = lines[first] ?? '';
    const names = splitCells(head, ',').map((name) => name.trim());
    const points = new Points();
    if (head !== '') sink.understood();
    for (const [index, line] of lines.entries()) {
      if (index <= first || line.trim() === '') continue;
      const cells = splitCells(line, ',');
      if (cells.length < names.length) {
        sink.foreign(index + 1, line);
        continue;
      }
      const row: Row = { cell: (...known) => cellOf(names, cells, known), names, cells, line: index + 1 };
      if (stats.test(head)) readStats(row, sink);
      else if (history.test(head)) readHistory(row, points);
      else readFailure(row, sink);
      sink.understood();
    }
    points.write(sink);
  },
};

interface Row {
  /** The first of these columns that is there. */
  readonly cell: (...names: readonly string[]) => string | undefined;
  readonly names: readonly string[];
  readonly cells: readonly string[];
  readonly line: number;
}

function cellOf(names: readonly string[], cells: readonly string[], known: readonly string[]): string | undefined {
  const index = names.findIndex((name) => known.includes(name));
  return index === -1 ? undefined : cells[index];
}

function readStats(row: Row, sink: Sink): void {
  const name = row.cell('Name') ?? '';
  const requests = parseNumber(row.cell('Request Count', '# requests', 'Requests'));
  if (name !== 'Aggregated' && name !== 'Total') {
    const labels = { route: `${row.cell('Type', 'Method') ?? ''} ${name}`.trim() };
    if (requests !== undefined)
      sink.sample('locust_requests_total', labels, requests, { type: 'counter', line: row.line });
    const mean = parseNumber(row.cell('Average Response Time', 'Average response time'));
    if (mean !== undefined) sink.sample('locust_response_time_seconds_mean', labels, mean / 1000, { line: row.line });
    return;
  }
  const draft: LoadDraft = { tool, run: runOf(sink) };
  put(draft, 'requests', requests);
  put(draft, 'errors', parseNumber(row.cell('Failure Count', '# failures')));
  put(draft, 'ratePerSecond', parseNumber(row.cell('Requests/s')));
  if ((draft.ratePerSecond ?? 0) > 0 && requests !== undefined) {
    put(draft, 'seconds', requests / (draft.ratePerSecond ?? 1));
  }
  const times: Record<string, number> = {};
  const note = (key: string, text: string | undefined): void => {
    const value = parseNumber(text);
    if (value !== undefined) times[key] = value;
  };
  note('mean', row.cell('Average Response Time', 'Average response time'));
  note('min', row.cell('Min Response Time', 'Min response time'));
  for (const [index, column] of row.names.entries()) if (column.endsWith('%')) note(column, row.cells[index]);
  note('max', row.cell('Max Response Time', 'Max response time'));
  put(draft, 'latency', latenciesOf(times, 1e-3));
  sink.result(draft, row.line);
  const setting = { program: 'load-generator', scope: draft.run, line: row.line };
  sink.setting({ ...setting, key: 'load.tool', value: tool });
  sink.setting({ ...setting, key: 'load.model', value: 'closed', implied: true });
}

function readHistory(row: Row, points: Points): void {
  const at = parseInstant(row.cell('Timestamp'));
  if (at === undefined) return;
  const name = row.cell('Name') ?? '';
  const labels: Record<string, string> =
    name === 'Aggregated' || name === '' ? {} : { route: `${row.cell('Type') ?? ''} ${name}`.trim() };
  const add = (metric: string, text: string | undefined, unit: number): void => {
    const value = parseNumber(text);
    if (value !== undefined) points.add(metric, labels, at.ms, value * unit);
  };
  add('locust_users', row.cell('User Count'), 1);
  add('locust_requests_per_second', row.cell('Requests/s'), 1);
  add('locust_failures_per_second', row.cell('Failures/s'), 1);
  add('locust_response_time_seconds_p50', row.cell('50%'), 1e-3);
  add('locust_response_time_seconds_p99', row.cell('99%'), 1e-3);
}

function readFailure(row: Row, sink: Sink): void {
  const text = row.cell('Error') ?? '';
  const kind = errorKind(text);
  const subject = `${row.cell('Method') ?? ''} ${row.cell('Name') ?? ''}`.trim();
  sink.message({ program: tool, atMs: undefined, code: kind, subject, text, line: row.line });
  sink.sample('locust_errors_total', { route: subject, kind }, parseNumber(row.cell('Occurrences')) ?? 1, {
    type: 'counter',
    line: row.line,
  });
}
