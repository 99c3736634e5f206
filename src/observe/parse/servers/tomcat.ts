// Tomcat's server.xml: a `Connector` for each port.
//
//   <Connector port="8080" protocol="HTTP/1.1" connectionTimeout="20000" maxThreads="200" acceptCount="100" />
//
// Defaults: 200 threads, 8192 connections, 100 that may wait, 100 requests on one connection, 60 s for the first byte, and as
// long for the next request unless `keepAliveTimeout` says otherwise. Times are milliseconds.

import type { WholeFormat } from '../format.ts';
import { type Directive, type ServerRule, writeRules } from './server-rules.ts';

const connector = /<(Connector|Executor)\b([^>]*)>/g;
const attribute = /([A-Za-z][\w.]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

export const tomcat: WholeFormat = {
  kind: 'whole',
  name: 'Tomcat configuration',
  early: true,
  recognise: (head) =>
    /<Server\b|<Service\b|<Connector\b/.test(head) && /<Connector\b[^>]*\bport\s*=/.test(head) ? 0.98 : 0,
  read(text, sink) {
    sink.understood(text.split('\n').filter((line) => line.trim() !== '').length);
    const plain = text.replaceAll(/<!--[\s\S]*?-->/g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
    const executors = new Map<string, ReadonlyMap<string, Directive>>();
    for (const { 1: kind, 2: inside = '', index } of plain.matchAll(connector)) {
      const line = plain.slice(0, index).split('\n').length;
      const found = new Map<string, Directive>();
      for (const [, name = '', double, single] of inside.matchAll(attribute)) {
        found.set(name, { text: double ?? single ?? '', line });
      }
      if (kind === 'Executor') {
        executors.set(found.get('name')?.text ?? '', found);
        continue;
      }
      const shared = executors.get(found.get('executor')?.text ?? '')?.get('maxThreads');
      if (shared !== undefined) found.set('maxThreads', shared);
      if (!found.has('keepAliveTimeout')) {
        const first = found.get('connectionTimeout');
        if (first !== undefined) found.set('keepAliveTimeout', first);
      }
      writeRules(sink, { program: 'tomcat', scope: `connector ${found.get('port')?.text ?? ''}` }, rules, found);
    }
  },
};

const rules: readonly ServerRule[] = [
  { names: ['maxThreads'], key: 'workers.count', kind: 'count', otherwise: 200 },
  { names: ['acceptCount'], key: 'listen.backlog', kind: 'count', otherwise: 100 },
  { names: ['maxConnections'], key: 'downstream.max-connections', kind: 'count', otherwise: 8192 },
  { names: ['maxKeepAliveRequests'], key: 'downstream.keepalive-requests', kind: 'count', otherwise: 100 },
  { names: ['keepAliveTimeout'], key: 'downstream.keepalive-timeout', kind: 'milliseconds', otherwise: 60 },
];
