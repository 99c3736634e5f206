// Traces as Zipkin's API gives them: a list of spans, or a list of such lists. Times are microseconds.
//
//   [{"traceId": "…", "id": "…", "parentId": "…", "kind": "SERVER", "name": "get /cart", "timestamp": …, "duration": 44000,
//     "localEndpoint": {"serviceName": "shop", "ipv4": "10.0.0.1"}, "tags": {…}}]

import type { WholeFormat } from '../format.ts';
import { isJsonWith, isObject } from '../json-tree.ts';
import { parseNumber } from '../quantities.ts';
import { parseJson } from '../tree.ts';
import { kindNamed, objectsIn, saidBy, textOf } from './attributes.ts';
import { Spans } from './spans.ts';

export const zipkinTraces: WholeFormat = {
  kind: 'whole',
  name: 'Zipkin traces',
  recognise: (head) => (isJsonWith(head, 'traceId', 'localEndpoint', 'timestamp') ? 1 : 0),
  read(text, sink) {
    const spans = new Spans(sink);
    let count = 0;
    for (const span of objectsIn([parseJson(text)].flat(2))) {
      const startUs = parseNumber(span['timestamp']);
      const id = textOf(span['id']);
      const trace = textOf(span['traceId']);
      if (startUs === undefined || id === undefined || trace === undefined) continue;
      const here = isObject(span['localEndpoint']) ? span['localEndpoint'] : {};
      const there = isObject(span['remoteEndpoint']) ? span['remoteEndpoint'] : {};
      const kind = kindNamed(textOf(span['kind'])?.toLowerCase());
      const tags = new Map(
        Object.entries(isObject(span['tags']) ? span['tags'] : {}).map(([key, value]) => [key, String(value)]),
      );
      const base = saidBy(tags, new Map());
      spans.add({
        ...base,
        // Both sides may share one span: the server's half is then the client's child.
        trace,
        id: span['shared'] === true && kind === 'server' ? `${id} server` : id,
        parent: span['shared'] === true && kind === 'server' ? id : textOf(span['parentId']),
        name: textOf(span['name']) ?? '',
        kind,
        startMs: startUs / 1000,
        endMs: (startUs + (parseNumber(span['duration']) ?? 0)) / 1000,
        service: textOf(here['serviceName']),
        replica: base.replica ?? addressOf(here),
        peer: base.peer ?? textOf(there['serviceName']) ?? addressOf(there),
        error: tags.has('error') ? (tags.get('error') ?? '') : base.error,
      });
      count += 1;
    }
    if (count === 0) sink.foreign(1, text.slice(0, 100).replaceAll('\n', ' '));
    sink.understood(count);
    spans.write();
  },
};

function addressOf(endpoint: Readonly<Record<string, unknown>>): string | undefined {
  const host = textOf(endpoint['ipv4']) ?? textOf(endpoint['ipv6']);
  const port = parseNumber(endpoint['port']);
  return host === undefined || port === undefined ? host : `${host}:${port}`;
}
