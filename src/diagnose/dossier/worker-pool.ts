// The pool of workers of a replica: how many there are, and whether all were busy. Measured where somebody measured it; else from
// the log by Little's law, since time in hand divided by time that passed is the number of workers at work.

import type { Origin, RequestTable } from '../../record.ts';
import { digits } from '../wording.ts';
import { stemOf } from './fleet.ts';
import type { View } from './view.ts';

export interface WorkerPool {
  readonly who: string;
  readonly size: number;
  readonly busy: number;
  readonly full: boolean;
  readonly text: string;
  readonly origins: readonly Origin[];
}

/** Of several tellings that in which it was full: a reading before or after an incident does not speak of it. */
export function poolIn(view: View): WorkerPool | undefined {
  const told = [measuredPool(view), seriesPool(view), loggedPool(view)].filter((pool) => pool !== undefined);
  return told.find(({ full }) => full) ?? told[0];
}

function measuredPool(view: View): WorkerPool | undefined {
  const counted = view.number('workers.count');
  for (const fleet of view.fleets) {
    const known = fleet.members.filter(
      ({ busyWorkers, workers }) => busyWorkers !== undefined && (workers ?? counted) !== undefined,
    );
    if (known.length === 0) continue;
    const size = known[0]?.workers ?? counted ?? 0;
    const full = known.filter(({ busyWorkers = 0, workers = size }) => busyWorkers >= workers && workers > 0);
    const busy = Math.max(...known.map(({ busyWorkers = 0 }) => busyWorkers));
    return {
      who: `${fleet.of === '' ? stemOf(known[0]?.id ?? '') || 'the replicas' : fleet.of} ${fleet.by === 'pod' ? 'pods' : ''}`.trim(),
      size,
      busy,
      full: full.length > 0,
      text: `${full.length} of ${known.length} replicas with all ${digits(size)} workers busy`,
      origins: fleet.origins,
    };
  }
  const busy = view.greatest((name) => /(?:workers?|threads?)_(?:busy|active)|busy_(?:workers?|threads?)/.test(name));
  const size =
    counted ??
    view.greatest(
      (name) => /(?:workers?|threads?)(?:_(?:total|max|count|size))?$/.test(name) && !/busy|idle|active/.test(name),
    )?.value;
  if (busy === undefined || size === undefined || size === 0) return undefined;
  return {
    who: 'the service',
    size,
    busy: busy.value,
    full: busy.value >= size,
    text: `${digits(busy.value)} of ${digits(size)} workers busy`,
    origins: busy.origins,
  };
}

/** Series of busy workers that stand at the size of the pool. */
function seriesPool(view: View): WorkerPool | undefined {
  const size = view.number('workers.count');
  const all = view.series((name) => /(?:workers?|threads?)_(?:busy|active)|busy_(?:workers?|threads?)/.test(name));
  const [busy] = all.toSorted((one, other) => Math.max(...other.values) - Math.max(...one.values));
  if (busy === undefined || size === undefined) return undefined;
  const most = Math.max(...busy.values);
  return {
    who: 'the service',
    size,
    busy: most,
    full: most >= size,
    text: `at most ${digits(most)} of ${digits(size)} workers busy`,
    origins: [busy.origin],
  };
}

function loggedPool(view: View): WorkerPool | undefined {
  const counted = view.number('workers.count');
  for (const table of view.tables) {
    const size = counted ?? (table.workers.length > 0 ? table.workers.length : undefined);
    const busy = atWork(table);
    if (size === undefined || busy === undefined) continue;
    const replicas = Math.max(1, table.replicas.length);
    const each = busy / replicas;
    return {
      who: table.services[0] ?? 'the service',
      size,
      busy: each,
      full: each >= 0.9 * size,
      text: `${digits(each)} requests in hand at a time, ${digits(size)} workers`,
      origins: [table.origin],
    };
  }
  return undefined;
}

/** Mean number of requests in hand: the time they took by the time that passed. */
function atWork(table: RequestTable): number | undefined {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  let seconds = 0;
  for (let row = 0; row < table.count; row++) {
    const start = table.startMs[row] ?? Number.NaN;
    const taken = table.seconds[row] ?? Number.NaN;
    if (Number.isNaN(start) || Number.isNaN(taken)) continue;
    from = Math.min(from, start);
    to = Math.max(to, start);
    seconds += taken;
  }
  return to - from < 1000 ? undefined : seconds / ((to - from) / 1000);
}
