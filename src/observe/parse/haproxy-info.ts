// `show info` of HAProxy's runtime socket: `Key: value`, one a line. Every number becomes `haproxy_info_<key>`.

import { firstLines, type WholeFormat } from './format.ts';
import { parseNumber } from './quantities.ts';

const program = 'haproxy';
const pair = /^([A-Za-z][\w ]*?): ?(.*)$/;
const counters = /^(?:Cum|Total|Dropped|Failed|Tune|Uptime_sec$)/;

export const haproxyInfo: WholeFormat = {
  kind: 'whole',
  name: 'HAProxy show info',
  recognise(head) {
    const keys = new Set(firstLines(head, 100).map((line) => pair.exec(line)?.[1]));
    const known = [
      'Name',
      'Nbthread',
      'CurrConns',
      'SessRate',
      'Run_queue',
      'Idle_pct',
      'Maxconn',
      'Uptime_sec',
      'Process_num',
    ];
    const hits = known.filter((key) => keys.has(key)).length;
    return hits >= 3 ? 1 : 0;
  },
  read(text, sink) {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const found = pair.exec(line);
      const key = found?.[1];
      if (key === undefined) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
      const value = parseNumber(found?.[2]);
      if (value === undefined) continue;
      const type = counters.test(key) ? 'counter' : 'gauge';
      sink.sample(`haproxy_info_${key.toLowerCase()}`, {}, value, { type, line: index + 1 });
      const setting = { program, scope: 'global', line: index + 1 };
      if (key === 'Maxconn') sink.setting({ ...setting, key: 'downstream.max-connections', value });
      if (key === 'Nbthread') sink.setting({ ...setting, key: 'workers.processes', value });
    }
  },
};
