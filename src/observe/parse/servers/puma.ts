// puma.rb: directives in Ruby, of which only those with plain numbers are read.
//
//   workers 2
//   threads 5, 5
//   persistent_timeout 20
//
// Defaults: no worker processes (one), five threads, a backlog of 1024, and connections kept for 20 s (65 s since version 7; the
// smaller is taken, because it is the one that breaks).

import type { WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';
import { baseName, type Directive, type ServerRule, writeRules } from './server-rules.ts';

const directive = /^\s*([a-z_]+)[ (]+(.+?)\)?\s*(?:#.*)?$/;
const surely =
  /^\s*(?:persistent_timeout|first_data_timeout|max_fast_inline|queue_requests|worker_timeout|preload_app!)/m;

export const puma: WholeFormat = {
  kind: 'whole',
  name: 'Puma configuration',
  early: true,
  recognise(head) {
    const threads = /^\s*threads[ (]+(?:\d+|ENV|\w+)\s*,/m.test(head) || /^\s*workers[ (]+(?:\d+|ENV)/m.test(head);
    return threads ? (surely.test(head) || /^\s*(?:plugin :|port[ (]|bind[ (]["'])/m.test(head) ? 0.9 : 0.5) : 0;
  },
  read(text, sink) {
    const found = new Map<string, Directive>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const [, name = '', value = ''] = directive.exec(line) ?? [];
      sink.understood();
      if (name !== '') found.set(name, { text: plainOf(value), line: index + 1 });
    }
    writePuma(sink, baseName(sink.file), found);
  },
};

/** `ENV.fetch("X") { 5 }` and `ENV.fetch('X', 5)` mean 5 unless somebody says otherwise. */
function plainOf(value: string): string {
  return value
    .replaceAll(
      /ENV\.fetch\([^)]*?(\d+)?\)\s*(?:\{\s*(\d+)\s*\})?/g,
      (_, inside: string | undefined, block: string | undefined) => block ?? inside ?? '',
    )
    .replaceAll(/["']/g, '')
    .trim();
}

const rules: readonly ServerRule[] = [
  { names: ['workers'], key: 'workers.processes', kind: 'count', otherwise: 1 },
  { names: ['persistent_timeout'], key: 'downstream.keepalive-timeout', kind: 'seconds', otherwise: 20 },
  { names: ['backlog'], key: 'listen.backlog', kind: 'count', otherwise: 1024 },
];

export function writePuma(sink: Sink, scope: string, found: ReadonlyMap<string, Directive>): void {
  const where = { program: 'puma', scope };
  const backlog = /backlog=(\d+)/.exec(found.get('bind')?.text ?? '')?.[1];
  const bind = found.get('bind');
  const known =
    backlog === undefined || bind === undefined ? found : new Map([...found, ['backlog', { ...bind, text: backlog }]]);
  const values = writeRules(sink, where, rules, known);
  const threads = found.get('threads');
  const most = Number(threads?.text.split(/[,:]/).at(-1)?.trim());
  sink.setting({
    ...where,
    key: 'workers.count',
    value: Math.max(1, Number(values.get('workers.processes') ?? 1)) * (most > 0 ? most : 5),
    implied: !(most > 0),
    line: threads?.line ?? found.get('workers')?.line,
  });
  const queued = found.get('queue_requests');
  if (queued?.text === 'false')
    sink.setting({ ...where, key: 'workers.slot-taken-at', value: 'accept', line: queued.line });
}
