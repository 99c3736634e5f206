// Traces as OTLP in JSON, as a collector's file exporter writes them: one document, or one a line.
//
//   {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
//     "scopeSpans": [{"spans": [{"traceId": "…", "spanId": "…", "parentSpanId": "…", "name": "GET /cart", "kind": 2,
//       "startTimeUnixNano": "1775113200000000000", "endTimeUnixNano": "…", "attributes": […], "status": {"code": 2}}]}]}]}

import type { WholeFormat } from '../format.ts';
import { isJsonWith, isObject, objectOf } from '../json-tree.ts';
import { parseJson } from '../tree.ts';
import { type Attributes, errorIn, objectsIn, peerIn, replicaIn, statusIn } from './attributes.ts';
import { type Span, type SpanKind, Spans } from './spans.ts';

const kinds: readonly SpanKind[] = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'];

export const otlpTraces: WholeFormat = {
  kind: 'whole',
  name: 'OTLP traces',
  recognise: (head) => (isJsonWith(head, 'resourceSpans') ? 1 : 0),
  read(text, sink) {
    const spans = new Spans(sink);
    const whole = parseJson(text);
    if (isObject(whole)) sink.understood(readDocument(whole, 1, spans));
    else {
      for (const [index, line] of text.split('\n').entries()) {
        if (line.trim() === '') continue;
        const document = objectOf(line.trim());
        if (document?.['resourceSpans'] === undefined) sink.foreign(index + 1, line);
        else sink.understood(readDocument(document, index + 1, spans));
      }
    }
    spans.write();
  },
};

type Json = Readonly<Record<string, unknown>>;

/** How many spans were in it. */
function readDocument(document: Json, line: number, spans: Spans): number {
  let count = 0;
  for (const resource of objectsIn(document['resourceSpans'])) {
    const own = attributesOf(isObject(resource['resource']) ? resource['resource']['attributes'] : undefined);
    // The middle was called `instrumentationLibrarySpans` once.
    const scopes = objectsIn(resource['scopeSpans'] ?? resource['instrumentationLibrarySpans']);
    for (const scope of scopes) {
      for (const span of objectsIn(scope['spans'])) {
        const read = spanOf(span, own, line);
        if (read === undefined) continue;
        spans.add(read);
        count += 1;
      }
    }
  }
  return count;
}

function spanOf(span: Json, resource: Attributes, line: number): Span | undefined {
  const { traceId, spanId, parentSpanId, name, kind } = span;
  const startMs = msOf(span['startTimeUnixNano']);
  const endMs = msOf(span['endTimeUnixNano']);
  if (typeof traceId !== 'string' || typeof spanId !== 'string' || startMs === undefined || endMs === undefined) {
    return undefined;
  }
  const attributes = attributesOf(span['attributes']);
  const status = isObject(span['status']) ? span['status'] : {};
  const broken = status['code'] === 2 || status['code'] === 'STATUS_CODE_ERROR';
  const said = typeof status['message'] === 'string' ? status['message'] : '';
  return {
    trace: traceId,
    id: spanId,
    parent: typeof parentSpanId === 'string' && parentSpanId !== '' ? parentSpanId : undefined,
    name: typeof name === 'string' ? name : '',
    kind: kindOf(kind),
    startMs,
    endMs,
    service: resource.get('service.name'),
    replica: replicaIn(resource),
    peer: peerIn(attributes),
    status: statusIn(attributes),
    error: broken ? (errorIn(attributes) ?? said) : errorIn(attributes),
    line,
  };
}

/** A number, or `SPAN_KIND_SERVER`. */
function kindOf(kind: unknown): SpanKind {
  if (typeof kind === 'number') return kinds[kind] ?? 'internal';
  const word = typeof kind === 'string' ? kind.replace('SPAN_KIND_', '').toLowerCase() : '';
  return kinds.find((one) => one === word) ?? 'internal';
}

/** Nanoseconds, as text where a number would lose digits. */
function msOf(written: unknown): number | undefined {
  if (typeof written === 'number') return written / 1e6;
  if (typeof written !== 'string' || !/^\d{1,20}$/.test(written)) return undefined;
  // Whole milliseconds and the rest apart: 19 digits are more than a number holds.
  const digits = written.padStart(7, '0');
  return Number(digits.slice(0, -6)) + Number(digits.slice(-6)) / 1e6;
}

function attributesOf(list: unknown): Map<string, string> {
  const found = new Map<string, string>();
  for (const { key, value } of objectsIn(list)) {
    if (typeof key !== 'string' || !isObject(value)) continue;
    const inner = Object.values(value)[0];
    if (typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean') {
      found.set(key, String(inner));
    }
  }
  return found;
}
