// uwsgi.ini: one section of pairs. A worker is bound to a connection when it accepts it; the backlog is 100 unless it is set.

import type { WholeFormat } from '../format.ts';
import { baseName, type Directive, writeRules } from './server-rules.ts';

const pair = /^\s*([\w-]+)\s*=\s*(.*?)\s*(?:[;#].*)?$/;

export const uwsgi: WholeFormat = {
  kind: 'whole',
  name: 'uWSGI configuration',
  early: true,
  recognise: (head) => (/^\s*\[uwsgi\]\s*$/m.test(head) ? 0.98 : 0),
  read(text, sink) {
    const found = new Map<string, Directive>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const [, name, value = ''] = pair.exec(line) ?? [];
      if (name !== undefined) found.set(name, { text: value, line: index + 1 });
      if (name === undefined && !/^\s*(?:\[|[;#])/.test(line)) sink.foreign(index + 1, line);
      else sink.understood();
    }
    const where = { program: 'uwsgi', scope: baseName(sink.file) };
    const values = writeRules(
      sink,
      where,
      [
        { names: ['processes', 'workers'], key: 'workers.processes', kind: 'count', otherwise: 1 },
        { names: ['listen'], key: 'listen.backlog', kind: 'count', otherwise: 100 },
        { names: ['reuse-port'], key: 'workers.reuse-port', kind: 'truth', otherwise: false },
        { names: ['thunder-lock'], key: 'workers.accept-mutex', kind: 'truth' },
        { names: ['harakiri'], key: 'downstream.request-timeout', kind: 'seconds' },
        { names: ['http-keepalive'], key: 'downstream.keepalive-timeout', kind: 'seconds' },
      ],
      found,
    );
    const threads = Number(found.get('threads')?.text ?? 1);
    const written = found.get('processes') ?? found.get('workers');
    sink.setting({
      ...where,
      key: 'workers.count',
      value: Number(values.get('workers.processes') ?? 1) * (threads > 0 ? threads : 1),
      implied: written === undefined,
      line: written?.line,
    });
    sink.setting({ ...where, key: 'workers.slot-taken-at', value: 'accept', implied: true, line: written?.line });
  },
};
