// Pick-first: every client takes element 0 of the same list, so one replica is the fleet.
//
//   X ≤ c₁ = K/S         whatever the number of replicas: scaling out has factor 0, scaling up factor 1
//
// The mechanism alone is not an incident: a first replica that is not full serves everybody well.

import type { ExperimentFacts } from '../../record.ts';
import {
  capacityOf,
  type Evidence,
  othersOf,
  replicaOf,
  utilisationOf,
  wholeCapacity,
  workersOf,
} from '../evidence.ts';
import {
  failedShare,
  largestShare,
  missing,
  newcomersShare,
  throughput,
  throughputGain,
  utilisation,
  workGain,
} from '../measures.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Missing, Predicted, Theory } from '../theory.ts';
import { listed, numeral, percent, say, wholePercent } from '../wording.ts';

const nearlyAll = 0.9;
const failingMin = 0.005;

export const pickFirst: Theory = {
  slug: 'pick-first',
  pattern: 'pick-first',
  title: 'Pick-first: every client takes the same entry of the list',
  mechanism:
    'A client asks the registry for the replicas and takes the first, or keeps the one connection it made. All clients read ' +
    'the same list, so one replica carries everything and the others are idle. More replicas change nothing, because nobody ' +
    'looks past the first entry; a larger first replica helps, and so does any choice that spreads.',
  lookAlikes: ['overload', 'skewed-balancer', 'slow-replica'],
  predict: (evidence) => [
    oneTakesAll(evidence),
    oneIsTheBottleneck(evidence),
    oneSetsTheCeiling(evidence),
    full(evidence),
  ],
  foresee,
  refutedBy: 'Requests that reach more than one replica in earnest, or a favoured replica that has room to spare.',
  provedBy: 'One replica with nearly all requests, at its capacity, while its siblings idle.',
  fix:
    'Spread over the whole list: round robin, random or two choices in the client, or a balancer between. Shuffling the list ' +
    'once per client is the smallest change. Adding replicas does not help.',
  experiments: ['random-choice', 'scale-out', 'scale-up', 'through-forwarder'],
  verdict,
};

function favourite(evidence: Evidence): string | undefined {
  return evidence.baseline.replicas.toSorted((one, other) => other.share - one.share)[0]?.id;
}

function oneTakesAll(evidence: Evidence): Claim {
  return {
    key: 'largest share',
    says: `One of ${numeral(evidence.ids.length)} replicas is handed at least ${wholePercent(nearlyAll)} of all requests.`,
    predicted:
      evidence.ids.length < 2
        ? { missing: 'the other entries of the list' }
        : { low: nearlyAll, high: 1, unit: 'share' },
    measure: largestShare,
    refutes: 'Shares near 1/R: somebody does spread the requests.',
    bearing: 'necessary',
  };
}

/** Where nobody knows the workers, failures must show that the one is too few. */
function oneIsTheBottleneck(evidence: Evidence): Claim {
  const hot = favourite(evidence);
  const shared = {
    refutes: 'A favourite with room to spare: unbalanced, but nobody waits for it.',
    bearing: 'necessary',
  } as const;
  return fullnessIsKnown(evidence)
    ? {
        key: `utilisation of ${hot ?? ''}`,
        says: `${hot ?? 'It'} is full: at least 90 % of its workers are busy.`,
        predicted: { low: 0.9, unit: 'share' },
        measure: utilisation(hot),
        ...shared,
      }
    : {
        key: 'failed',
        says: 'The one cannot serve them all: requests fail.',
        predicted: isFailing(evidence) ? { low: failingMin, unit: 'share' } : { missing: missing.capacity },
        measure: failedShare,
        ...shared,
      };
}

function fullnessIsKnown(evidence: Evidence): boolean {
  const hot = favourite(evidence);
  return hot !== undefined && utilisationOf(evidence, evidence.baseline, hot) !== undefined;
}

function isFailing({ baseline }: Evidence): boolean {
  return (baseline.failedShare ?? 0) >= failingMin;
}

function oneSetsTheCeiling(evidence: Evidence): Claim {
  const hot = favourite(evidence);
  const capacity = capacityOf(evidence, hot);
  return {
    key: 'throughput',
    says:
      capacity === undefined
        ? 'The fleet answers what one replica can answer.'
        : `The fleet answers at most what ${hot ?? 'one'} can: ${say(capacity.value, 'requests/s')}.`,
    predicted:
      capacity === undefined
        ? { missing: missing.capacity }
        : { high: 1.03 * capacity.value + 2 * capacity.error, unit: 'requests/s' },
    measure: throughput,
    refutes: 'More answers than one replica can give.',
    bearing: 'supporting',
  };
}

function full(evidence: Evidence): Claim {
  return {
    key: 'largest share is all',
    says: 'Nobody else is asked at all, and the one is not enough: its share is 99 % or more.',
    predicted: predictAll(evidence),
    measure: largestShare,
    refutes: 'Siblings with requests of their own.',
    bearing: 'sufficient',
  };
}

function predictAll(evidence: Evidence): Predicted | Missing {
  if (evidence.ids.length < 2) return { missing: 'the other entries of the list' };
  return fullnessIsKnown(evidence) || isFailing(evidence)
    ? { low: 0.99, high: 1, unit: 'share' }
    : { missing: missing.capacity };
}

function foresee(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
  const whole = wholeCapacity(evidence)?.value;
  const offered = evidence.baseline.offered?.value;
  switch (experiment.kind) {
    case 'scale-out':
      return [newcomersIdle(experiment), unchanged(experiment)];
    case 'scale-up':
      return [largerOneHelps(evidence, experiment)];
    case 'random-choice':
      return spread(evidence, 'With a random choice', whole, offered);
    case 'through-forwarder':
      return spread(evidence, 'Through a forwarder that takes turns', whole, offered);
    case 'stop-replica':
    case 'open-loop':
    case 'swap-policy':
    case 'slow-another':
    case 'kill-suspect':
    case 'less-load':
    case 'visit-alone':
      return [];
  }
}

function newcomersIdle(experiment: ExperimentFacts): Claim {
  const count = experiment.replicas;
  return {
    key: 'share of newcomers',
    says: `${count === undefined ? 'New' : `Of ${count} replicas the new`} ones stand at the end of the list and get nothing.`,
    predicted: { high: 0.02, unit: 'share' },
    measure: newcomersShare,
    refutes: 'New replicas that are asked.',
    bearing: 'necessary',
  };
}

/** Work done, not good answers: near the timeout a small difference decides whether an answer still counts. */
function unchanged(experiment: ExperimentFacts): Claim {
  return {
    key: 'work gain',
    says: `${experiment.replicas ?? 'More'} replicas do no more work than before.`,
    predicted: { low: 0.9, high: 1.1, unit: 'times' },
    measure: workGain,
    refutes: 'More work done by more replicas.',
    bearing: 'supporting',
  };
}

function largerOneHelps(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const workers = workersOf(evidence, experiment.target);
  const capacity = capacityOf(evidence, experiment.target);
  const offered = evidence.baseline.offered?.value;
  const now = evidence.baseline.throughput.value;
  const then =
    workers === undefined || capacity === undefined || offered === undefined || experiment.workers === undefined
      ? undefined
      : Math.min(offered, (capacity.value * experiment.workers) / workers);
  return {
    key: 'throughput',
    says:
      then === undefined
        ? 'A larger first replica answers more.'
        : `With ${experiment.workers ?? 0} workers instead of ${workers ?? 0} it answers ${say(then, 'requests/s')} instead of ${say(now, 'requests/s')}.`,
    predicted: { low: then === undefined ? 1.05 * now : Math.max(now, 0.93 * then), unit: 'requests/s' },
    measure: throughput,
    refutes: 'No gain from a larger first replica.',
    bearing: 'supporting',
  };
}

function spread(evidence: Evidence, how: string, whole: number | undefined, offered: number | undefined): Claim[] {
  const equal = 1 / evidence.ids.length;
  const then = whole === undefined || offered === undefined ? undefined : Math.min(whole, offered);
  return [
    {
      key: 'largest share',
      says: `${how} every replica gets about ${percent(equal)}.`,
      predicted: { high: 1.3 * equal, unit: 'share' },
      measure: largestShare,
      refutes: 'Requests that still meet at one replica.',
      bearing: 'necessary',
    },
    {
      key: 'throughput gain',
      says:
        then === undefined
          ? `${how} more is answered.`
          : `${how} all that is asked is answered: ${say(then, 'requests/s')}.`,
      predicted: { low: then === undefined ? 1.03 : 0.93 * (then / evidence.baseline.throughput.value), unit: 'times' },
      measure: throughputGain,
      refutes: 'No gain from spreading.',
      bearing: 'supporting',
    },
  ];
}

function verdict(evidence: Evidence): Finding {
  const { baseline, ids } = evidence;
  const hot = favourite(evidence) ?? 'one replica';
  const own = replicaOf(baseline, hot);
  const capacity = capacityOf(evidence, hot);
  const idle = othersOf(baseline, hot);
  const group = soleChooser(evidence);
  const offered = baseline.offered?.value;
  const failed = baseline.failedShare ?? 0;
  const asked =
    capacity === undefined || offered === undefined
      ? ''
      : ` It can do ${say(capacity.value, 'requests/s')} and is asked ${say(offered, 'requests/s')}`;
  const wrong = failed > 0.0005 ? `; ${percent(failed)} of the requests fail` : '';
  const load = asked === '' ? wrong : `.${asked}${wrong}`;
  const arithmetic = [
    `requests to ${hot}: ${percent(own?.share ?? 0)}; to the other ${numeral(idle.length)}: ${percent(sum(idle.map((one) => one.share)))}`,
  ];
  const workers = workersOf(evidence, hot);
  if (capacity !== undefined && workers !== undefined) {
    arithmetic.push(
      `capacity of ${hot}: ${workers} workers ÷ ${say(workers / capacity.value, 's')} = ${say(capacity.value, 'requests/s')}; measured ${say(baseline.throughput.value, 'requests/s')} answered`,
    );
    if (offered !== undefined && offered > capacity.value) {
      arithmetic.push(
        `it cannot serve at least 1 − ${say(capacity.value, 'requests/s')} ÷ ${say(offered, 'requests/s')} = ${percent(1 - capacity.value / offered)}; measured ${percent(failed)} failed (some are served, but after their timeout)`,
      );
    }
  }
  return {
    culprit: group === undefined ? hot : `${group}, always asking ${hot}`,
    sentence: `${group === undefined ? 'Every client' : `Every client of ${group}`} asks ${hot} and nobody else${load}, while ${listed(idle.map((one) => one.id))} ${idle.length === 1 ? 'idles' : 'idle'}.`,
    arithmetic,
    fix: `${pickFirst.fix} ${ids.length} replicas used evenly would carry ${ids.length} times as much.`,
  };
}

/** The client group that chooses so, when the record knows its groups apart. */
function soleChooser(evidence: Evidence): string | undefined {
  const facts = (evidence.topology?.clients ?? []).filter((client) => client.via === 'registry');
  return facts.length === 1 ? facts[0]?.group : undefined;
}
