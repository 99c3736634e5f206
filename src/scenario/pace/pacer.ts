// When each request is due. A pacer only says when: whoever sends keeps the count and the clock, and is told how long to
// wait or that there is no more to come. A latency counts from the due time, so a late sender cannot hide its lateness.

import { assert, dice, type Duration, ns } from '../../base.ts';
import type { OpenDemand } from '../model.ts';
import { burstyRate } from './bursty.ts';
import { constantRate } from './constant.ts';
import type { RateCurve } from './curve.ts';
import { listed } from './listed.ts';
import { poisson } from './poisson.ts';
import { stagedRate } from './stages.ts';

export interface Pacer {
  /**
   * When request number `index` (from 0) is due, counted from the start, or undefined when there is none. Ask in rising
   * order; the same index as often as wanted. Allocates nothing.
   */
  due(index: number): Duration | undefined;
}

/** How long to wait before the next request when `elapsed` has passed and `count` were sent: 0 when it is due or overdue.
 * Undefined: stop, there is no further one. */
export function waitFor(pacer: Pacer, elapsed: Duration, count: number): Duration | undefined {
  const due = pacer.due(count);
  return due === undefined ? undefined : ns(Math.max(0, due - elapsed));
}

/** Requests where the area under the rate reaches 0, 1, 2, …: evenly spaced at a constant rate. */
export function evenly(curve: RateCurve): Pacer {
  return {
    due(index) {
      assert(index >= 0, 'requests are counted from 0');
      return curve.inverse(index);
    },
  };
}

/** The pacer of an open demand. `seed` matters to random arrivals only. */
export function pacerOf(demand: PacedDemand, seed: number): Pacer {
  if (demand.times !== undefined) return listed(demand.times);
  const curve = curveOf(demand);
  switch (demand.arrivals) {
    case 'constant':
      return evenly(curve);
    case 'poisson':
      return poisson(curve, dice(seed, `arrivals/${demand.clients}`));
  }
}

export type PacedDemand = Pick<OpenDemand, 'clients' | 'ratePerSecond' | 'arrivals' | 'stages' | 'bursts' | 'times'>;

function curveOf({ ratePerSecond, stages, bursts }: PacedDemand): RateCurve {
  if (bursts !== undefined) return burstyRate(bursts);
  return stages === undefined ? constantRate(ratePerSecond) : stagedRate(ratePerSecond, stages);
}
