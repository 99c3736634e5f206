// Would chance make one replica of equals look so slow? Two questions, and the answer is the less certain of them:
//
//   single times     each replica's against all others' by rank (Mann and Whitney), adjusted for having looked at all (Holm)
//   stretches        the mean times of a dozen stretches, the names dealt anew within each (`symmetryTest`)
//
// The first takes every request for a witness of its own. Requests that came together waited for each other, and of a burst that
// happened to fall on one replica there are fifty witnesses of one event: the second counts bursts. And whatever either says, of r
// replicas one leads in all of b stretches once in r^(b−1) by chance alone.

import { dice } from '../../base.ts';
import type { RequestTable } from '../../record.ts';
import { holmAdjusted, mannWhitneyTest, symmetryTest } from '../../stats.ts';
import type { View } from './view.ts';
import { greatestOf, leastOf } from './view-rows.ts';

/** At most so many times of each: beyond them the rank test knows no more. */
const timesMax = 500;
const timesMin = 5;
const stretches = 12;
/** Of each replica in a stretch, so that its mean says something. */
const rowsMin = 3;
const deals = 999;

interface Timed {
  readonly atMs: number;
  readonly seconds: number;
}

/** Probability that chance makes one of these replicas stand out like `slow`; undefined without single times of it. */
export function slownessLuck(view: View, ids: readonly string[], slow: string): number | undefined {
  const table = view.tables.find(({ replicas }) => replicas.includes(slow));
  if (table === undefined) return undefined;
  const byReplica = timesByReplica(table);
  const known = ids.filter((id) => (byReplica.get(id)?.length ?? 0) >= timesMin);
  if (!known.includes(slow) || known.length < 2) return undefined;
  const timesOf = (id: string): readonly Timed[] => byReplica.get(id) ?? [];
  return Math.max(byRank(known, slow, timesOf), byStretch(known, timesOf));
}

function byRank(ids: readonly string[], slow: string, timesOf: (id: string) => readonly Timed[]): number {
  const secondsOf = (id: string): number[] => thinned(timesOf(id)).map(({ seconds }) => seconds);
  const all = ids.map(
    (id) => mannWhitneyTest(ids.filter((other) => other !== id).flatMap(secondsOf), secondsOf(id))?.p ?? 1,
  );
  return holmAdjusted(all)[ids.indexOf(slow)] ?? 1;
}

/** 0 where the table has no times of day. */
function byStretch(ids: readonly string[], timesOf: (id: string) => readonly Timed[]): number {
  const starts = ids.flatMap((id) => timesOf(id).map(({ atMs }) => atMs)).filter((at) => !Number.isNaN(at));
  const [from, to] = [leastOf(starts), greatestOf(starts)];
  if (!(to > from)) return 0;
  const cells = ids.map(() => Array.from({ length: stretches }, () => ({ sum: 0, count: 0 })));
  for (const [place, id] of ids.entries()) {
    for (const { atMs, seconds } of timesOf(id)) {
      const cell = cells[place]?.[Math.min(stretches - 1, Math.floor(((atMs - from) / (to - from)) * stretches))];
      if (cell === undefined) continue;
      cell.sum += seconds;
      cell.count += 1;
    }
  }
  const all = Array.from({ length: stretches }, (_, stretch) => cells.flatMap((own) => own[stretch] ?? []));
  const busy = all.filter((row) => row.some(({ count }) => count > 0)).length;
  const full = all.filter((row) => row.every(({ count }) => count >= rowsMin));
  const means = full.map((row) => row.map(({ sum, count }) => sum / count));
  const leadsInAll = ids.length ** (1 - busy);
  // Dealing tells only where there are enough ways to deal.
  const dealt =
    ids.length ** (means.length - 1) < deals
      ? 0
      : symmetryTest(means, { blocks: stretches, deals, dice: dice(1, 'slowness luck') })?.p;
  return Math.max(leadsInAll, dealt ?? 0);
}

function thinned<Value>(values: readonly Value[]): readonly Value[] {
  const step = Math.max(1, Math.floor(values.length / timesMax));
  return values.filter((_, index) => index % step === 0);
}

function timesByReplica(table: RequestTable): Map<string, Timed[]> {
  const times = new Map<string, Timed[]>();
  // Enough of them for a dozen stretches of every replica.
  const step = Math.max(1, Math.floor(table.count / (20 * timesMax * Math.max(1, table.replicas.length))));
  for (let row = 0; row < table.count; row += step) {
    const id = table.replicas[table.replica[row] ?? -1];
    const upstream = table.upstreamSeconds[row] ?? Number.NaN;
    const seconds = Number.isNaN(upstream) ? (table.seconds[row] ?? Number.NaN) : upstream;
    if (id === undefined || Number.isNaN(seconds)) continue;
    const own = times.get(id) ?? [];
    times.set(id, own);
    own.push({ atMs: table.startMs[row] ?? Number.NaN, seconds });
  }
  return times;
}
