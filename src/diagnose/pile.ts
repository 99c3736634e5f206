// A pile at one of several equal replicas is no evidence by itself: users who wait for their answers heap up somewhere, and
// the heap wanders. How much must one replica hold, and for how long, before equals are a poor explanation?
//
// At an instant, all ways of standing at R equal replicas are about equally likely (the product form of a closed network
// under saturation), so one given replica holds more than a share x with chance (1−x)^(R−1), and the fullest with R times that. In T
// seconds the heap is looked at n times anew:
//
//   n = 1.5 · T · x̂ · v / (2N/R)²        at least 1
//
// a walk of x̂ steps a second (the rate of one replica), each of variance v (squared variation of a piece of work), over the
// width 2N/R. The factor 1.5 was fitted to simulated equal fleets (2 to 8 replicas, 32 to 256 users, 8 to 40 s): the fullest
// exceeds the 1 % bound in at most 2 of 120 of them.

import type { Evidence } from './evidence.ts';
import { deviationOf, sum } from './quantity.ts';
import { type PhaseEvidence, spanOf, tickOf } from './phase-evidence.ts';

export interface Pile {
  readonly replicas: number;
  readonly looks: number;
}

/** Undefined where nothing is known of how many wait. */
export function pileOf(evidence: Evidence): Pile | undefined {
  const { baseline, ids } = evidence;
  const users = evidence.loop.users ?? baseline.inFlight?.value;
  if (users === undefined || users === 0 || ids.length < 2) return undefined;
  const rate = sum(baseline.replicas.map((replica) => replica.rate.value)) / ids.length;
  const width = (2 * users) / ids.length;
  return {
    replicas: ids.length,
    looks: Math.max(1, (1.5 * baseline.seconds * rate * variationOf(evidence)) / width ** 2),
  };
}

/** Chance that the fullest of equal replicas holds this share or more over the whole time. */
export function pileLuck({ replicas, looks }: Pile, share: number): number {
  return Math.min(1, replicas * Math.max(0, 1 - share) ** (replicas - 1)) ** looks;
}

/** The share that the fullest of equal replicas exceeds with this chance. */
export function pileBound({ replicas, looks }: Pile, luck: number): number {
  return 1 - (luck ** (1 / looks) / replicas) ** (1 / (replicas - 1));
}

/** Squared variation of one piece of work, from what any log shows: how the answers of a replica that never idles scatter from
 * tick to tick, or how far the 90th percentile of the quickest replica's latencies is from its median (2.3 medians for
 * exponential work). Both are rough and neither says much more than there is, so the larger one counts; at most 1, and at
 * least 0.05, because no few ticks can show less. */
function variationOf({ baseline, suspect }: Evidence): number {
  const counts = baseline.ticks.map((tick) => {
    const own = suspect === undefined ? undefined : tickOf(tick, suspect);
    return (own?.finished ?? 0) / spanOf(tick);
  });
  const mean = sum(counts) / Math.max(1, counts.length);
  const byCounts = mean === 0 ? 1 : deviationOf(counts) ** 2 / mean;
  return Math.min(1, Math.max(0.05, byCounts, byQuantiles(baseline)));
}

function byQuantiles({ ticks, replicas }: PhaseEvidence): number {
  const quickest = replicas.toSorted((one, other) => (one.residence?.value ?? 0) - (other.residence?.value ?? 0))[0]
    ?.id;
  const spreads = ticks.flatMap((tick) => {
    const latency = quickest === undefined ? undefined : tickOf(tick, quickest)?.latency;
    return latency === undefined || latency.p50_ns === 0 ? [] : [latency.p90_ns / latency.p50_ns];
  });
  const median = spreads.toSorted((one, other) => one - other)[Math.floor(spreads.length / 2)];
  return median === undefined ? 0 : ((median - 1) / 2.3) ** 2;
}
