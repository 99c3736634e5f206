// CPU throttling: the kernel stops a group of processes that has used up its quota until the next period. Every slow replica
// is suspected of it, and the counters settle the matter: what was not throttled was not slowed by throttling.
//
// To explain a worker time that is longer by the factor f, the replica must have stood still for 1 − 1/f of the time it
// worked.

import { counted } from '../course.ts';
import type { Evidence } from '../evidence.ts';
import { meanService, replicaOf, slownessFor } from '../evidence.ts';
import { missing, slowness, throttledShare } from '../measures.ts';
import { tickOf } from '../phase-evidence.ts';
import { sum } from '../quantity.ts';
import { type Claim, type Finding, isMissing, type Theory } from '../theory.ts';
import { percent, say, wholePercent } from '../wording.ts';

export const cpuThrottling: Theory = {
  slug: 'cpu-throttling',
  pattern: 'cpu-throttling',
  title: 'CPU throttling: the replica’s CPU quota is used up',
  mechanism:
    'A quota of CPU time per period (100 ms as a rule) is used up early by several runnable threads; then the kernel lets the ' +
    'whole group stand until the period ends. Worker time grows by those pauses, although the average use of CPU looks low.',
  lookAlikes: ['slow-replica', 'convoy'],
  predict: (evidence) => [countersMove(evidence), enoughToExplain(evidence), longStops(evidence)],
  foresee: () => [],
  refutedBy: 'Flat counters: `nr_throttled` and `throttled_usec` do not grow while the replica is slow.',
  provedBy: 'Counters that grow during the symptom, by enough to explain how much longer the work takes.',
  fix: 'Raise or remove the quota, or run fewer threads than it allows.',
  experiments: [],
  verdict,
};

function countersMove(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const factor = slownessFor(evidence, hot)?.ratio.value;
  const needed = factor === undefined ? 0.02 : Math.max(0.02, 0.5 * (1 - 1 / factor));
  return {
    key: `throttled ${hot ?? ''}`,
    says: `${hot ?? 'The slow one'} is stopped by its quota at least ${percent(needed)} of the time${factor === undefined ? '' : `, half of what a worker time longer by ${wholePercent(factor - 1)} would take`}.`,
    predicted: { low: needed, unit: 'share' },
    measure: throttledShare(hot),
    refutes: 'Counters that stand still.',
    bearing: 'necessary',
  };
}

function enoughToExplain(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const throttled = replicaOf(evidence.baseline, hot)?.throttledShare;
  return {
    key: `slowness ${hot ?? ''}`,
    says: 'The pauses are as long as the work is longer.',
    predicted:
      throttled === undefined
        ? { missing: missing.throttling }
        : throttled < 0.05
          ? { missing: 'throttling in the first place' }
          : { low: 1 / (1 - 0.5 * Math.min(0.9, throttled)), unit: 'times' },
    measure: slowness(hot),
    refutes: 'Work that takes no longer than elsewhere.',
    bearing: 'sufficient',
  };
}

/** Where all replicas are stopped alike there is no sibling to be slower than: then the stops speak for themselves. */
function longStops(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const stop = stopOf(evidence);
  const often = (replicaOf(evidence.baseline, hot)?.throttledShare ?? 0) >= clearlyThrottled;
  const alike = evidence.baseline.replicas.every((one) => (one.throttledShare ?? 0) >= clearlyThrottled / 2);
  const work = workOf(evidence);
  return {
    key: `stops of ${hot ?? 'all'}`,
    says: 'All are stopped, again and again, and each stop lasts as long as the work of a request, or longer.',
    predicted:
      stop === undefined || work === undefined
        ? { missing: missing.throttling }
        : often && alike
          ? { low: work, unit: 's' }
          : { missing: `stops of all replicas for ${percent(clearlyThrottled)} of the time` },
    measure: () => (stop === undefined ? { missing: missing.throttling } : counted(stop)),
    refutes: 'Stops that nobody would notice.',
    bearing: 'sufficient',
  };
}

/** Share of the time from which on stops are more than an accident. */
const clearlyThrottled = 0.05;

/** Processor seconds of a request; a quarter of the worker time where that is more, or nothing else is known. Worker time itself will
 * not do: the stops are in it, and whoever waits for the one thread of a program. */
function workOf(evidence: Evidence): number | undefined {
  const { baseline } = evidence;
  const service = meanService(evidence);
  const cpu = sum(baseline.ticks.flatMap((tick) => tick.replicas.map((replica) => replica.cpu_ns ?? 0))) / 1e9;
  const done = sum(baseline.replicas.map(({ rate }) => rate.value)) * baseline.seconds;
  const used = cpu > 0 && done > 0 ? cpu / done : undefined;
  if (used === undefined && service === undefined) return undefined;
  return Math.max(used ?? 0, 0.25 * (service ?? 0));
}

/** Mean length of a stop, in seconds, over all replicas. */
function stopOf({ baseline, ids }: Evidence): number | undefined {
  const own = baseline.ticks.flatMap((tick) => ids.flatMap((id) => tickOf(tick, id) ?? []));
  const periods = sum(own.map((replica) => replica.throttled_periods ?? 0));
  return periods === 0 ? undefined : sum(own.map((replica) => replica.throttled_ns ?? 0)) / periods / 1e9;
}

function verdict(evidence: Evidence): Finding {
  const alike = longStops(evidence);
  const stop = stopOf(evidence);
  if (!isMissing(alike.predicted) && stop !== undefined) return allAlike(evidence, stop);
  const hot = evidence.suspect ?? 'one replica';
  const throttled = replicaOf(evidence.baseline, hot)?.throttledShare ?? 0;
  const factor = slownessFor(evidence, hot)?.ratio.value ?? 1;
  return {
    culprit: hot,
    sentence: `${hot} is stopped by its CPU quota ${percent(throttled)} of the time, and its work takes ${factor.toFixed(2)} times as long as its siblings’.`,
    arithmetic: [
      `to explain ${factor.toFixed(2)} ×: 1 − 1/${factor.toFixed(2)} = ${percent(1 - 1 / factor)} of the time; measured ${percent(throttled)}`,
    ],
    fix: cpuThrottling.fix,
  };
}

function allAlike(evidence: Evidence, stop: number): Finding {
  const shares = evidence.baseline.replicas.map((replica) => replica.throttledShare ?? 0);
  const mean = sum(shares) / shares.length;
  const quota = evidence.topology?.services.flatMap(({ replicas }) =>
    replicas.flatMap((one) => one.cpu_quota ?? []),
  )[0];
  const cpu = sum(evidence.baseline.ticks.flatMap((tick) => tick.replicas.map((replica) => replica.cpu_ns ?? 0)));
  const used = cpu / 1e9 / evidence.baseline.seconds / shares.length;
  return {
    sentence: `Every replica is stopped by its CPU quota ${percent(mean)} of the time, ${say(stop, 's')} at once, although on average the quota is enough.`,
    arithmetic: [
      ...(quota === undefined
        ? []
        : [
            `used ${percent(used)} of a core on average; allowed ${percent(quota)}, which is ${say(quota * 0.1, 's')} in each 100 ms`,
          ]),
      `stopped ${percent(mean)} of the time, ${say(stop, 's')} each: whoever comes then waits as long`,
    ],
    fix: cpuThrottling.fix,
  };
}
