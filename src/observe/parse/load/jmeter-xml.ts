// JMeter's results as XML: an element a sample, its attributes one letter each.
//
//   <httpSample t="1420" lt="1410" ct="1003" ts="1772000000000" s="true" lb="GET /" rc="200" rm="OK" tn="Users 1-1" na="50"/>
//
// t elapsed, ct connecting, ts when it began (milliseconds), s success, lb label, rc code, rm message, na threads.

import type { LineFormat, LineReader } from '../format.ts';
import { parseNumber } from '../quantities.ts';
import { blankRow, clearRow } from '../request-table.ts';
import type { Sink } from '../sink.ts';
import { put, runOf } from './draft.ts';
import { errorKind, LoadTally } from './tally.ts';

const tool = 'jmeter';
const sample = /<(?:httpSample|sample)\b([^>]*)>/;
const attribute = /\b([a-z]+)="([^"]*)"/g;

export const jmeterXml: LineFormat = {
  kind: 'lines',
  name: 'JMeter results (XML)',
  recognise: (head) => (/<testResults\b/.test(head.slice(0, 4000)) ? 1 : 0),
  open: jmeterXmlReader,
};

function jmeterXmlReader(sink: Sink): LineReader {
  const tally = new LoadTally();
  const row = blankRow();
  let users = 0;
  return {
    line(text) {
      const found = sample.exec(text);
      // Other elements say what was sent and asserted; a line without any is no XML.
      if (found === null) return /^\s*<|>\s*$/.test(text);
      const given = new Map(
        [...(found[1] ?? '').matchAll(attribute)].map(([, name = '', value = '']) => [name, value]),
      );
      const at = parseNumber(given.get('ts'));
      const elapsed = parseNumber(given.get('t'));
      if (at === undefined || elapsed === undefined) return false;
      const status = parseNumber(given.get('rc')) ?? -1;
      const error = given.get('s') === 'false' ? `${given.get('rc') ?? ''} ${given.get('rm') ?? ''}` : undefined;
      tally.add(at, elapsed / 1000, status, error);
      const connect = parseNumber(given.get('ct')) ?? 0;
      tally.addConnect(connect / 1000);
      users = Math.max(users, parseNumber(given.get('na')) ?? 0);
      const table = sink.requests(tool);
      if (!table.wants()) return true;
      clearRow(row);
      row.startMs = at;
      row.seconds = elapsed / 1000;
      row.status = status >= 0 && status < 1000 ? status : -1;
      if (connect > 0) row.connectSeconds = connect / 1000;
      row.route = given.get('lb');
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
