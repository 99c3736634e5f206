// Who was there when. A replica that came late, or left when its successor came, has fewer requests than the others and is no less
// fairly treated: its fair share is of what came while it was there.
//
//   old-1   ████████░░░░░░░░        requests in each slice ÷ replicas there, summed over the slices of its own time
//   old-2   ████████████░░░░
//   new-1   ░░░░░░░░████████
//
// It was there from its first request to its last, give or take what its own pauses between requests allow: a replica that is seldom
// asked was there all the time.

import type { RequestTable } from '../../record.ts';

const slices = 30;
/** A pause this many times as long as the mean one happens to one of e⁵ = 148. */
const pauses = 5;
const requestsMin = 3;

/** Fair shares of the requests by replica, as weights. Undefined where the table tells no times. */
export function attendanceOf(table: RequestTable): ReadonlyMap<string, number> | undefined {
  const timed = timesByReplica(table);
  const all = [...timed.values()].flat();
  const from = all.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const to = all.reduce((most, at) => Math.max(most, at), Number.NEGATIVE_INFINITY);
  if (!(to > from)) return undefined;
  const sliceOf = (at: number): number => Math.min(slices - 1, Math.floor(((at - from) / (to - from)) * slices));
  const asked = new Float64Array(slices);
  for (const at of all) asked[sliceOf(at)] = (asked[sliceOf(at)] ?? 0) + 1;
  const there = new Map([...timed].map(([id, times]) => [id, presenceOf(times, from, to, sliceOf)]));
  return new Map(
    [...there].map(([id, own]) => {
      let fair = 0;
      for (let slice = own.first; slice <= own.last; slice++) {
        const present = [...there.values()].filter(({ first, last }) => first <= slice && slice <= last).length;
        fair += (asked[slice] ?? 0) / present;
      }
      return [id, fair];
    }),
  );
}

interface Presence {
  readonly first: number;
  readonly last: number;
}

function presenceOf(times: readonly number[], from: number, to: number, sliceOf: (at: number) => number): Presence {
  const sorted = times.toSorted((one, other) => one - other);
  const [first, last] = [sorted[0] ?? from, sorted.at(-1) ?? to];
  if (sorted.length < requestsMin) return { first: 0, last: slices - 1 };
  const pause = (last - first) / (sorted.length - 1);
  return {
    first: first - from <= pauses * pause ? 0 : sliceOf(first),
    last: to - last <= pauses * pause ? slices - 1 : sliceOf(last),
  };
}

function timesByReplica(table: RequestTable): ReadonlyMap<string, number[]> {
  const times = new Map<string, number[]>(table.replicas.map((id) => [id, []]));
  for (let row = 0; row < table.count; row++) {
    const at = table.startMs[row] ?? Number.NaN;
    if (!Number.isNaN(at)) times.get(table.replicas[table.replica[row] ?? -1] ?? '')?.push(at);
  }
  return new Map([...times].filter(([, own]) => own.length > 0));
}
