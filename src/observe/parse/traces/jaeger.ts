// Traces as Jaeger's API and page give them. Times are microseconds.
//
//   {"data": [{"traceID": "…", "spans": [{"spanID": "…", "operationName": "GET /cart", "references": […],
//     "startTime": 1775113200000000, "duration": 44000, "tags": [{"key": "span.kind", "value": "server"}],
//     "processID": "p1"}], "processes": {"p1": {"serviceName": "shop", "tags": […]}}}]}

import type { WholeFormat } from '../format.ts';
import { isJsonWith, isObject } from '../json-tree.ts';
import { parseNumber } from '../quantities.ts';
import { parseJson } from '../tree.ts';
import { kindNamed, objectsIn, saidBy, textOf } from './attributes.ts';
import { Spans } from './spans.ts';

type Json = Readonly<Record<string, unknown>>;

export const jaegerTraces: WholeFormat = {
  kind: 'whole',
  name: 'Jaeger traces',
  recognise: (head) => (isJsonWith(head, 'traceID', 'spans') || isJsonWith(head, 'spanID', 'operationName') ? 1 : 0),
  read(text, sink) {
    const whole = parseJson(text);
    const spans = new Spans(sink);
    const traces =
      isObject(whole) && whole['data'] !== undefined ? objectsIn(whole['data']) : objectsIn([whole].flat());
    let count = 0;
    for (const trace of traces) count += readTrace(trace, spans);
    if (count === 0) sink.foreign(1, text.slice(0, 100).replaceAll('\n', ' '));
    sink.understood(count);
    spans.write();
  },
};

function readTrace(trace: Json, spans: Spans): number {
  const processes = isObject(trace['processes']) ? trace['processes'] : {};
  let count = 0;
  for (const span of objectsIn(trace['spans'])) {
    const startUs = parseNumber(span['startTime']);
    const duration = parseNumber(span['duration']);
    const { spanID, operationName, processID } = span;
    if (typeof spanID !== 'string' || startUs === undefined || duration === undefined) continue;
    const process = typeof processID === 'string' ? processes[processID] : span['process'];
    const own = tagsOf(isObject(process) ? process['tags'] : undefined);
    const tags = tagsOf(span['tags']);
    spans.add({
      ...saidBy(tags, own),
      trace: textOf(trace['traceID']) ?? textOf(span['traceID']) ?? '',
      id: spanID,
      parent: parentOf(span),
      name: typeof operationName === 'string' ? operationName : '',
      kind: kindNamed(tags.get('span.kind')),
      startMs: startUs / 1000,
      endMs: (startUs + duration) / 1000,
      service: isObject(process) ? textOf(process['serviceName']) : undefined,
    });
    count += 1;
  }
  return count;
}

function parentOf(span: Json): string | undefined {
  const references = objectsIn(span['references']);
  const parent = references.find((one) => one['refType'] === 'CHILD_OF') ?? references[0];
  return textOf(parent?.['spanID']) ?? textOf(span['parentSpanID']);
}

function tagsOf(list: unknown): Map<string, string> {
  return new Map(
    objectsIn(list).flatMap(({ key, value }) =>
      typeof key === 'string' && (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        ? [[key, String(value)] as const]
        : [],
    ),
  );
}
