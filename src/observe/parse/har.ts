// HAR: what a browser asked, how long each part of it took. Times are milliseconds, −1 is a part that did not happen.
//
//   {"log": {"entries": [{"startedDateTime": …, "time": 5020, "request": {…}, "response": {…}, "timings": {"dns": 5000, …}}]}}
//
// Requests, and a series of the time for names, which tells a slow resolver from a slow server.

import { withoutQuery } from './access-row.ts';
import type { WholeFormat } from './format.ts';
import { parseInstant } from './instants.ts';
import { Points } from './points.ts';
import { blankRow, clearRow } from './request-table.ts';
import { itemsAt, parseJson, textAt, treeOf, valueAt } from './tree.ts';

const program = 'browser';

export const har: WholeFormat = {
  kind: 'whole',
  name: 'HAR',
  recognise: (head) => (/^\s*\{\s*"log"\s*:\s*\{/.test(head) && /"(?:entries|creator)"\s*:/.test(head) ? 1 : 0),
  read(text, sink) {
    const entries = itemsAt(treeOf(parseJson(text)), 'log', 'entries');
    if (entries.length === 0) sink.foreign(1, text.slice(0, 160));
    const row = blankRow();
    const points = new Points();
    for (const entry of entries) {
      const at = parseInstant(textAt(entry, 'startedDateTime'))?.ms;
      const whole = Number(valueAt(entry, 'time') ?? Number.NaN);
      const status = Number(valueAt(entry, 'response', 'status') ?? -1);
      const url = textAt(entry, 'request', 'url');
      if (url === undefined || Number.isNaN(whole)) {
        sink.foreign(entry.line ?? 1, 'an entry without a URL or a time');
        continue;
      }
      sink.understood();
      const part = (name: string): number => Number(valueAt(entry, 'timings', name) ?? -1) / 1000;
      clearRow(row);
      row.startMs = at ?? Number.NaN;
      row.seconds = whole / 1000;
      row.status = status >= 0 && status < 1000 ? status : -1;
      row.route = `${textAt(entry, 'request', 'method') ?? 'GET'} ${withoutQuery(url)}`;
      row.service = /^\w+:\/\/([^/:?#]+)/.exec(url)?.[1];
      row.replica = textAt(entry, 'serverIPAddress');
      if (part('connect') >= 0) row.connectSeconds = part('connect');
      if (part('wait') >= 0) row.upstreamSeconds = part('wait');
      const table = sink.requests(program);
      if (table.wants()) table.add(row);
      if (part('dns') >= 0 && at !== undefined) points.add('dns_lookup_seconds', {}, at, part('dns'));
    }
    points.write(sink);
  },
};
