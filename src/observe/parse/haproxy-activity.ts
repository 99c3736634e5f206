// `show activity` of HAProxy's runtime socket: what its loops did, for all threads and for each.
//
//   thread_id: 0 (0 1 2 3)
//   loops: 5213 [ 1301 1302 1300 1310 ]
//   avg_loop_us: 6700 [ 6650 6720 6690 6740 ]
//
// Samples: `haproxy_activity_<name>`, the whole without labels and each thread with `thread`.

import { type WholeFormat } from './format.ts';

const line = /^([a-z]\w*): (\S+)(?:\s+\[\s*([\d ]+)\])?(?:\s+\(.*\))?\s*$/;
const known = [
  'thread_id',
  'date_now',
  'ctxsw',
  'loops',
  'wake_tasks',
  'poll_io',
  'avg_loop_us',
  'accepted',
  'long_rq',
];
const gauges = /^(?:avg_|fd_takeover|cpust)/;

export const haproxyActivity: WholeFormat = {
  kind: 'whole',
  name: 'HAProxy show activity',
  recognise(head) {
    const hits = known.filter((name) => new RegExp(`^${name}: `, 'm').test(head)).length;
    return hits >= 3 ? 1 : 0;
  },
  read(text, sink) {
    for (const [index, written] of text.split('\n').entries()) {
      if (written.trim() === '') continue;
      const found = line.exec(written);
      if (found === null) {
        sink.foreign(index + 1, written);
        continue;
      }
      sink.understood();
      const [, name = '', value, threads] = found;
      if (name === 'thread_id' || name === 'date_now') continue;
      const more = { type: gauges.test(name) ? 'gauge' : 'counter', line: index + 1 } as const;
      if (Number.isFinite(Number(value))) sink.sample(`haproxy_activity_${name}`, {}, Number(value), more);
      for (const [thread, one] of (threads ?? '').trim().split(/\s+/).entries()) {
        if (one !== '') sink.sample(`haproxy_activity_${name}`, { thread: String(thread) }, Number(one), more);
      }
    }
  },
};
