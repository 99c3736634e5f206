// hey's single results (`-o csv`): durations in seconds, and when each was sent, counted from the start of the run. So there
// are durations here and no points in time.
//
//   response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset

import type { LineFormat, LineReader } from '../format.ts';
import { parseNumber } from '../quantities.ts';
import { blankRow, clearRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';
import { put, runOf } from './draft.ts';
import { LoadTally } from './tally.ts';

export const heyCsv: LineFormat = {
  kind: 'lines',
  name: 'hey results',
  recognise: (head) => (/^response-time,DNS\+dialup,DNS,/m.test(head.slice(0, 1000)) ? 1 : 0),
  open: heyCsvReader,
};

function heyCsvReader(sink: Sink): LineReader {
  const tally = new LoadTally();
  const row = blankRow();
  let last = 0;
  return {
    line(text) {
      if (text.startsWith('response-time,')) return true;
      const [seconds, connect, , , , , status, offset] = text.split(',').map(parseNumber);
      if (seconds === undefined || connect === undefined || status === undefined) return false;
      tally.add(Number.NaN, seconds, status, status >= 400 ? '' : undefined);
      tally.addConnect(connect);
      last = Math.max(last, (offset ?? 0) + seconds);
      const table = sink.requests('hey');
      if (!table.wants()) return true;
      clearRow(row);
      row.seconds = seconds;
      if (connect > 0) row.connectSeconds = connect;
      row.status = status > 0 && status < 1000 ? status : -1;
      table.add(row);
      return true;
    },
    end() {
      if (tally.requests === 0) return;
      const draft = tally.finish('hey', runOf(sink));
      if (last > 0) {
        put(draft, 'seconds', last);
        put(draft, 'ratePerSecond', tally.requests / last);
      }
      sink.result(draft);
    },
  };
}
