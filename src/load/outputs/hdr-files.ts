// Latencies for the tools that read HdrHistogram's files: the percentile table of the whole, and the log of its seconds.
//
// What timed out or had not ended has no place in those formats: it is left out, and how much that is stands in a comment at
// the head of the table.

import { assert } from '../../base.ts';
import { Histogram, histogramOfFields, type HlogInterval, writeHgrm } from '../../stats.ts';
import type { LoadResult, LoadSnapshot } from '../contract.ts';

type Line = LoadResult['histograms'][number];

/** Values in milliseconds, from due time, of the first group. */
export async function hgrmText(result: LoadResult): Promise<string> {
  const line = result.histograms.find(({ of }) => of.group === result.totals[0]?.group && of.what === 'latency');
  const histogram = line === undefined ? new Histogram() : histogramOf(line);
  const left = histogram.unfinishedCount;
  const note = left === 0 ? '' : `#[Left out: ${left} requests that had no answer; true percentiles are no less]\n`;
  return note + (await writeHgrm(histogram));
}

/** The seconds of a log: latency from due time without a tag, time from sending as `service`, each replica by its name. */
export function hlogIntervals(snapshot: LoadSnapshot, startSeconds: number, lengthSeconds: number): HlogInterval[] {
  const [first] = snapshot.groups;
  return (snapshot.histograms ?? []).flatMap((line) => {
    const tag = tagOf(line, first?.group);
    return tag === undefined
      ? []
      : [{ startSeconds, lengthSeconds, tag: tag === '' ? undefined : tag, histogram: histogramOf(line) }];
  });
}

/** A tag ends at a comma or a space. */
function tagOf({ of }: Line, group: string | undefined): string | undefined {
  if (of.replica !== undefined) return of.what === 'latency' ? of.replica.replaceAll(/[,\s]/g, '_') : undefined;
  if (of.group !== group) return undefined;
  return of.what === 'latency' ? '' : of.what;
}

function histogramOf(line: Line): Histogram {
  const histogram = histogramOfFields(line);
  assert(histogram instanceof Histogram, 'a run has whole histograms');
  return histogram;
}
