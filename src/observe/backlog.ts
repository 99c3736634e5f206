// How fast a replica is when it has work waiting, seen from outside.
//
// A log knows neither workers nor service times, but it knows at every instant how many requests are inside a replica.
// While more are inside than it has workers, all workers are busy and answers leave at its capacity c, however long the
// queue. So of the time with at least T inside:
//
//   c = answers that left while at least T were inside ÷ time with at least T inside
//
// T is not known to be as large as the pool. Where it is smaller, some of that time had idle workers and c comes out too
// low, which only ever makes the less loaded replicas look slower and so hides a slow one; it never accuses one. T is taken
// as high as the least loaded replica allows: what it exceeds for three tenths of the time.

import type { SeenRequest } from './seen.ts';

export interface Backlog {
  readonly milliseconds: number;
  readonly finished: number;
}

/** Beginnings and ends of one replica's requests, each in order. */
export interface Steps {
  readonly begins: Float64Array;
  readonly ends: Float64Array;
}

/** The threshold T for these replicas: requests inside, at least 3. */
export function backlogThreshold(replicas: Iterable<Steps>): number {
  const levels = [...replicas].map((steps) => levelExceeded(steps, 0.3)).filter((level) => level > 0);
  return Math.max(3, Math.min(...levels));
}

/** For each span of `length` milliseconds from `origin`: how long the replica had at least `threshold` inside, and how many
 * finished meanwhile. */
export function backlogs(
  replica: Steps,
  threshold: number,
  spans: { readonly origin: number; readonly length: number; readonly count: number },
): Backlog[] {
  const found = Array.from({ length: spans.count }, () => ({ milliseconds: 0, finished: 0 }));
  let last = spans.origin;
  walk(replica, (at, by, level) => {
    if (level >= threshold) {
      addTime(found, spans, last, at);
      if (by < 0) {
        const span = found[Math.floor((at - spans.origin) / spans.length)];
        if (span !== undefined) span.finished += 1;
      }
    }
    last = at;
  });
  return found;
}

/** The steps of every replica that is named. */
export function stepsByReplica(
  requests: readonly SeenRequest[],
  replicas: readonly string[],
): ReadonlyMap<string, Steps> {
  const own = new Map<string | undefined, { readonly begins: number[]; readonly ends: number[] }>(
    replicas.map((id) => [id, { begins: [], ends: [] }]),
  );
  for (const { replica, handedMs, endMs } of requests) {
    const steps = own.get(replica);
    steps?.begins.push(handedMs);
    steps?.ends.push(endMs);
  }
  const inOrder = (times: readonly number[]): Float64Array => Float64Array.from(times).sort();
  return new Map(
    replicas.map((id) => {
      const { begins = [], ends = [] } = own.get(id) ?? {};
      return [id, { begins: inOrder(begins), ends: inOrder(ends) }];
    }),
  );
}

/** Tells of every step in order, with the level before it; at the same millisecond the ends come first. */
function walk({ begins, ends }: Steps, visit: (at: number, by: 1 | -1, level: number) => void): void {
  let [begun, ended] = [0, 0];
  while (ended < ends.length || begun < begins.length) {
    const begin = begins[begun] ?? Number.POSITIVE_INFINITY;
    const end = ends[ended] ?? Number.POSITIVE_INFINITY;
    if (end <= begin) {
      visit(end, -1, begun - ended);
      ended += 1;
    } else {
      visit(begin, 1, begun - ended);
      begun += 1;
    }
  }
}

/** The highest level that is reached or exceeded for at least this share of the time. */
function levelExceeded(steps: Steps, share: number): number {
  const times: number[] = [];
  let last = Math.min(steps.begins[0] ?? 0, steps.ends[0] ?? 0);
  let whole = 0;
  walk(steps, (at, _by, level) => {
    const index = Math.max(0, level);
    times[index] = (times[index] ?? 0) + at - last;
    whole += at - last;
    last = at;
  });
  let above = 0;
  for (let index = times.length - 1; index >= 0; index--) {
    above += times[index] ?? 0;
    if (above >= share * whole) return index;
  }
  return 0;
}

function addTime(
  found: { milliseconds: number }[],
  spans: { readonly origin: number; readonly length: number },
  from: number,
  to: number,
): void {
  for (let at = from; at < to;) {
    const index = Math.floor((at - spans.origin) / spans.length);
    const end = Math.min(to, spans.origin + (index + 1) * spans.length);
    const span = found[index];
    if (span !== undefined) span.milliseconds += end - at;
    at = end;
  }
}
