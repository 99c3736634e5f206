// The W3C trace context: who is asked on whose behalf, across processes.
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//                ver  trace (16 bytes)                 span (8 bytes)   flags, bit 0: sampled
//   tracestate:  vendor=what it wants to keep, other=…
//
// A hop keeps the trace, names itself as the span, and passes the sampled bit and the state on. What cannot be read is as if it
// were not there: a new trace begins (W3C Trace Context, level 1, sections 3.2 and 4.3).

export interface TraceParent {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The caller's span, 16 hexadecimal digits, not all 0. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** What a hop should at least pass on, and what we do. */
const stateMax = 512;

/** Undefined for anything but a traceparent of version 00, or the beginning of one of a later version that begins like it. */
export function parseTraceParent(text: string): TraceParent | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceParent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The state as it is passed on: whole entries from the left, as many as fit. Undefined when there is none to pass on. */
export function traceStateForwarded(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (text.length <= stateMax) return text;
  const cut = text.lastIndexOf(',', stateMax);
  return cut <= 0 ? undefined : text.slice(0, cut);
}
