// gunicorn.conf.py: assignments in Python, of which only the plain ones are read.
//
//   workers = 3
//   worker_class = "sync"
//   keepalive = 2
//
// A worker of the class `sync` accepts a connection and then waits for its request, and closes it after the answer; the others
// keep connections. Defaults: one worker, one thread, a backlog of 2048, 2 s of keep-alive.

import type { WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';
import { baseName, type Directive, type ServerRule, writeRules } from './server-rules.ts';

const assignment = /^([a-z_]+)\s*=\s*(.+?)\s*(?:#.*)?$/;
const own =
  /^(?:workers|worker_class|worker_connections|threads|keepalive|graceful_timeout|max_requests|max_requests_jitter|backlog|preload_app|bind|timeout|accesslog|errorlog|loglevel|reuse_port|wsgi_app|proc_name|worker_tmp_dir|forwarded_allow_ips|umask|daemon|pidfile|user|group)$/;

export const gunicorn: WholeFormat = {
  kind: 'whole',
  name: 'gunicorn configuration',
  early: true,
  recognise(head) {
    const names = head.split('\n').flatMap((line) => assignment.exec(line)?.[1] ?? []);
    const known = names.filter((name) => own.test(name));
    const surely = /^(?:worker_class|graceful_timeout|max_requests_jitter|wsgi_app|preload_app)\s*=/m.test(head);
    if (known.length < 2 || known.length * 2 < names.length) return 0;
    return surely || (known.includes('workers') && /^bind\s*=\s*["']/m.test(head)) ? 0.9 : 0.45;
  },
  read(text, sink) {
    const found = new Map<string, Directive>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const [, name = '', value = ''] = assignment.exec(line) ?? [];
      // Whatever else stands in a program need not be understood.
      sink.understood();
      if (name !== '') found.set(name, { text: value.replaceAll(/^["']|["']$/g, ''), line: index + 1 });
    }
    writeGunicorn(sink, baseName(sink.file), found);
  },
};

const rules: readonly ServerRule[] = [
  { names: ['workers'], key: 'workers.processes', kind: 'count', otherwise: 1 },
  { names: ['backlog'], key: 'listen.backlog', kind: 'count', otherwise: 2048 },
  { names: ['reuse_port'], key: 'workers.reuse-port', kind: 'truth', otherwise: false },
];

/** What gunicorn does with these directives, named as in its file: on the command line they have dashes. */
export function writeGunicorn(sink: Sink, scope: string, found: ReadonlyMap<string, Directive>): void {
  const where = { program: 'gunicorn', scope };
  const values = writeRules(sink, where, rules, found);
  const kind = found.get('worker_class');
  const threads = Number(found.get('threads')?.text ?? 1);
  const line = kind?.line ?? found.get('workers')?.line;
  const name = kind?.text ?? (threads > 1 ? 'gthread' : 'sync');
  // A worker of uvicorn or gevent takes any number of requests at once.
  if (/^(?:sync|gthread)$/.test(name)) {
    sink.setting({
      ...where,
      key: 'workers.count',
      value: Number(values.get('workers.processes') ?? 1) * (threads > 0 ? threads : 1),
      implied: !found.has('workers') && !found.has('threads'),
      line: found.get('workers')?.line ?? line,
    });
  }
  if (name === 'sync') {
    sink.setting({ ...where, key: 'workers.slot-taken-at', value: 'accept', implied: true, line });
  } else {
    writeRules(
      sink,
      where,
      [{ names: ['keepalive', 'keep_alive'], key: 'downstream.keepalive-timeout', kind: 'seconds', otherwise: 2 }],
      found,
    );
  }
}
