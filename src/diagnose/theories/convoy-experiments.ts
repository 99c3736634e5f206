// What a convoy must do in each experiment. Every one takes away one of its three parts (the closed loop, the blind choice,
// the slowest replica) or makes another replica the slowest, and says what the fleet does then.

import type { ExperimentFacts } from '../../record.ts';
import {
  capacityOf,
  type Evidence,
  kneeOf,
  meanService,
  replicaOf,
  slownessFor,
  wholeCapacity,
  workersOf,
} from '../evidence.ts';
import { meanInside } from '../inside.ts';
import { heldBy, insideOf, insideOthers, missing, paceWhileStopped, throughput, throughputGain } from '../measures.ts';
import type { Claim } from '../theory.ts';
import { digits, numeral, say, wholePercent } from '../wording.ts';

export function foreseeConvoy(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
  switch (experiment.kind) {
    case 'stop-replica':
      return [everyoneFreezes(evidence, experiment)];
    case 'open-loop':
      return [pileDissolvesOpen(evidence, experiment)];
    case 'swap-policy':
      return experiment.policy === 'least-request' ? levelled(evidence) : [];
    case 'slow-another':
      return curseMoves(evidence, experiment);
    case 'kill-suspect':
      return [roleIsInherited(evidence)];
    case 'scale-out':
      return [moreOfTheSame(evidence, experiment)];
    case 'less-load':
      return fewerUsers(evidence, experiment);
    case 'scale-up':
    case 'random-choice':
    case 'through-forwarder':
    case 'visit-alone':
      return [];
  }
}

/** Users are lost to the stopped replica at 1/R per turn: what is left decays with τ = R·N/X. After one second we look. */
function everyoneFreezes(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const { baseline, ids } = evidence;
  const users = evidence.loop.users ?? baseline.inFlight?.value ?? 0;
  const decay = (ids.length * users) / Math.max(1e-9, baseline.throughput.value);
  const left = Math.min(0.5, Math.max(0.05, 1.5 * Math.exp(-2.5 / decay)));
  return {
    key: `pace while ${experiment.target ?? 'one'} is stopped`,
    says: `Stopping ${experiment.target ?? 'any replica'} stops all: every ${nth(ids.length)} turn of every user ends there, so the others fall to at most ${wholePercent(left)} of their pace.`,
    predicted: { high: left, unit: 'share' },
    measure: paceWhileStopped,
    refutes: 'Others that go on answering: then nothing ties the replicas together.',
    bearing: 'necessary',
  };
}

function pileDissolvesOpen(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const hot = evidence.suspect;
  const capacity = capacityOf(evidence, hot);
  const workers = workersOf(evidence, hot);
  const rate = experiment.rate_per_s ?? evidence.baseline.throughput.value;
  const pile = replicaOf(evidence.baseline, hot)?.inFlight?.value;
  const used = capacity === undefined ? undefined : rate / evidence.ids.length / capacity.value;
  const inside = used === undefined || workers === undefined ? undefined : 2 * meanInside(workers, used, 0.5) + 2;
  const bound = inside ?? (pile === undefined ? undefined : pile / 2);
  const tooClose = bound === undefined || pile === undefined || bound > 0.7 * pile;
  return {
    key: `inside ${hot ?? 'the hot one'}`,
    says: tooClose
      ? 'Open-loop arrivals dissolve the pile.'
      : `At the same requests a second in an open loop (${say(rate, 'requests/s')}) the pile at ${hot ?? 'it'} dissolves: from ${digits(pile)} to at most ${digits(bound)}.`,
    predicted: tooClose
      ? { missing: 'an open-loop rate further below what the slowest replica can do' }
      : { high: bound, unit: 'requests' },
    measure: insideOf(hot),
    refutes: 'A pile that stays although nobody waits for answers any more: then the replica cannot even do its share.',
    bearing: 'supporting',
  };
}

function levelled(evidence: Evidence): Claim[] {
  const hot = evidence.suspect;
  const whole = wholeCapacity(evidence);
  const service = meanService(evidence);
  const { users, thinkSeconds = 0 } = evidence.loop;
  const gain =
    whole === undefined || service === undefined || users === undefined
      ? undefined
      : Math.min(whole.value, users / (service + thinkSeconds)) / evidence.baseline.throughput.value;
  const share = 1.5 / evidence.ids.length;
  return [
    {
      key: `held by ${hot ?? 'the hot one'}`,
      says: `Under least-request nobody waits at ${hot ?? 'it'} while others are idle: it holds at most ${wholePercent(share)} of what is in flight.`,
      predicted: { high: share, unit: 'share' },
      measure: heldBy(hot),
      refutes: 'A pile that stays although the balancer looks at load.',
      bearing: 'necessary',
    },
    {
      key: 'throughput gain',
      says:
        gain === undefined || whole === undefined
          ? 'Under least-request the fleet does more.'
          : `Under least-request all replicas work: up to ${say(whole.value, 'requests/s')}, ${gain.toFixed(2)} times as much.`,
      predicted:
        gain === undefined
          ? { low: 1.02, unit: 'times' }
          : { low: Math.max(1.005, 1 + 0.35 * (gain - 1)), high: 1.05 * gain, unit: 'times' },
      measure: throughputGain,
      refutes: 'No gain: then idle workers were not what was lost.',
      bearing: 'supporting',
    },
  ];
}

function curseMoves(evidence: Evidence, experiment: ExperimentFacts): Claim[] {
  const { target, factor } = experiment;
  const own = slownessFor(evidence, evidence.suspect)?.ratio.value ?? 1;
  const capacity = capacityOf(evidence, target);
  if (target === undefined || factor === undefined || factor < own * 1.05) return [];
  const count = evidence.ids.length;
  const pace = capacity === undefined ? undefined : (count * capacity.value) / factor;
  return [
    {
      key: `held by ${target}`,
      says: `With ${target} made the slowest (${factor} ×), the pile moves there: it holds more than half.`,
      predicted: { low: 0.5, high: 1, unit: 'share' },
      measure: heldBy(target),
      refutes: 'A pile that stays where it was: then it is that replica’s own trouble.',
      bearing: 'necessary',
    },
    {
      key: 'throughput',
      says:
        pace === undefined
          ? 'The fleet falls to R × the capacity of the new slowest.'
          : `The fleet falls to ${count} × ${say(pace / count, 'requests/s')} = ${say(pace, 'requests/s')}.`,
      predicted:
        pace === undefined ? { missing: missing.service } : { low: 0.9 * pace, high: 1.08 * pace, unit: 'requests/s' },
      measure: throughput,
      refutes: 'A fleet that goes on as before.',
      bearing: 'supporting',
    },
  ];
}

function roleIsInherited(evidence: Evidence): Claim {
  const waiting = evidence.baseline.inFlight?.value;
  return {
    key: `inside all but ${evidence.suspect ?? 'it'}`,
    says: `Without ${evidence.suspect ?? 'it'} the users do not go away: they stand at the ${numeral(evidence.ids.length - 1)} that are left.`,
    predicted: waiting === undefined ? { missing: missing.inFlight } : { low: 0.7 * waiting, unit: 'requests' },
    measure: insideOthers(evidence.suspect),
    refutes: 'Queues that vanish with the accused replica.',
    bearing: 'supporting',
  };
}

function moreOfTheSame(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const slowest = capacityOf(evidence, evidence.suspect);
  const count = experiment.replicas;
  const pace = slowest === undefined || count === undefined ? undefined : slowest.value * count;
  return {
    key: 'throughput',
    says:
      pace === undefined || count === undefined
        ? 'More replicas help only at the pace of the slowest.'
        : `With ${count} replicas the fleet does at most ${count} × the pace of the slowest = ${say(pace, 'requests/s')}.`,
    predicted: pace === undefined ? { missing: missing.service } : { high: 1.05 * pace, unit: 'requests/s' },
    measure: throughput,
    refutes: 'More than that: the slowest does not set the pace.',
    bearing: 'supporting',
  };
}

/** Above the knee users are not work: fewer of them wait less and get as much done. */
function fewerUsers(evidence: Evidence, { factor = 0.5 }: ExperimentFacts): Claim[] {
  const knee = kneeOf(evidence);
  const users = evidence.loop.users;
  if (knee === undefined || users === undefined || users * factor < 1.3 * knee) return [];
  return [
    {
      key: 'throughput gain',
      says: `${digits(users * factor)} users instead of ${users} get as much done: they are still more than the knee of ${digits(knee)}.`,
      predicted: { low: 0.9, high: 1.05, unit: 'times' },
      measure: throughputGain,
      refutes: 'A throughput that follows the number of users.',
      bearing: 'supporting',
    },
  ];
}

function nth(count: number): string {
  return ['', 'single', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'][count] ?? `${count}th`;
}
