// What a worker that was lost left undone: requests of its share of a schedule that came due when nobody was there any more to
// send them. They were planned, and the ledger must sum to the plan: they are never sent, and in the percentiles as old as they are.
//
//   heard from it     ●   ●   ●  ╳ lost
//   its schedule      ●   ●   ●    ○   ○   ○   ○ │ the end
//                                  └── never sent

import { between, type Instant, instantAt, ns } from '../base.ts';
import type { Demand } from '../scenario.ts';
import { type Share, sharedPacer } from './share.ts';
import type { Tally } from './tally.ts';

export interface LostShare {
  readonly demand: Demand;
  /** The demand's own. */
  readonly seed: number;
  readonly share: Share;
  /** When the schedule began; what came due after `from`, up to `to`, was left undone. */
  readonly begun: Instant;
  readonly from: Instant;
  readonly to: Instant;
}

/** Requests looked at, at most: a schedule is gone through from its beginning. */
const lookedAtMax = 20_000_000;

/** Counts what was left undone. Returns false when the schedule went on beyond what is looked at. Closed users have no schedule. */
export function leaveLostShare(tally: Tally, { demand, seed, share, begun, from, to }: LostShare): boolean {
  if (demand.kind === 'closed') return true;
  const pacer = sharedPacer(demand, seed, share);
  for (let count = 0; count < lookedAtMax; count++) {
    const due = pacer.due(count);
    if (due === undefined || begun + due > to) return true;
    if (begun + due <= from) continue;
    tally.planned += 1;
    tally.leftUnsent(ns(Math.max(0, between(instantAt(begun + due), to))));
  }
  return false;
}
