// MySQL's log of slow statements. One entry is some lines: when it was written, who asked, how long it took and waited for
// locks, and the statement.
//
//   # Time: 2026-04-02T07:00:22.000000Z
//   # User@Host: app[app] @ shop-1 [10.0.0.11]  Id: 7
//   # Query_time: 21.900000  Lock_time: 20.000000 Rows_sent: 1  Rows_examined: 900000
//   SELECT * FROM orders WHERE id = 7;

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import { blankRow, clearRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';

const time = /^# Time: (\S.*)$/;
const user = /^# User@Host: (\S*?)\[\S*\] @ (\S*) \[([\d.a-fA-F:]*)\]/;
const query = /^# Query_time: ([\d.]+)\s+Lock_time: ([\d.]+)/;
const stamp = /^SET timestamp=(\d+);/;
const statement =
  /^\s*(?:\(|with|select|insert|update|delete|replace|call|commit|begin|alter|create|drop|load|show|set|lock|optimize|analyze|execute|truncate)\b/i;
const passedOver = /^(?:#|use \S+;|\S+, Version: |Tcp port:|Time\s+Id)/i;

export const mysqlSlowLog: LineFormat = {
  kind: 'lines',
  name: 'MySQL slow statements',
  recognise: (head) =>
    shareOfLines(head, (line) => query.test(line), 200) > 0 && /^# (?:Time|User@Host): /m.test(head) ? 0.95 : 0,
  open: mysqlSlowLogReader,
};

function mysqlSlowLogReader(sink: Sink): LineReader {
  const table = sink.requests('mysql');
  const row = blankRow();
  let endMs = Number.NaN;
  /** An entry whose statement has not been met yet. */
  let open = false;
  const close = (): void => {
    if (!open) return;
    open = false;
    row.startMs = endMs - row.seconds * 1000;
    if (table.wants()) table.add(row);
  };
  return {
    line(text) {
      const at = time.exec(text);
      if (at !== null) {
        close();
        clearRow(row);
        const found = leadingInstant(at[1] ?? '');
        endMs = found?.ms ?? Number.NaN;
        if (found !== undefined) table.stepMs = found.stepMs;
        return true;
      }
      const asked = user.exec(text);
      if (asked !== null) {
        close();
        clearRow(row);
        row.client = asked[3] ?? asked[2];
        return true;
      }
      const took = query.exec(text);
      if (took !== null) {
        row.seconds = Number(took[1]);
        row.queueSeconds = Number(took[2]);
        open = true;
        return true;
      }
      const stamped = stamp.exec(text);
      if (stamped !== null) {
        if (Number.isNaN(endMs)) endMs = Number(stamped[1]) * 1000;
        return true;
      }
      if (passedOver.test(text)) return true;
      if (!open || !statement.test(text)) return false;
      row.route = text.replaceAll(/'[^']*'|\b\d+\b/g, '?').slice(0, 120);
      close();
      return true;
    },
    end: close,
  };
}
