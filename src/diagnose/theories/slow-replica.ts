// One replica is defective, and the trouble stays with it: the others go on as if nothing had happened.
//
//   Xᵢ = λ/R everywhere, until λ/R > c_slow: then its queue grows to whatever bounds it; the others never notice
//
// What separates it from the convoy is that nothing ties the replicas together: requests come whether or not earlier ones
// were answered, or the balancer looks at load. A slow replica that merely takes a little longer hurts nobody: its requests
// must take at least twice as long as the others'.

import type { ExperimentFacts } from '../../record.ts';
import {
  capacityOf,
  type Evidence,
  knowsWorkerTimes,
  othersOf,
  replicaOf,
  slownessFor,
  workersOf,
} from '../evidence.ts';
import {
  coupling,
  heldBy,
  insideOf,
  insideOthers,
  missing,
  paceOfOthers,
  paceWhileStopped,
  residenceRatio,
  slowness,
} from '../measures.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { digits, listed, numeral, percent, say, wholePercent } from '../wording.ts';

/** How many times longer than elsewhere a request must take there before it is called an incident. */
export const harmRatio = 2;

export const slowReplica: Theory = {
  slug: 'slow-replica',
  pattern: 'slow-replica',
  title: 'Slow replica: one is defective, and the trouble stays with it',
  mechanism:
    'One replica takes longer for the same work: a worse machine, a wrong setting, a cold cache. Requests arrive regardless, ' +
    'so its queue stands while its siblings work as usual. Only the requests that are handed to it suffer, and only as long ' +
    'as they are.',
  lookAlikes: ['convoy', 'skewed-balancer', 'cpu-throttling'],
  predict: (evidence) => [
    uncoupled(evidence),
    takesLonger(evidence),
    othersGoOn(evidence),
    slower(evidence),
    clearlySlower(evidence),
  ],
  foresee,
  refutedBy: 'Others that are held back with it; equal worker times; requests that take no longer there.',
  provedBy:
    'Worker time that is longer beyond chance, requests that take at least twice as long there, and siblings that work as usual.',
  fix:
    'Take it out of rotation, then compare it with a sibling: machine, version, configuration, neighbours, cache. Least-request ' +
    'balancing or outlier ejection would have kept most requests away from it.',
  experiments: ['visit-alone', 'stop-replica', 'kill-suspect'],
  verdict,
};

function uncoupled(evidence: Evidence): Claim {
  return {
    key: 'coupling',
    says: 'Nothing ties the replicas together: demand is open, or the balancer looks at load.',
    predicted: { high: 0, unit: 'yes' },
    measure: coupling,
    refutes: `A closed loop over blind choice: then ${evidence.suspect ?? 'a slow replica'} cannot be slow alone.`,
    bearing: 'necessary',
  };
}

function takesLonger(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  return {
    key: `time ratio ${hot ?? ''}`,
    says: `A request takes at least ${harmRatio} times as long at ${hot ?? 'it'} as elsewhere.`,
    predicted: { low: harmRatio, unit: 'times' },
    measure: residenceRatio(hot),
    refutes: 'Requests that take about as long as elsewhere: slow or not, it hurts nobody.',
    bearing: 'necessary',
  };
}

/** In an open loop all replicas get the same; in a closed one those that are not held back would outrun the slow one. */
function othersGoOn(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const ratio = slownessFor(evidence, hot)?.ratio.value;
  if (evidence.loop.model === 'closed') {
    const capacities = othersOf(evidence.baseline, hot).flatMap(
      (replica) => capacityOf(evidence, replica.id)?.value ?? [],
    );
    const pace = capacities.length === 0 ? undefined : sum(capacities) / capacities.length;
    return {
      key: `pace of others ${hot ?? ''}`,
      says: `If the defect stayed with ${hot ?? 'it'}, the waiting users would keep the others busy${pace === undefined ? '' : ` at up to ${say(pace, 'requests/s')} each`}${ratio === undefined ? '' : `, ${ratio.toFixed(2)} times its pace`}.`,
      predicted: ratio === undefined ? { missing: missing.service } : { low: 1 + 0.6 * (ratio - 1), unit: 'times' },
      measure: paceOfOthers(hot),
      refutes: 'Others that go exactly at its pace: they are held back with it.',
      bearing: 'supporting',
    };
  }
  return {
    key: `pace of others ${hot ?? ''}`,
    says: 'The others answer all they are handed: as many as the slow one or more.',
    predicted: { low: 0.97, unit: 'times' },
    measure: paceOfOthers(hot),
    refutes: 'Others that fall behind it.',
    bearing: 'necessary',
  };
}

function slower(evidence: Evidence): Claim {
  return {
    key: `slowness ${evidence.suspect ?? ''}`,
    says: `${evidence.suspect ?? 'Its'} worker time is longer than the others’ by a fifth or more.`,
    predicted: { low: 1.2, unit: 'times' },
    measure: slowness(evidence.suspect),
    refutes: 'Worker times that are alike: then it waits, but it is not slow.',
    bearing: knowsWorkerTimes(evidence) ? 'necessary' : 'supporting',
  };
}

/** Without worker times the time inside has to prove it, and then by more. */
function clearlySlower(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const { loop, choice } = evidence;
  // Tied to the others it would be a convoy, so that has to be known first.
  const alone =
    loop.model === 'open' || choice.blind === false
      ? undefined
      : { missing: loop.model === 'closed' ? missing.choice : missing.loop };
  const shared = { refutes: 'A difference that chance explains.', bearing: 'sufficient' } as const;
  return !knowsWorkerTimes(evidence)
    ? {
        key: `time ratio, clearly ${hot ?? ''}`,
        says: `Its requests take clearly longer, with equal or smaller shares of the load.`,
        predicted: alone ?? { low: harmRatio, unit: 'times' },
        measure: residenceRatio(hot),
        ...shared,
      }
    : {
        key: `slowness beyond chance ${hot ?? ''}`,
        says: 'The difference is beyond chance.',
        predicted: alone ?? { low: 1.1, unit: 'times' },
        measure: slowness(hot),
        ...shared,
      };
}

function foresee(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
  const hot = evidence.suspect;
  switch (experiment.kind) {
    case 'stop-replica':
      return experiment.target === hot ? [] : [othersGoOnWithout(evidence, experiment)];
    case 'open-loop':
      return [queueStays(evidence)];
    case 'slow-another':
      return [troubleStays(evidence, experiment)];
    case 'visit-alone':
      return [slowAlone(evidence)];
    case 'kill-suspect':
      return [troubleGoes(evidence)];
    case 'swap-policy':
    case 'scale-out':
    case 'scale-up':
    case 'random-choice':
    case 'through-forwarder':
    case 'less-load':
      return [];
  }
}

function othersGoOnWithout(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const others = othersOf(evidence.baseline, experiment.target);
  const pace = sum(others.map((replica) => replica.rate.value));
  return {
    key: `pace while ${experiment.target ?? 'one'} is stopped`,
    says: `Stopping ${experiment.target ?? 'another'} is nothing to the other ${numeral(others.length)}: they go on at ${say(pace / Math.max(1, others.length), 'requests/s')} each.`,
    predicted: { low: 0.6, unit: 'share' },
    measure: paceWhileStopped,
    refutes: 'Others that stop with it.',
    bearing: 'necessary',
  };
}

function queueStays(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const before = replicaOf(evidence.baseline, hot)?.inFlight?.value;
  return {
    key: `inside ${hot ?? 'the hot one'}`,
    says: `However the requests are made, the queue is ${hot ?? 'its'}’s own and stays${before === undefined ? '' : `: ${digits(before)} before, about as many now`}.`,
    predicted: before === undefined ? { missing: missing.inFlight } : { low: 0.7 * before, unit: 'requests' },
    measure: insideOf(hot),
    refutes: 'A queue that is gone once nobody waits for answers.',
    bearing: 'supporting',
  };
}

function troubleStays(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const hot = evidence.suspect;
  const before = replicaOf(evidence.baseline, hot)?.held?.value;
  return {
    key: `held by ${hot ?? 'it'}`,
    says: `Whatever is done to ${experiment.target ?? 'another'}, the trouble stays at ${hot ?? 'it'}: it goes on holding most.`,
    predicted: before === undefined ? { missing: missing.inFlight } : { low: 0.7 * before, unit: 'share' },
    measure: heldBy(hot),
    refutes: 'A pile that goes away or moves to another replica.',
    bearing: 'supporting',
  };
}

function slowAlone(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const ratio = slownessFor(evidence, hot)?.ratio.value;
  return {
    key: `time ratio ${hot ?? ''}`,
    says: `Visited alone, without any load, ${hot ?? 'it'} still takes ${ratio === undefined ? 'longer' : `${ratio.toFixed(1)} times as long`}.`,
    predicted: { low: ratio === undefined ? 1.2 : 1 + 0.5 * (ratio - 1), unit: 'times' },
    measure: residenceRatio(hot),
    refutes: 'A replica that is as fast as its siblings when nobody else is there.',
    bearing: 'necessary',
  };
}

function troubleGoes(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const others = othersOf(evidence.baseline, hot);
  const before = sum(others.map((replica) => replica.inFlight?.value ?? 0));
  const more = (before * (others.length + 1)) / Math.max(1, others.length);
  return {
    key: `inside all but ${hot ?? 'it'}`,
    says: `Without ${hot ?? 'it'} the trouble is gone: the others hold ${digits(before)} to ${digits(2 * more)}, nobody takes over the role.`,
    predicted: { high: 2 * more + 2, unit: 'requests' },
    measure: insideOthers(hot),
    refutes: 'Another replica that takes over the queue.',
    bearing: 'necessary',
  };
}

function verdict(evidence: Evidence): Finding {
  const { baseline } = evidence;
  const hot = evidence.suspect ?? 'one replica';
  const own = replicaOf(baseline, hot);
  const others = othersOf(baseline, hot);
  const slow = knowsWorkerTimes(evidence) ? slownessFor(evidence, hot) : undefined;
  const capacity = capacityOf(evidence, hot);
  const workers = workersOf(evidence, hot);
  const elsewhere = sum(others.map((replica) => replica.residence?.value ?? 0)) / Math.max(1, others.length);
  const there = own?.residence?.value ?? 0;
  const arithmetic = [
    `time in ${hot}: ${digits(own?.inFlight?.value ?? 0)} inside ÷ ${say(own?.rate.value ?? 0, 'requests/s')} = ${say(there, 's')}; elsewhere ${say(elsewhere, 's')}`,
  ];
  if (slow !== undefined && capacity !== undefined && workers !== undefined) {
    const handed = (own?.handed ?? 0) / baseline.seconds;
    arithmetic.push(
      `capacity of ${hot}: ${workers} workers ÷ ${say(workers / capacity.value, 's')} = ${say(capacity.value, 'requests/s')}; it is handed ${say(handed, 'requests/s')}`,
    );
  }
  const factor = slow === undefined ? there / Math.max(1e-9, elsewhere) : slow.ratio.value;
  const failed =
    own === undefined || own.failedShare < 0.001 ? '' : ` and fail in ${percent(own.failedShare)} of the cases`;
  return {
    culprit: hot,
    sentence: `${hot} is ${slow === undefined ? 'slower' : `${factor.toFixed(1)} times slower`} than its siblings, and the trouble stays with it: requests there take ${say(there, 's')} instead of ${say(elsewhere, 's')}${failed}, while ${listed(others.map((one) => one.id))} work as usual.`,
    arithmetic,
    fix: `Take ${hot} out of rotation: ${wholePercent(own?.share ?? 0)} of the requests are hurt. ${slowReplica.fix.replace(/^[^,]*, then compare it/, `Then compare it`)}`,
  };
}
