// The convoy: users who wait for their answers, a balancer that deals in strict turns, one replica a little slower.
//
//   X ≤ R · min cᵢ        cᵢ = Kᵢ / Sᵢ      every replica is handed the same, so all go at the pace of the slowest
//   L_hot = N − X·Z − Σ others             and whoever is neither thinking nor at another replica waits there
//
// The healthy replicas work at ρᵢ = Sᵢ/S_slow: relieved, because starved. Their number inside lies between ρᵢK (no waiting)
// and what M/M/K would hold (turns arrive more evenly than that), which gives L_hot as an interval.
//
// It needs more users than the knee N* = X(S + Z); at the knee itself nobody can say whether they queue or work, so we ask
// for 1.6 × N*. With equal replicas above the knee the pile is there as well, but wanders: then no one is to blame.

import type { ExperimentFacts } from '../../record.ts';
import { manyServers } from '../../stats.ts';
import {
  capacityOf,
  type Evidence,
  kneeMargin,
  kneeOf,
  meanService,
  othersOf,
  replicaOf,
  rotationLimit,
  slownessFor,
  wholeCapacity,
  workersOf,
} from '../evidence.ts';
import {
  blindness,
  heldBy,
  insideOf,
  insideOthers,
  kneeRatio,
  loopUsers,
  missing,
  paceWhileStopped,
  shareSpread,
  slowness,
  throughput,
  throughputGain,
} from '../measures.ts';
import { sum } from '../quantity.ts';
import { pileBound, pileOf } from '../pile.ts';
import { luckMax } from '../slowness.ts';
import type { Claim, Finding, Missing, Predicted, Theory } from '../theory.ts';
import { digits, numeral, percent, say, sayRange, wholePercent } from '../wording.ts';

/** A smaller difference between replicas is not worth accusing anybody of. */
const slownessMin = 1.02;

export const convoy: Theory = {
  slug: 'convoy',
  pattern: 'convoy',
  title: 'Convoy: a closed loop over strict rotation waits for its slowest replica',
  mechanism:
    'Each user waits for its answer before it asks again, and the balancer hands every replica the same number of requests, ' +
    'whatever its speed. So the whole fleet runs at the number of replicas times the pace of the slowest, and whoever is not ' +
    'being served elsewhere stands in line there. The other replicas are starved, not healthy. A slowness of a few per cent ' +
    'is enough once there are more users than the workers can hold.',
  lookAlikes: ['skewed-balancer', 'slow-replica', 'overload', 'cpu-throttling', 'network', 'generator-saturated'],
  predict: (evidence) => [
    closedLoop,
    blindChoice,
    aboveKnee,
    equalShares(evidence),
    fleetPace(evidence),
    pileSize(evidence),
    oneIsSlower(evidence),
    slownessIsReal(evidence),
    pileStays(evidence),
  ],
  foresee,
  refutedBy:
    'Unequal shares of requests; open-loop demand or a balancer that looks at load; fewer users than the knee; no replica ' +
    'slower than the others; or others that go on working while one replica is stopped.',
  provedBy:
    'All of that in place, and one replica whose worker time is longer than the others’ beyond chance, or a pile that stays ' +
    'at one replica for longer than a pile among equals would.',
  fix:
    'In the test: open-loop arrivals, so that a slow replica cannot slow the demand. In the service: least-request or ' +
    'two-choices balancing, a limit on requests per replica, and timeouts. Then find what made the replica slower.',
  experiments: ['stop-replica', 'open-loop', 'swap-policy', 'slow-another'],
  verdict,
};

const closedLoop: Claim = {
  key: 'closed loop',
  says: 'The clients wait for their answers before they ask again.',
  predicted: { low: 1, unit: 'users' },
  measure: loopUsers,
  refutes: 'Open-loop demand: requests that come whether or not earlier ones were answered.',
  bearing: 'necessary',
};

const blindChoice: Claim = {
  key: 'blind choice',
  says: 'The choice of a replica does not look at how loaded it is.',
  predicted: { low: 1, unit: 'yes' },
  measure: blindness,
  refutes: 'A policy such as least-request, which gives a slow replica less.',
  bearing: 'necessary',
};

const aboveKnee: Claim = {
  key: 'users ÷ knee',
  says: `There are at least ${kneeMargin} times as many users as the knee N* = X·(S + Z) holds.`,
  predicted: { low: kneeMargin, unit: 'times' },
  measure: kneeRatio,
  refutes: 'Fewer users: workers wait for requests, not requests for workers.',
  bearing: 'necessary',
};

/** Turns are exact; dice scatter by √((R−1)/n); where only answers are counted, what stayed inside is not in the count. */
function equalShares({ baseline, choice, ids }: Evidence): Claim {
  const handed = sum(baseline.replicas.map((replica) => replica.handed)) / ids.length;
  const dice = choice.name === 'random' ? 3 * Math.sqrt((ids.length - 1) / Math.max(1, handed * ids.length)) : 0;
  const stayed = baseline.ticks.some((tick) => tick.replicas.some((replica) => replica.started !== undefined))
    ? 0
    : (baseline.inFlight?.value ?? 0) / Math.max(1, handed);
  const tolerance = 0.02 + dice + stayed;
  return {
    key: 'spread of requests',
    says: `Every replica is handed the same number of requests, within ${percent(tolerance)}.`,
    predicted: { high: tolerance, unit: 'share' },
    measure: shareSpread,
    refutes: 'Unequal shares: then the load is dealt unevenly, and the pile needs no convoy.',
    bearing: 'necessary',
  };
}

function fleetPace(evidence: Evidence): Claim {
  const limit = rotationLimit(evidence);
  const slowest = capacityOf(evidence, evidence.suspect);
  const count = evidence.ids.length;
  return {
    key: 'throughput',
    says:
      limit === undefined || slowest === undefined
        ? 'The fleet does R × the capacity of its slowest replica.'
        : `The fleet does ${count} × ${say(slowest.value, 'requests/s')} = ${say(limit.value, 'requests/s')}: R × the capacity of ${evidence.suspect ?? 'its slowest replica'}.`,
    predicted:
      limit === undefined
        ? { missing: missing.capacity }
        : { low: 0.9 * limit.value - 2 * limit.error, high: 1.04 * limit.value + 2 * limit.error, unit: 'requests/s' },
    measure: throughput,
    refutes:
      'A throughput clearly below: something else holds the fleet back. Clearly above: the replicas are not tied together.',
    bearing: 'necessary',
  };
}

function pileSize(evidence: Evidence): Claim {
  const predicted = predictedPile(evidence);
  const hot = evidence.suspect ?? 'the slowest';
  return {
    key: `inside ${hot}`,
    says:
      'missing' in predicted
        ? `Whoever neither thinks nor is at another replica stands at ${hot}.`
        : `Of ${digits(evidence.loop.users ?? 0)} users, ${sayRange(predicted.low, predicted.high, 'requests')} stand at ${hot}: the rest after thinking and what the others hold at ${relief(evidence)} of full.`,
    predicted,
    measure: insideOf(evidence.suspect),
    refutes: 'A pile somewhere else, or none.',
    bearing: 'supporting',
  };
}

function predictedPile(evidence: Evidence): Predicted | Missing {
  const limit = rotationLimit(evidence);
  const { users, thinkSeconds = 0 } = evidence.loop;
  const others = evidence.ids.filter((id) => id !== evidence.suspect);
  const bounds = others.map((id) => boundsOfInside(evidence, id));
  const known = bounds.filter((bound) => bound !== undefined);
  if (limit === undefined || users === undefined || known.length < others.length) {
    return { missing: missing.capacity };
  }
  const free = users - limit.value * thinkSeconds;
  const slack = 2 + 0.05 * users;
  return {
    low: Math.max(users / evidence.ids.length / 2, free - sum(known.map((bound) => bound.most)) - slack),
    high: free - sum(known.map((bound) => bound.least)) + slack,
    unit: 'requests',
  };
}

function boundsOfInside(evidence: Evidence, id: string): { readonly least: number; readonly most: number } | undefined {
  const workers = workersOf(evidence, id);
  const capacity = capacityOf(evidence, id);
  const limit = rotationLimit(evidence);
  if (workers === undefined || capacity === undefined || limit === undefined) return undefined;
  const used = Math.min(1, limit.value / evidence.ids.length / capacity.value);
  const users = evidence.loop.users ?? 0;
  return { least: used * workers, most: Math.min(meanInside(workers, used), users / 2) };
}

/** What M/M/K holds on average: turns come more evenly than independent arrivals, so no more than that stands there. */
function meanInside(workers: number, used: number): number {
  const queue = manyServers({ arrivalRate: used * workers, serviceRate: 1, servers: workers });
  return queue === undefined ? Number.POSITIVE_INFINITY : queue.inSystemMean;
}

function relief(evidence: Evidence): string {
  const limit = rotationLimit(evidence);
  const others = evidence.ids
    .filter((id) => id !== evidence.suspect)
    .flatMap((id) => capacityOf(evidence, id)?.value ?? []);
  if (limit === undefined || others.length === 0) return 'part';
  return wholePercent(limit.value / evidence.ids.length / (sum(others) / others.length));
}

function oneIsSlower(evidence: Evidence): Claim {
  return {
    key: `slowness ${evidence.suspect ?? ''}`,
    says: `One replica's worker time is longer by at least ${wholePercent(slownessMin - 1)}.`,
    predicted: { low: slownessMin, unit: 'times' },
    measure: slowness(evidence.suspect),
    refutes: 'Equal worker times: then the pile wanders, and no replica causes it.',
    bearing: 'necessary',
  };
}

function slownessIsReal(evidence: Evidence): Claim {
  return {
    key: `slowness beyond chance ${evidence.suspect ?? ''}`,
    says: `The difference of ${evidence.suspect ?? 'the slowest'} is beyond what the slowest of ${numeral(evidence.ids.length)} equal replicas would show.`,
    predicted: tiedTogether(evidence) ?? { low: 1, unit: 'times' },
    measure: slowness(evidence.suspect),
    refutes: 'An interval that contains 1.',
    bearing: 'sufficient',
  };
}

function pileStays(evidence: Evidence): Claim {
  const { baseline, suspect } = evidence;
  const pile = pileOf(evidence);
  const bound = pile === undefined ? undefined : pileBound(pile, luckMax / 2);
  return {
    key: `pile stays ${suspect ?? ''}`,
    says: `The pile stays at ${suspect ?? 'one replica'}: over ${digits(baseline.seconds)} s it holds more than ${bound === undefined ? 'the fullest of equal replicas would' : `the ${percent(bound)} that the fullest of equal replicas would hold so long in one of a hundred runs`}.`,
    predicted:
      tiedTogether(evidence) ??
      (bound === undefined ? { missing: missing.inFlight } : { low: bound, high: 1, unit: 'share' }),
    measure: steadily(suspect),
    refutes: 'A pile that moves from replica to replica.',
    // Worker times know the same and more: where they are there, they alone decide.
    bearing: evidence.slowness.length > 0 ? 'supporting' : 'sufficient',
  };
}

/** A slow replica or a lasting pile proves a convoy only where the replicas are known to be tied together. */
function tiedTogether({ loop, choice }: Evidence): Missing | undefined {
  if (loop.model !== 'closed') return { missing: missing.loop };
  return choice.blind === true ? undefined : { missing: missing.choice };
}

/** The share held, without the error that its own ups and downs give: the bound already allows for those. */
function steadily(id: string | undefined): Claim['measure'] {
  return (evidence, phase) => {
    const held = heldBy(id)(evidence, phase);
    if ('missing' in held) return held;
    const fullest = replicaOf(phase, id)?.fullest ?? 0;
    const text = `${percent(held.value)}, the fullest in ${wholePercent(fullest)} of all seconds`;
    return fullest < 0.85 ? { ...held, low: 0, text } : { value: held.value, low: held.value, high: held.value, text };
  };
}

function foresee(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
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
  const inside = used === undefined || workers === undefined ? undefined : 2.5 * meanInside(workers, used) + 2;
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
    bearing: 'necessary',
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

function verdict(evidence: Evidence): Finding {
  const { baseline, ids, loop } = evidence;
  const hot = evidence.suspect ?? 'one replica';
  const own = replicaOf(baseline, hot);
  const limit = rotationLimit(evidence);
  const capacity = capacityOf(evidence, hot);
  const slow = slownessFor(evidence, hot);
  const measured = say(baseline.throughput.value, 'requests/s');
  const held = own?.held === undefined ? '' : wholePercent(own.held.value);
  const rule = evidence.choice.name === 'random' ? 'blind random choice' : 'strict rotation';
  const sentence =
    slow !== undefined && limit !== undefined && capacity !== undefined
      ? `${hot} is the slowest of ${numeral(ids.length)} by ${wholePercent(slow.ratio.value - 1)}, and a closed loop over ${rule} makes the whole fleet wait for it: ` +
        `${ids.length} × ${say(capacity.value, 'requests/s')} = ${say(limit.value, 'requests/s')} predicted, ${measured} measured.`
      : `Everyone waits at ${hot}: it gets ${percent(own?.share ?? 0)} of the requests like the others, yet holds ${held} of what is in flight, ` +
        `and a closed loop over ${rule} ties all ${numeral(ids.length)} to its pace (${measured} in all).`;
  return { culprit: hot, sentence, arithmetic: arithmetic(evidence, hot), fix: fixFor(evidence, loop.users) };
}

function arithmetic(evidence: Evidence, hot: string): string[] {
  const { baseline, ids, loop } = evidence;
  const lines: string[] = [];
  const slow = slownessFor(evidence, hot);
  const workers = workersOf(evidence, hot);
  const capacity = capacityOf(evidence, hot);
  const limit = rotationLimit(evidence);
  const own = replicaOf(baseline, hot);
  const pace = baseline.throughput.value;
  if (slow !== undefined && workers !== undefined && capacity !== undefined && limit !== undefined) {
    lines.push(
      `capacity of ${hot}: ${workers} workers ÷ ${say(slow.service.value, 's')} = ${say(capacity.value, 'requests/s')}`,
      `fleet in strict turns: ${ids.length} × ${say(capacity.value, 'requests/s')} = ${say(limit.value, 'requests/s')}; measured ${say(pace, 'requests/s')} (${percent(pace / limit.value - 1)})`,
      `${hot} is slower by ${percent(slow.ratio.value - 1)}, ${slow.z.toFixed(1)} standard errors from equal`,
    );
  }
  const others = othersOf(baseline, hot);
  const elsewhere = sum(others.map((replica) => replica.inFlight?.value ?? 0));
  if (loop.users !== undefined && own?.inFlight !== undefined) {
    const thinking = pace * (loop.thinkSeconds ?? 0);
    const rest = loop.users - thinking - elsewhere;
    lines.push(
      `at ${hot}: ${loop.users} users − ${digits(thinking)} thinking − ${digits(elsewhere)} at the others = ${digits(rest)}; measured ${digits(own.inFlight.value)}${own.inFlightFrom === 'little' ? ' (rate × latency)' : ''}`,
    );
  }
  const knee = kneeOf(evidence);
  if (knee !== undefined && loop.users !== undefined) {
    lines.push(`the knee: ${digits(knee)} users would keep it busy; there are ${loop.users}`);
  }
  return lines;
}

function fixFor(evidence: Evidence, users: number | undefined): string {
  const whole = wholeCapacity(evidence);
  const service = meanService(evidence);
  const now = evidence.baseline.throughput.value;
  if (whole === undefined || service === undefined || users === undefined) return convoy.fix;
  const better = Math.min(whole.value, users / (service + (evidence.loop.thinkSeconds ?? 0)));
  return `Balance by least-request: up to ${say(better, 'requests/s')} instead of ${say(now, 'requests/s')} (+${wholePercent(better / now - 1)}). Test with open-loop arrivals, so that one slow replica cannot slow the demand. Then find what made ${evidence.suspect ?? 'it'} slower.`;
}
