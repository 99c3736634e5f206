// A pool of PHP-FPM: an ini file with a section for each pool.
//
//   [www]
//   pm = static
//   pm.max_children = 20
//   listen.backlog = 511
//
// A child is bound to a connection of the server in front when it accepts it. Defaults: a backlog of 511, five children at most is
// what most distributions ship, and is not assumed.

import type { WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';
import { baseName, type Directive, writeRules } from './server-rules.ts';

const section = /^\s*\[([^\]]+)\]\s*$/;
const pair = /^\s*([\w.[\]]+)\s*=\s*(.*?)\s*(?:;.*)?$/;

export const phpFpm: WholeFormat = {
  kind: 'whole',
  name: 'PHP-FPM pool',
  early: true,
  recognise: (head) =>
    /^\s*pm(?:\.max_children)?\s*=/m.test(head) &&
    section.test(head.split('\n').find((line) => section.test(line)) ?? '')
      ? 0.95
      : 0,
  read(text, sink) {
    let pool = baseName(sink.file);
    let found = new Map<string, Directive>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const named = section.exec(line)?.[1];
      const [, name, value = ''] = pair.exec(line) ?? [];
      if (named !== undefined) {
        write(sink, pool, found);
        pool = named;
        found = new Map();
      } else if (name !== undefined) found.set(name, { text: value, line: index + 1 });
      if (named === undefined && name === undefined && !/^\s*[;#]/.test(line)) sink.foreign(index + 1, line);
      else sink.understood();
    }
    write(sink, pool, found);
  },
};

function write(sink: Sink, pool: string, found: ReadonlyMap<string, Directive>): void {
  const children = found.get('pm.max_children');
  if (children === undefined) return;
  const where = { program: 'php-fpm', scope: `pool ${pool}` };
  writeRules(
    sink,
    where,
    [
      { names: ['pm.max_children'], key: 'workers.count', kind: 'count' },
      { names: ['listen.backlog'], key: 'listen.backlog', kind: 'count', otherwise: 511 },
      { names: ['request_terminate_timeout'], key: 'downstream.request-timeout', kind: 'seconds' },
    ],
    // Nothing is what a time of 0 and a backlog of −1 mean.
    new Map([...found].filter(([, { text }]) => !/^(?:0s?|-1)$/.test(text))),
  );
  sink.setting({ ...where, key: 'workers.slot-taken-at', value: 'accept', implied: true, line: children.line });
  const health = found.get('ping.path') ?? found.get('pm.status_path');
  if (health !== undefined) {
    sink.setting({ ...where, key: 'health.path', value: health.text, line: health.line });
    sink.setting({ ...where, key: 'health.shares-workers', value: true, implied: true, line: health.line });
  }
}
