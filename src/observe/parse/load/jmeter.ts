// JMeter's results as CSV (JTL): one line a sample, stamped with its beginning, times in milliseconds.
//
//   timeStamp,elapsed,label,responseCode,responseMessage,threadName,…,success,failureMessage,…,allThreads,URL,Latency,…,Connect
//
// JMeter's threads wait for their answers: a closed loop of as many users as there are threads, unless a timer paces them.

import { withoutQuery } from '../access-row.ts';
import { type LineFormat, type LineReader } from '../format.ts';
import { parseInstant } from '../instants.ts';
import { splitCells } from '../plain-table.ts';
import { parseNumber } from '../quantities.ts';
import { blankRow, clearRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';
import { put, runOf } from './draft.ts';
import { errorKind, LoadTally } from './tally.ts';

const tool = 'jmeter';
const header = /^timeStamp[,;\t]elapsed[,;\t]/m;

export const jmeter: LineFormat = {
  kind: 'lines',
  name: 'JMeter results',
  recognise: (head) => (header.test(head.slice(0, 4000)) ? 1 : 0),
  open: jmeterReader,
};

function jmeterReader(sink: Sink, head: string): LineReader {
  const mark = /^timeStamp([,;\t])/m.exec(head)?.[1] ?? ',';
  const columns = new Map<string, number>();
  const tally = new LoadTally();
  const row = blankRow();
  let users = 0;
  return {
    line(text) {
      if (header.test(text)) {
        for (const [index, name] of splitCells(text, mark).entries()) columns.set(name.trim(), index);
        return true;
      }
      const cells = splitCells(text, mark);
      const cell = (name: string): string => cells[columns.get(name) ?? -1] ?? '';
      const at = parseInstant(cell('timeStamp'));
      const elapsed = parseNumber(cell('elapsed'));
      if (columns.size === 0 || at === undefined || elapsed === undefined) return false;
      const seconds = elapsed / 1000;
      const status = parseNumber(cell('responseCode')) ?? -1;
      const failed = cell('success').toLowerCase() === 'false';
      const error = failed ? cell('failureMessage') || `${cell('responseCode')} ${cell('responseMessage')}` : undefined;
      tally.add(at.ms, seconds, status, error);
      const connect = parseNumber(cell('Connect'));
      if (connect !== undefined) tally.addConnect(connect / 1000);
      users = Math.max(users, parseNumber(cell('allThreads')) ?? 0);
      const table = sink.requests(tool);
      if (!table.wants()) return true;
      clearRow(row);
      row.startMs = at.ms;
      row.seconds = seconds;
      row.status = status >= 0 && status < 1000 ? status : -1;
      if (connect !== undefined && connect > 0) row.connectSeconds = connect / 1000;
      row.route = cell('label') || withoutQuery(cell('URL'));
      // `Thread Group 1-17`: whose thread it was says nothing, whose group does.
      row.client = cell('threadName').replace(/ \d+-\d+$/, '') || undefined;
      row.flag = error === undefined ? undefined : errorKind(error, status);
      table.add(row);
      return true;
    },
    end() {
      if (tally.requests === 0) return;
      const draft = tally.finish(tool, runOf(sink));
      if (users > 0) put(draft, 'users', users);
      sink.result(draft);
      const setting = { program: 'load-generator', scope: draft.run };
      sink.setting({ ...setting, key: 'load.tool', value: tool });
      if (users > 0) sink.setting({ ...setting, key: 'load.users', value: users });
    },
  };
}
