// Tables drawn with bars, as psql, pgbouncer's console and MySQL's client draw them.
//
//    database | user | cl_active | cl_waiting | sv_active | sv_idle | maxwait
//   ----------+------+-----------+------------+-----------+---------+---------
//    shop     | app  |        20 |         73 |        20 |       0 |       4
//
// A row is a thing with its numbers: samples named for the column, with the words of the row as labels. Of a list of sessions
// (`pg_stat_activity`, `SHOW PROCESSLIST`) the rows are counted by state instead.

import { type WholeFormat } from '../format.ts';
import { parseNumber } from '../quantities.ts';
import type { Sink } from '../sink.ts';

const rule = /^\s*[+|]?-{2,}(?:\+-+)+[+|]?\s*$/;
const footer = /^\s*\((\d+) rows?\)|^\d+ rows? in set|^(?:Expanded display|Query OK|Time:)/;
const identifiers = /^(?:pid|id|port|oid|usesysid|datid|client_port|addr|ptr|link|backend_xid|backend_xmin)$/;
/** Columns of pgbouncer's `SHOW CONFIG` and the like. */
const settingColumns = /^(?:key|name|variable_name|setting)$/i;

export const drawnTable: WholeFormat = {
  kind: 'whole',
  name: 'table drawn with bars',
  recognise(head) {
    const lines = head.split('\n');
    const at = lines.findIndex((line) => rule.test(line));
    return at !== -1 && [lines[at - 1], lines[at + 1]].some((line) => line?.includes('|') === true) ? 0.9 : 0;
  },
  read(text, sink) {
    let columns: readonly string[] = [];
    let rows: Row[] = [];
    let tables = 0;
    let before: string | undefined;
    const close = (): void => {
      if (rows.length > 0) {
        if (tables > 0) sink.nextReading();
        tables += 1;
        writeTable(columns, rows, sink);
      }
      rows = [];
    };
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (rule.test(line)) {
        // MySQL draws three rules around a table, psql one under its head.
        if (before?.includes('|') === true && columns.length === 0) columns = cellsOf(before).map(columnOf);
        sink.understood();
      } else if (line.includes('|')) {
        const cells = cellsOf(line);
        if (columns.length > 0 && cells.length === columns.length) rows.push({ cells, line: index + 1 });
        else if (columns.length > 0 && cells.length !== columns.length) {
          close();
          columns = [];
        }
        sink.understood();
      } else if (footer.test(line)) {
        close();
        columns = [];
        sink.understood();
      } else sink.foreign(index + 1, line);
      before = line;
    }
    close();
  },
};

interface Row {
  readonly cells: readonly string[];
  readonly line: number;
}

function cellsOf(line: string): string[] {
  const trimmed = line.trim();
  // MySQL draws the outer bars as well; without them a bar at the end stands before an empty cell.
  const inner = trimmed.startsWith('|') ? trimmed.replaceAll(/^\||\|$/g, '') : trimmed;
  return inner.split('|').map((cell) => cell.trim());
}

function columnOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
}

function writeTable(columns: readonly string[], rows: readonly Row[], sink: Sink): void {
  const isSession = columns.includes('state') && columns.some((name) => /^(?:pid|id)$/.test(name));
  if (isSession) {
    countSessions(columns, rows, sink);
    return;
  }
  const prefix = columns.includes('cl_active') || columns.includes('sv_active') ? 'pgbouncer_' : '';
  const numeric = columns.map(
    (name, index) =>
      !identifiers.test(name) &&
      rows.every(({ cells }) => isNumberOrNothing(cells[index])) &&
      !settingColumns.test(name),
  );
  for (const { cells, line } of rows) {
    const labels = Object.fromEntries(
      columns.flatMap((name, index) =>
        numeric[index] === true || cells[index] === '' ? [] : [[name, cells[index] ?? '']],
      ),
    );
    for (const [index, name] of columns.entries()) {
      const value = numeric[index] === true ? parseNumber(cells[index]) : undefined;
      const type = name.startsWith('total_') ? 'counter' : 'gauge';
      if (value !== undefined) sink.sample(`${prefix}${name}`, labels, value, { type, line });
    }
    writePoolSize(columns, cells, line, sink);
  }
}

/** pgbouncer's `SHOW DATABASES` says how many connections a pool may have. */
function writePoolSize(columns: readonly string[], cells: readonly string[], line: number, sink: Sink): void {
  const size = parseNumber(cells[columns.indexOf('pool_size')]);
  if (size === undefined) return;
  const scope = `pool ${cells[columns.indexOf('name')] ?? cells[columns.indexOf('database')] ?? ''}`.trim();
  sink.setting({ program: 'pgbouncer', scope, key: 'pool.size', value: size, line });
}

function countSessions(columns: readonly string[], rows: readonly Row[], sink: Sink): void {
  const by = ['state', 'wait_event_type', 'wait_event', 'command'].filter((name) => columns.includes(name));
  const counts = new Map<string, { labels: Record<string, string>; count: number }>();
  for (const { cells } of rows) {
    const labels = Object.fromEntries(by.map((name) => [name, cells[columns.indexOf(name)] ?? '']));
    const id = JSON.stringify(labels);
    const one = counts.get(id) ?? { labels, count: 0 };
    one.count += 1;
    counts.set(id, one);
  }
  for (const { labels, count } of counts.values()) {
    sink.sample('database_sessions', labels, count, { type: 'gauge', line: rows[0]?.line });
  }
}

function isNumberOrNothing(cell: string | undefined): boolean {
  return cell === undefined || cell === '' || cell === 'NULL' || parseNumber(cell) !== undefined;
}
