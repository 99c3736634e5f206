// Other tools' histogram files: `.hlog` (interval histograms, one a line, compressed) and `.hgrm` (a percentile table), as
// HdrHistogram defines them. hdr-histogram-js is met in this file only, and loaded when first needed: it takes 40 ms, which
// every start of every program would pay.
//
// The two grids differ, so a histogram that crosses over is placed by the middle of each bucket: 0.27 % of error going out,
// as much again coming in. Count, least and greatest cross exactly. Unfinished values have no place in those formats.

import type { JsHistogram } from 'hdr-histogram-js';
import { type Duration, inMs, ns } from '../base.ts';
import { highestBound } from './buckets.ts';
import { Histogram } from './histogram.ts';

/** One line of an `.hlog`: what was recorded from `startSeconds` (after the log's own start) for `lengthSeconds`. */
export interface HlogInterval {
  readonly startSeconds: number;
  readonly lengthSeconds: number;
  readonly tag: string | undefined;
  readonly histogram: Histogram;
}

/** A table of value (in milliseconds), percentile, running count: what most HdrHistogram plotters take. */
export async function writeHgrm(histogram: Histogram): Promise<string> {
  return (await toHdr(histogram)).outputPercentileDistribution(5, 1e6);
}

/** A log of intervals. Values are nanoseconds; the third column, for people, is the greatest in milliseconds. */
export async function writeHlog(startedAtSeconds: number, intervals: readonly HlogInterval[]): Promise<string> {
  const lines: string[] = [];
  for (const interval of intervals) lines.push(await hlogLine(interval));
  return hlogHead(startedAtSeconds) + lines.join('');
}

/** What a log begins with, for whoever writes it as it comes. */
export function hlogHead(startedAtSeconds: number): string {
  return (
    '#[Histogram log format version 1.3]\n' +
    `#[StartTime: ${startedAtSeconds.toFixed(3)} (seconds since epoch)]\n` +
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
  );
}

/** One more line of a log. The first one loads the library. */
export async function hlogLine({ startSeconds, lengthSeconds, tag, histogram }: HlogInterval): Promise<string> {
  const { encodeIntoCompressedBase64 } = await import('hdr-histogram-js');
  const label = tag === undefined ? '' : `Tag=${tag},`;
  const greatest = inMs(histogram.max ?? ns(0)).toFixed(3);
  const packed = encodeIntoCompressedBase64(await toHdr(histogram));
  return `${label}${startSeconds.toFixed(3)},${lengthSeconds.toFixed(3)},${greatest},${packed}\n`;
}

/** Reads a log whose values are in `unit` (most tools: nanoseconds; wrk2 and its kin: microseconds). */
export async function readHlog(
  text: string,
  unit: Duration,
): Promise<readonly HlogInterval[] | { readonly problem: string }> {
  const intervals: HlogInterval[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === '' || line.startsWith('#') || line.startsWith('"StartTimestamp"')) continue;
    const fields = /^(?:Tag=([^,\s]+)[,\s])?([\d.]+)[,\s]([\d.]+)[,\s]([\d.]+)[,\s]([A-Za-z0-9+/=]+)$/.exec(
      line.trim(),
    );
    const [, tag, startSeconds, lengthSeconds, , packed] = fields ?? [];
    const hdr = packed === undefined ? undefined : await unpack(packed);
    if (hdr === undefined) {
      return { problem: `line ${index + 1}: expected "start,length,max,base64 of a compressed HdrHistogram"` };
    }
    intervals.push({
      startSeconds: Number(startSeconds),
      lengthSeconds: Number(lengthSeconds),
      tag,
      histogram: fromHdr(hdr, unit),
    });
  }
  return intervals;
}

/** Reads a percentile table whose values are in `unit`. Each row's own count is placed at its value. */
export function readHgrm(text: string, unit: Duration): Histogram | { readonly problem: string } {
  const histogram = new Histogram();
  let before = 0;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#') || /^\s*Value\s/.test(line)) continue;
    const [value, percentile, total] = line.trim().split(/\s+/).map(Number);
    if (!isAmount(value) || !isAmount(percentile) || !isAmount(total) || total < before) {
      return {
        problem: `line ${index + 1}: expected "value percentile total-count 1/(1-percentile)", found "${line}"`,
      };
    }
    histogram.recordMany(ns(value * unit), Math.round(total - before));
    before = total;
  }
  return histogram;
}

const isAmount = (value: number | undefined): value is number => value !== undefined && value >= 0 && value < Infinity;

/** With three digits, and the least and greatest value in their own right. */
export async function toHdr(histogram: Histogram): Promise<JsHistogram> {
  const { Float64Histogram } = await import('hdr-histogram-js');
  const hdr = new Float64Histogram(1, Math.max(histogram.max ?? 0, highestBound), 3);
  const { min, max } = histogram;
  if (min === undefined || max === undefined) return hdr;
  hdr.recordValue(min);
  if (histogram.count === 1) return hdr;
  hdr.recordValue(max);
  const buckets = histogram.buckets();
  buckets.forEach(({ from, to, count }, place) => {
    const alone = (place === 0 ? 1 : 0) + (place === buckets.length - 1 ? 1 : 0);
    const middle = Math.round((Math.max(from, min) + Math.min(to, max)) / 2);
    if (count > alone) hdr.recordValueWithCount(middle, count - alone);
  });
  return hdr;
}

/** `unit` is how long one of the other's units is. */
export function fromHdr(hdr: JsHistogram, unit: Duration): Histogram {
  const histogram = new Histogram();
  const rows = hdr.recordedValuesIterator;
  rows.reset();
  while (rows.hasNext()) {
    const { valueIteratedTo, countAddedInThisIterationStep } = rows.next();
    const isLast = valueIteratedTo >= hdr.maxValue;
    const value = isLast ? hdr.maxValue : hdr.medianEquivalentValue(valueIteratedTo);
    histogram.recordMany(ns(value * unit), countAddedInThisIterationStep);
  }
  return histogram;
}

/** The packed histogram, or undefined when it is none. The library says so by throwing. */
async function unpack(packed: string): Promise<JsHistogram | undefined> {
  const { decodeFromCompressedBase64, JsHistogram } = await import('hdr-histogram-js');
  try {
    const hdr = decodeFromCompressedBase64(packed, 64);
    return hdr instanceof JsHistogram ? hdr : undefined;
  } catch {
    return undefined;
  }
}
