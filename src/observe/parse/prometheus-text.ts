// Scrapes: Prometheus' text exposition and OpenMetrics, read into samples. What a line means is in `prometheus.ts`.
//
// One file may hold several scrapes, one after the other; a sample that comes again begins the next reading. What is above a
// scrape as a comment, or behind each sample, tells when it was:
//
//   # 2026-04-02T07:00:00Z              a time for all that follows
//   in_flight{pod="a"} 4 1775113200     one sample again and again with times, as `promtool` writes it: a series
//   in_flight{pod="a"} 9 1775113215

import type { SampleFact } from '../../record.ts';
import { shareOfLines, type WholeFormat } from './format.ts';
import { leadingInstant } from './instants.ts';
import { Points } from './points.ts';
import { parsePrometheus, type Sample } from './prometheus.ts';
import type { Sink } from './sink.ts';

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
    if (isBackfill(samples)) writeSeries(samples, sink);
    else writeScrapes(samples, types, timesIn(text), sink);
    sink.understood(samples.length);
    for (const { line, text: words } of foreign) sink.foreign(line, words);
  },
};

function writeScrapes(
  samples: readonly Sample[],
  types: ReadonlyMap<string, string>,
  times: readonly StampedLine[],
  sink: Sink,
): void {
  let seen = new Set<string>();
  let stamp = 0;
  for (const sample of samples) {
    const { name, labels, value, line } = sample;
    const id = idOf(sample);
    if (seen.has(id)) {
      seen = new Set();
      sink.nextReading();
    }
    seen.add(id);
    while ((times[stamp + 1]?.line ?? Number.POSITIVE_INFINITY) < line) stamp += 1;
    const above = times[stamp];
    const atMs = instantOf(sample.timestamp) ?? (above !== undefined && above.line < line ? above.ms : undefined);
    sink.sample(name, labels, value, { type: typeOf(name, types), atMs, line });
  }
}

/** The same sample in lines that follow each other, each with its own time. */
function isBackfill(samples: readonly Sample[]): boolean {
  return samples.some((sample, index) => {
    const before = samples[index - 1];
    return (
      before !== undefined &&
      sample.timestamp !== undefined &&
      before.timestamp !== undefined &&
      sample.timestamp !== before.timestamp &&
      idOf(sample) === idOf(before)
    );
  });
}

function writeSeries(samples: readonly Sample[], sink: Sink): void {
  const points = new Points();
  for (const { name, labels, value, timestamp } of samples) {
    const at = instantOf(timestamp);
    if (at !== undefined && !Number.isNaN(value)) points.add(name, labels, at, value);
  }
  points.write(sink);
}

function idOf({ name, labels }: Sample): string {
  return `${name} ${JSON.stringify(labels)}`;
}

interface StampedLine {
  readonly line: number;
  readonly ms: number;
}

/** Comments that are a time. */
function timesIn(text: string): StampedLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (!/^#[\s=-]*\d{4}/.test(line)) return [];
    const found = leadingInstant(line.replace(/^[#\s=-]+/, ''));
    return found === undefined ? [] : [{ line: index + 1, ms: found.ms }];
  });
}

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
