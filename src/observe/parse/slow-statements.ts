// A database's log of slow statements, in PostgreSQL's words: `duration: 21900.000 ms  statement: SELECT …`. Each is a request
// to the database, over when it was written.

import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import { blankRow, clearRow } from './request-table.ts';
import type { Sink } from './sink.ts';

const statement = /\bduration: ([\d.]+) ms\b(?:\s+(?:statement|execute [^:]*|bind [^:]*|parse [^:]*|plan):\s*(.*))?/;

export const slowStatements: LineFormat = {
  kind: 'lines',
  name: 'PostgreSQL slow statements',
  recognise: (head) => 0.9 * shareOfLines(head, (line) => statement.test(line) && leadingInstant(line) !== undefined),
  open: slowStatementsReader,
};

function slowStatementsReader(sink: Sink): LineReader {
  const table = sink.requests('postgres');
  const row = blankRow();
  return {
    line(text) {
      const found = statement.exec(text);
      const ended = leadingInstant(text);
      if (found === null || ended === undefined) return false;
      table.stepMs = ended.stepMs;
      if (!table.wants()) return true;
      clearRow(row);
      row.seconds = Number(found[1]) / 1000;
      row.startMs = ended.ms - row.seconds * 1000;
      row.route = (found[2] ?? '').replaceAll(/'[^']*'|\b\d+\b/g, '?').slice(0, 120) || undefined;
      table.add(row);
      return true;
    },
  };
}
