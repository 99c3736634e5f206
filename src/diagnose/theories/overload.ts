// Overload: the whole fleet is asked for more than it can do, and everybody is equally full.
//
//   X = Σ cᵢ ;   open: λ ≥ Σ cᵢ, the rest waits or is refused ;   closed: N beyond the knee, so a queue always stands
//
// More replicas help in proportion, a smarter balancer hardly: nobody is idle. Above the knee a closed loop over equal
// replicas also shows a pile at one of them, which wanders; that is chance, not a culprit.

import type { ExperimentFacts } from '../../record.ts';
import { capacityOf, type Evidence, kneeMargin, kneeOf, utilisationOf, wholeCapacity } from '../evidence.ts';
import {
  demandRatio,
  failedShare,
  growth,
  kneeRatio,
  leastFailedShare,
  leastGrowth,
  leastUtilisation,
  missing,
  newcomersShare,
  stretch,
  throughput,
  throughputGain,
} from '../measures.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { digits, listed, numeral, percent, say, wholePercent } from '../wording.ts';

export const overload: Theory = {
  slug: 'overload',
  pattern: 'overload',
  title: 'Overload: more is asked than the whole fleet can do',
  mechanism:
    'Requests arrive faster than all workers together can serve them, or more users wait for answers than there are workers. ' +
    'Every replica is full, latency is mostly waiting, and the surplus queues, times out or is refused. No replica is to blame.',
  lookAlikes: ['convoy', 'pick-first', 'generator-saturated'],
  predict: (evidence) => [
    allAreBusy,
    moreThanCapacity(evidence),
    requestsWait,
    atCapacity(evidence),
    ...everybodyIsFull(evidence),
  ],
  foresee,
  refutedBy: 'A replica with idle workers: then capacity is not what is missing.',
  provedBy: 'Every worker pool busy, and demand beyond what all of them can do.',
  fix:
    'Add capacity or take away demand: replicas, workers, faster work; or limit admission so that what is accepted is ' +
    'answered in time. A different balancer will not help.',
  experiments: ['scale-out', 'less-load'],
  verdict,
};

const allAreBusy: Claim = {
  key: 'least utilisation',
  says: 'Every replica is full: even the least busy has 90 % of its workers at work.',
  predicted: { low: 0.9, unit: 'share' },
  measure: leastUtilisation,
  refutes: 'A replica with idle workers while others queue.',
  bearing: 'necessary',
};

const requestsWait: Claim = {
  key: 'stretch',
  says: 'Requests wait longer than they are worked on: latency is at least 1.5 times the worker time.',
  predicted: { low: 1.5, unit: 'times' },
  measure: stretch,
  refutes: 'Latency that is nearly all work.',
  bearing: 'necessary',
};

function moreThanCapacity(evidence: Evidence): Claim {
  if (evidence.loop.model === 'closed') {
    return {
      key: 'users ÷ knee',
      says: `More users are in the loop than the workers can hold: at least ${kneeMargin} times the knee.`,
      predicted: { low: kneeMargin, unit: 'times' },
      measure: kneeRatio,
      refutes: 'Fewer users than the knee.',
      bearing: 'necessary',
    };
  }
  const whole = wholeCapacity(evidence);
  return {
    key: 'demand ÷ capacity',
    says: `More is asked than ${whole === undefined ? 'the fleet can do' : `${say(whole.value, 'requests/s')}, all that ${numeral(evidence.ids.length)} replicas can do`}.`,
    predicted: whole === undefined ? { missing: missing.capacity } : { low: 0.95, unit: 'times' },
    measure: demandRatio(whole?.value),
    refutes: 'Demand well below capacity.',
    bearing: 'necessary',
  };
}

function atCapacity(evidence: Evidence): Claim {
  const whole = wholeCapacity(evidence);
  return {
    key: 'throughput',
    says:
      whole === undefined
        ? 'The fleet does all it can.'
        : `The fleet does all it can: ${say(whole.value, 'requests/s')}.`,
    predicted:
      whole === undefined
        ? { missing: missing.capacity }
        : { low: 0.9 * whole.value, high: 1.05 * whole.value, unit: 'requests/s' },
    measure: throughput,
    refutes: 'Less than the workers can do: something else holds them back.',
    bearing: 'supporting',
  };
}

/** Where workers are unknown, refusals and timeouts at every single replica say the same, and so do queues that grow at all. */
function everybodyIsFull(evidence: Evidence): Claim[] {
  const known = evidence.ids.every((id) => utilisationOf(evidence, evidence.baseline, id) !== undefined);
  const shared = { refutes: 'A replica that is spared.', bearing: 'sufficient' } as const;
  if (known) {
    return [
      {
        key: 'least utilisation, clearly',
        says: 'All worker pools are full, beyond the error of the measurement.',
        predicted: { low: 0.9, unit: 'share' },
        measure: leastUtilisation,
        ...shared,
      },
    ];
  }
  return [
    {
      key: 'least failed',
      says: 'Requests are refused or time out at every replica alike.',
      predicted: { low: 0.01, unit: 'share' },
      measure: leastFailedShare,
      ...shared,
    },
    {
      key: 'least growth',
      says: 'The queue grows at every replica alike, by half of its size or more, while no more is answered.',
      predicted: { low: 0.5, unit: 'share' },
      measure: leastGrowth,
      ...shared,
    },
  ];
}

function foresee(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
  switch (experiment.kind) {
    case 'scale-out':
      return [newcomersShareTheLoad(evidence, experiment), moreIsDone(evidence, experiment)];
    case 'less-load':
      return lessFails(evidence, experiment);
    case 'swap-policy':
    case 'random-choice':
    case 'through-forwarder':
      return [policyIsNothing];
    case 'stop-replica':
    case 'open-loop':
    case 'slow-another':
    case 'kill-suspect':
    case 'scale-up':
    case 'visit-alone':
      return [];
  }
}

const policyIsNothing: Claim = {
  key: 'throughput gain',
  says: 'When all are full, another way of choosing changes next to nothing: at most 6 % more.',
  predicted: { low: 0.94, high: 1.06, unit: 'times' },
  measure: throughputGain,
  refutes: 'A clear gain: workers had been idle.',
  bearing: 'necessary',
};

function newcomersShareTheLoad(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const count = experiment.replicas ?? evidence.ids.length + 1;
  const fair = 1 - evidence.ids.length / count;
  return {
    key: 'share of newcomers',
    says: `New replicas are used: they take about ${percent(fair)}.`,
    predicted: { low: 0.6 * fair, unit: 'share' },
    measure: newcomersShare,
    refutes: 'New replicas that nobody asks: capacity was not the trouble.',
    bearing: 'necessary',
  };
}

function moreIsDone(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const count = experiment.replicas ?? evidence.ids.length + 1;
  const now = evidence.baseline.throughput.value;
  const offered = evidence.loop.model === 'closed' ? undefined : evidence.baseline.offered?.value;
  const most = (now * count) / evidence.ids.length;
  const then = offered === undefined ? most : Math.min(most, offered);
  return {
    key: 'throughput gain',
    says: `With ${count} replicas more is answered: ${say(then, 'requests/s')} instead of ${say(now, 'requests/s')}.`,
    predicted: { low: 1 + 0.4 * (then / now - 1), unit: 'times' },
    measure: throughputGain,
    refutes: 'No gain from more replicas.',
    bearing: 'necessary',
  };
}

function lessFails(evidence: Evidence, experiment: ExperimentFacts): Claim[] {
  const factor = experiment.factor ?? 0.5;
  const whole = wholeCapacity(evidence)?.value;
  const offered = evidence.baseline.offered?.value;
  const enough = whole === undefined || offered === undefined || offered * factor < 0.85 * whole;
  if (!enough || evidence.loop.model === 'closed') return [];
  return [
    {
      key: 'failed',
      says: `At ${wholePercent(factor)} of the demand everything is answered.`,
      predicted: { high: 0.01, unit: 'share' },
      measure: failedShare,
      refutes: 'Failures that stay when the load is gone.',
      bearing: 'supporting',
    },
    {
      key: 'growth',
      says: 'Nothing piles up any more.',
      predicted: { high: 0.5, unit: 'share' },
      measure: growth,
      refutes: 'Queues that grow at a fraction of the load.',
      bearing: 'supporting',
    },
  ];
}

function verdict(evidence: Evidence): Finding {
  const { baseline, ids, loop } = evidence;
  const whole = wholeCapacity(evidence);
  const offered = baseline.offered?.value;
  const used = ids.flatMap((id) => utilisationOf(evidence, baseline, id)?.value ?? []);
  const failed = baseline.failedShare ?? 0;
  const capacities = ids.flatMap((id) => capacityOf(evidence, id)?.value ?? []);
  const arithmetic: string[] = [];
  if (whole !== undefined) {
    arithmetic.push(
      `capacity: ${capacities.map((one) => digits(one)).join(' + ')} = ${say(whole.value, 'requests/s')}; measured ${say(baseline.throughput.value, 'requests/s')} answered`,
    );
  }
  const full =
    used.length === 0 ? '' : `, all ${numeral(ids.length)} replicas are ${wholePercent(sum(used) / used.length)} busy`;
  if (loop.model === 'closed') {
    const knee = kneeOf(evidence);
    if (knee !== undefined)
      arithmetic.push(`the knee: ${digits(knee)} users would keep it busy; there are ${loop.users ?? 0}`);
    return {
      sentence: `${loop.users ?? 'The'} users in a closed loop ask for more than the fleet can do${full}, and no replica is to blame: a pile at one of them wanders.`,
      arithmetic,
      fix: `${overload.fix} In a test, fewer users or open-loop arrivals at a stated rate say more than a loop that is always full.`,
    };
  }
  if (whole !== undefined && offered !== undefined) {
    arithmetic.push(
      `what cannot be done: 1 − ${say(whole.value, 'requests/s')} ÷ ${say(offered, 'requests/s')} = ${percent(Math.max(0, 1 - whole.value / offered))}; measured ${percent(failed)} failed`,
    );
  }
  const asked =
    whole === undefined || offered === undefined
      ? 'More is asked than the fleet can do'
      : `${say(offered, 'requests/s')} are asked of a fleet that can do ${say(whole.value, 'requests/s')}`;
  const effect = failed >= 0.001 ? `${percent(failed)} of the requests fail` : 'the queues grow';
  return {
    sentence: `${asked}${full}, and ${effect}; it hits ${listed(ids)} alike.`,
    arithmetic,
    fix: overload.fix,
  };
}
