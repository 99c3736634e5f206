// Which experiment next. The theories that the baseline leaves standing name those that would decide about them; what is
// proposed is something that the leading theory makes a testable claim about, and best is what a rival must contradict. At
// most four, since every one of them costs the fleet a few bad seconds.
//
// When the only open question is whether one replica is slower beyond chance, two more are allowed, chosen because the
// suspect works at full speed in them: worker times need nothing but numbers.

import type { ExperimentFacts, ExperimentKind } from '../record.ts';
import { auditOf } from './audit.ts';
import { type Evidence, evidenceOf, slownessFor, workersOf } from './evidence.ts';
import type { SeenRecord } from './seen.ts';
import { convoy } from './theories/convoy.ts';
import { theories } from './theories.ts';
import { type Claim, isMissing, type Slug, type Theory } from './theory.ts';
import { say } from './wording.ts';

/** What to do, in the shape of a record's phase line, and what it would tell. */
export interface PlannedExperiment extends ExperimentFacts {
  /** The theories it tells apart from the leading one. */
  readonly tellsFrom: readonly Slug[];
}

const most = 4;
const mostWhenClose = 6;
/** Below this chance of luck the slowest replica is slower for certain, whatever else is measured. */
const certain = 0.001;
/** Exactly at the measured throughput an open loop would keep the slowest replica at its limit, and its queue would neither
 * grow nor go; a seventh less and theories part. */
const openShare = 0.85;

/** Experiments that would tell the theories apart that the baseline leaves open, or confirm the one it names, best first;
 * empty when nothing is wrong. Only kinds in `available` are proposed. */
export function planExperiments(record: SeenRecord, available: readonly ExperimentKind[]): PlannedExperiment[] {
  const evidence = evidenceOf(record);
  if (evidence === undefined) return [];
  const leaders = standingTheories(evidence);
  if (leaders.some((leader) => leader.slug === 'healthy' || leader.slug === 'generator-saturated')) return [];
  const close = isClose(evidence, leaders);
  const bound = close ? mostWhenClose : most;
  const wanted = leaders.flatMap((leader) => leader.experiments.map((kind) => ({ leader, kind })));
  const more = close ? (['less-load', 'scale-out'] as const).map((kind) => ({ leader: convoy, kind })) : [];
  const plans: PlannedExperiment[] = [];
  for (const { leader, kind } of [...wanted.slice(0, bound - more.length), ...more, ...wanted]) {
    if (plans.length === bound || !available.includes(kind) || plans.some((plan) => plan.kind === kind)) continue;
    const facts = concrete(kind, evidence);
    if (facts === undefined || !leader.foresee(evidence, facts).some((claim) => !isMissing(claim.predicted))) continue;
    plans.push({ ...facts, tellsFrom: toldApart(leader, facts, evidence) });
  }
  return plans;
}

/** The first established theory and those possible ones that would come before it; without one, all that are possible. */
function standingTheories(evidence: Evidence): Theory[] {
  const standing = new Map(auditOf(evidence).summaries.map((summary) => [summary.theory, summary.standing]));
  const winner = theories.findIndex((theory) => standing.get(theory.slug) === 'established');
  const considered =
    winner === -1 ? theories.filter((theory) => theory.slug !== 'healthy') : theories.slice(0, winner + 1);
  return considered.filter((theory) => ['established', 'possible'].includes(standing.get(theory.slug) ?? ''));
}

function isClose(evidence: Evidence, leaders: readonly Theory[]): boolean {
  return leaders.includes(convoy) && (slownessFor(evidence, evidence.suspect)?.luck ?? 0) > certain;
}

/** Theories whose prediction for the same measure cannot be true together with the leader's. */
function toldApart(leader: Theory, facts: ExperimentFacts, evidence: Evidence): Slug[] {
  const own = leader.foresee(evidence, facts);
  return theories.flatMap((other) => {
    if (other === leader) return [];
    const theirs = other.foresee(evidence, facts);
    return own.some((claim) => theirs.some((rival) => exclude(claim, rival))) ? [other.slug] : [];
  });
}

/** Predictions of one measure that do not overlap, or predictions of two replicas holding most, which cannot both do so. */
function exclude(one: Claim, other: Claim): boolean {
  if (isMissing(one.predicted) || isMissing(other.predicted)) return false;
  const [a, b] = [one.predicted, other.predicted];
  if (one.key === other.key)
    return (a.high ?? Infinity) < (b.low ?? -Infinity) || (b.high ?? Infinity) < (a.low ?? -Infinity);
  const bothHold = one.key.startsWith('held by ') && other.key.startsWith('held by ');
  return bothHold && (a.low ?? 0) + (b.low ?? 0) > 0.95;
}

function concrete(kind: ExperimentKind, evidence: Evidence): ExperimentFacts | undefined {
  const { suspect, ids, baseline } = evidence;
  const others = ids.filter((id) => id !== suspect);
  const suspectAt = suspect === undefined ? -1 : ids.indexOf(suspect);
  const next = ids[(suspectAt + 1) % ids.length];
  const afterNext = ids[(suspectAt + 2) % ids.length];
  switch (kind) {
    case 'stop-replica':
      return others.length === 0 || next === undefined
        ? undefined
        : { kind, target: next, did: `stopped ${next} for a few seconds` };
    case 'open-loop': {
      const rate = Math.round(openShare * baseline.throughput.value);
      return { kind, rate_per_s: rate, did: `offered the same requests in an open loop at ${say(rate, 'requests/s')}` };
    }
    case 'swap-policy':
      return { kind, policy: 'least-request', did: 'balanced by least-request instead' };
    case 'slow-another': {
      const target = afterNext === suspect ? next : afterNext;
      if (others.length === 0 || target === undefined) return undefined;
      const own = slownessFor(evidence, suspect)?.ratio.value ?? 1.2;
      const factor = Math.max(1.5, Math.ceil(own * 13) / 10);
      return { kind, target, factor, did: `made ${target} ${factor} times slower` };
    }
    case 'kill-suspect':
      return suspect === undefined ? undefined : { kind, target: suspect, did: `killed ${suspect}` };
    case 'scale-out':
      return { kind, replicas: 2 * ids.length, did: `ran ${2 * ids.length} replicas instead of ${ids.length}` };
    case 'scale-up': {
      const favourite = baseline.replicas.toSorted((one, other) => other.share - one.share)[0]?.id;
      const workers = workersOf(evidence, favourite);
      if (favourite === undefined || workers === undefined) return undefined;
      return {
        kind,
        target: favourite,
        workers: 2 * workers,
        did: `gave ${favourite} ${2 * workers} workers instead of ${workers}`,
      };
    }
    case 'random-choice':
      return { kind, did: 'had the clients choose at random' };
    case 'through-forwarder':
      return { kind, did: 'put a forwarder that takes turns between the clients and the list' };
    case 'less-load':
      return { kind, factor: 0.5, did: 'halved the demand' };
    case 'visit-alone':
      return { kind, did: 'visited each replica alone with one user, past the balancer' };
  }
}
