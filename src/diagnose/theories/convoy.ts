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

import {
  capacityOf,
  type Evidence,
  kneeMargin,
  kneeOf,
  knowsWorkerTimes,
  meanService,
  othersOf,
  replicaOf,
  rotationLimit,
  slownessFor,
  wholeCapacity,
  workersOf,
} from '../evidence.ts';
import { meanInside } from '../inside.ts';
import {
  blindness,
  heldBy,
  insideOf,
  kneeRatio,
  loopUsers,
  missing,
  shareSpread,
  slowness,
  throughput,
} from '../measures.ts';
import { sum } from '../quantity.ts';
import type { ReplicaEvidence } from '../phase-evidence.ts';
import { pileBound, pileOf } from '../pile.ts';
import { luckMax } from '../slowness.ts';
import type { Claim, Finding, Missing, Predicted, Theory } from '../theory.ts';
import { digits, numeral, say, sayRange, signedPercent, wholePercent, percent } from '../wording.ts';
import { foreseeConvoy } from './convoy-experiments.ts';

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
  foresee: foreseeConvoy,
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
  says: `Not counting who thinks, there are at least ${kneeMargin} times as many users as the workers hold at the knee N* = X·(S + Z).`,
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
  const low = Math.max(users / evidence.ids.length / 2, free - sum(known.map((bound) => bound.most)) - slack);
  const high = free - sum(known.map((bound) => bound.least)) + slack;
  if (high < low) return { missing: 'users enough to fill the fleet at that pace' };
  return { low, high, unit: 'requests' };
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
    says: `One replica is slower by at least ${wholePercent(slownessMin - 1)}: its ${comparedBy(evidence)}.`,
    predicted: { low: slownessMin, unit: 'times' },
    measure: slowness(evidence.suspect),
    refutes: 'Equally fast replicas: then the pile wanders, and no replica causes it.',
    bearing: knowsWorkerTimes(evidence) ? 'necessary' : 'supporting',
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
    bearing: knowsWorkerTimes(evidence) ? 'supporting' : 'sufficient',
  };
}

function comparedBy(evidence: Evidence): string {
  return knowsWorkerTimes(evidence) ? 'worker time, without queueing' : 'time between answers while work waits';
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
  return {
    culprit: hot,
    sentence: sentence + trigger(own),
    arithmetic: arithmetic(evidence, hot),
    fix: fixFor(evidence, loop.users),
  };
}

/** What made it slow, where the record knows: the convoy only passes that on to everybody. */
function trigger(own: ReplicaEvidence | undefined): string {
  const throttled = own?.throttledShare ?? 0;
  return throttled < 0.05
    ? ''
    : ` Its CPU quota stops it ${percent(throttled)} of the time, which is what makes it slow.`;
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
      `capacity of ${hot}: ${workers} workers ÷ ${say(workers / capacity.value, 's')} = ${say(capacity.value, 'requests/s')}`,
      `fleet in strict turns: ${ids.length} × ${say(capacity.value, 'requests/s')} = ${say(limit.value, 'requests/s')}; measured ${say(pace, 'requests/s')} (${signedPercent(pace / limit.value - 1)})`,
      `${hot} is slower by ${percent(slow.ratio.value - 1)}, ${slow.z.toFixed(1)} standard errors from equal`,
    );
  }
  if (slow?.from === 'answers') {
    lines.push(
      `while work waits, ${hot} answers every ${say(slow.mean.value, 's')}: ${percent(slow.ratio.value - 1)} slower than the others, ${slow.z.toFixed(1)} standard errors from equal`,
    );
  }
  const others = othersOf(baseline, hot);
  const elsewhere = sum(others.map((replica) => replica.inFlight?.value ?? 0));
  if (loop.users !== undefined && own?.inFlight !== undefined) {
    const thinking = pace * (loop.thinkSeconds ?? 0);
    const onTheWay =
      own.inFlightFrom === 'replica'
        ? Math.max(0, (baseline.inFlight?.value ?? 0) - own.inFlight.value - elsewhere)
        : 0;
    const terms = [
      `${loop.users} users`,
      ...(thinking > 0 ? [`${digits(thinking)} thinking`] : []),
      `${digits(elsewhere)} at the others`,
      ...(onTheWay > 0.5 ? [`${digits(onTheWay)} on the way`] : []),
    ];
    const rest = loop.users - thinking - elsewhere - (onTheWay > 0.5 ? onTheWay : 0);
    const how = own.inFlightFrom === 'little' ? ' (rate × latency)' : '';
    lines.push(`at ${hot}: ${terms.join(' − ')} = ${digits(rest)}; measured ${digits(own.inFlight.value)}${how}`);
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
