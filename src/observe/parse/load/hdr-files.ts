// HdrHistogram's two files, which wrk2, Cassandra's and many other tools leave: the percentile table (`.hgrm`) and the log of
// intervals (`.hlog`, each line a compressed histogram).
//
//   Value  Percentile  TotalCount  1/(1-Percentile)            values in milliseconds, as the tools write them
//   #[Max = 75.627, Total count = 1493]
//
//   Tag=get,2.000,0.900,14.856,HISTFAAA…                       start and length in seconds, greatest value, histogram
//
// A log does not say what its values are. Its third column does, being the greatest value in milliseconds by the same custom: the
// ratio of the two is the unit. Lines with a tag are another measure of the same requests or a part of them: a result for each tag.

import { build, decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js';
import { shareOfLines, type WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';
import { type LoadDraft, put, quantileKey, runOf, scaled } from './draft.ts';

const tool = 'HdrHistogram';
const tableHead = /^\s*Value\s+Percentile\s+TotalCount\s+1\/\(1-Percentile\)/m;
const tableRow = /^\s*([\d.]+)\s+([\d.]+)\s+(\d+)(?:\s+(?:[\d.]+|inf|∞))?\s*$/;
const footer = /^#\[(\w+)\s*=\s*([\d.]+),\s*([A-Za-z ]+?)\s*=\s*([\d.]+)\s*\]/;

export const hgrm: WholeFormat = {
  kind: 'whole',
  name: 'HdrHistogram percentiles',
  recognise: (head) => (tableHead.test(head) && shareOfLines(head, (line) => tableRow.test(line)) > 0.5 ? 0.95 : 0),
  read(text, sink) {
    const draft: LoadDraft = { tool, run: runOf(sink).replace(/\.hgrm$/i, '') };
    const latency: Record<string, number> = {};
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const row = tableRow.exec(line);
      if (row !== null) put(draft, 'requests', Number(row[3]));
      const seconds = scaled(Number(row?.[1]), 1e-3);
      const last = footer.exec(line);
      if (row !== null && seconds !== undefined) latency[quantileKey(100 * Number(row[2]))] = seconds;
      else if (last !== null) readFooter(last, latency, draft);
      else if (!tableHead.test(line) && !line.startsWith('#')) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
    if (draft.requests === undefined) return;
    put(draft, 'latency', latency);
    tell(sink, draft);
  },
};

function readFooter(
  [, name, value, , other]: RegExpExecArray,
  latency: Record<string, number>,
  draft: LoadDraft,
): void {
  const seconds = scaled(Number(value), 1e-3) ?? 0;
  if (name === 'Mean') latency['mean'] = seconds;
  if (name !== 'Max') return;
  latency['1'] = seconds;
  put(draft, 'requests', Number(other));
}

const logHead = /^#\[Histogram log format version /m;
const logColumns = /^"?StartTimestamp"?,/;
const logLine = /^(?:Tag=([^,\s]+)[,\s])?([\d.]+)[,\s]([\d.]+)[,\s]([\d.]+)[,\s](HIST[A-Za-z0-9+/=]+)\s*$/;

export const hlog: WholeFormat = {
  kind: 'whole',
  name: 'HdrHistogram log',
  recognise(head) {
    const share = shareOfLines(head, (line) => logLine.test(line));
    return logHead.test(head) ? 1 : share > 0.5 ? 0.95 : 0;
  },
  read(text, sink) {
    const parts = new Map<string, Interval[]>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const interval = intervalOf(line);
      if (interval !== undefined) {
        const known = parts.get(interval.tag);
        if (known === undefined) parts.set(interval.tag, [interval]);
        else known.push(interval);
      } else if (!line.startsWith('#') && !logColumns.test(line)) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
    const run = runOf(sink).replace(/\.hlog$/i, '');
    for (const [tag, intervals] of parts) tellLog(sink, tag === '' ? run : `${run} ${tag}`, intervals);
  },
};

interface Interval {
  readonly tag: string;
  readonly seconds: number;
  readonly greatestMs: number;
  readonly histogram: Histogram;
}

function intervalOf(line: string): Interval | undefined {
  const [, tag = '', , seconds, greatest, packed = ''] = logLine.exec(line) ?? [];
  const histogram = packed === '' ? undefined : unpacked(packed);
  return histogram && { tag, seconds: Number(seconds), greatestMs: Number(greatest), histogram };
}

/** The library says by throwing that there is no histogram in a text. */
function unpacked(packed: string): Histogram | undefined {
  try {
    return decodeFromCompressedBase64(packed);
  } catch {
    return undefined;
  }
}

function tellLog(sink: Sink, run: string, intervals: readonly Interval[]): void {
  const unit = unitOf(intervals);
  // Each interval has a range of its own, and the whole must hold all of them.
  const whole = build({ autoResize: true, numberOfSignificantValueDigits: 3, bitBucketSize: 64 });
  for (const { histogram } of intervals) whole.add(histogram);
  const draft: LoadDraft = { tool, run, requests: whole.totalCount };
  const seconds = intervals.reduce((sum, interval) => sum + interval.seconds, 0);
  put(draft, 'seconds', scaled(seconds, 1));
  if (seconds > 0) put(draft, 'ratePerSecond', scaled(whole.totalCount / seconds, 1));
  const latency: Record<string, number> = {};
  for (const percent of [50, 75, 90, 95, 99, 99.9, 99.99]) {
    latency[quantileKey(percent)] = scaled(whole.getValueAtPercentile(percent), unit) ?? 0;
  }
  latency['0'] = scaled(whole.minNonZeroValue, unit) ?? 0;
  latency['1'] = scaled(whole.maxValue, unit) ?? 0;
  latency['mean'] = scaled(whole.mean, unit) ?? 0;
  if (whole.totalCount > 0) put(draft, 'latency', latency);
  tell(sink, draft);
}

/** Seconds in one unit of the values: a power of ten, from the largest interval there is. */
function unitOf(intervals: readonly Interval[]): number {
  const largest = intervals.reduce((one, other) => (other.greatestMs > one.greatestMs ? other : one));
  if (largest.greatestMs <= 0 || largest.histogram.maxValue <= 0) return 1e-9;
  return 1e-3 / 10 ** Math.round(Math.log10(largest.histogram.maxValue / largest.greatestMs));
}

function tell(sink: Sink, draft: LoadDraft): void {
  sink.result(draft);
  sink.setting({ program: 'load-generator', scope: draft.run, key: 'load.tool', value: tool });
}
