// A scrape: Prometheus' text exposition, read into samples. What a line means is in `prometheus.ts`.

import type { SampleFact } from '../../record.ts';
import { type WholeFormat, shareOfLines } from './format.ts';
import { parsePrometheus } from './prometheus.ts';

const sampleLine =
  /^[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[^}]*\})?\s+[-+]?(?:[0-9.][0-9.eE+-]*|Inf|NaN)(?:\s+-?[0-9.]+)?\s*(?:# .*)?$/;
const commentLine = /^#\s*(?:HELP|TYPE|UNIT|EOF)\b/;

export const prometheusText: WholeFormat = {
  kind: 'whole',
  name: 'Prometheus text',
  recognise(head) {
    const share = shareOfLines(head, (line) => sampleLine.test(line) || commentLine.test(line));
    const typed = /^# (?:HELP|TYPE) [a-zA-Z_:]/m.test(head) || /^[a-zA-Z_:][\w:]*\{[a-zA-Z_]\w*="/m.test(head);
    return typed ? share : share * 0.5;
  },
  read(text, sink) {
    const { samples, types, foreign } = parsePrometheus(text);
    for (const { name, labels, value, line, timestamp } of samples) {
      sink.sample(name, labels, value, { type: typeOf(name, types), atMs: instantOf(timestamp), line });
    }
    sink.understood(samples.length);
    for (const { line, text: words } of foreign) sink.foreign(line, words);
  },
};

/** Prometheus writes milliseconds, OpenMetrics seconds: no scrape is from before 2001 in the one or after 2286 in the other. */
function instantOf(timestamp: number | undefined): number | undefined {
  if (timestamp === undefined) return undefined;
  return timestamp < 1e10 ? timestamp * 1000 : timestamp;
}

function typeOf(name: string, types: ReadonlyMap<string, string>): SampleFact['type'] {
  const own = types.get(name);
  if (own === 'counter' || own === 'gauge') return own;
  const part = /_(?:sum|count|bucket|total|created)$/.exec(name)?.[0];
  const whole = part === undefined ? own : (types.get(name.slice(0, -part.length)) ?? own);
  if (whole === 'counter') return 'counter';
  if (whole === 'histogram' || whole === 'summary') return part === undefined ? 'gauge' : 'counter';
  return part === '_total' ? 'counter' : 'unknown';
}
