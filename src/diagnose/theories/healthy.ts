// Healthy: the fleet does what it is asked, and what it is asked leaves room.
//
// The theory that most systems deserve most of the time. It has to be earned by the same means as any other: little waiting,
// no failures, no growth, no replica at its limit. A difference between replicas that hurts nobody is a remark, not a verdict.

import { type Evidence, kneeMargin, kneeOf, slownessFor, utilisationOf } from '../evidence.ts';
import {
  failedShare,
  growth,
  kneeRatio,
  largestShare,
  missing,
  mostUtilisation,
  stretch,
  unrest,
} from '../measures.ts';
import { criticalZ } from '../slowness.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { digits, percent, say, wholePercent } from '../wording.ts';

const stretchMax = 2.5;

export const healthy: Theory = {
  slug: 'healthy',
  pattern: 'healthy',
  title: 'Healthy: the fleet does what it is asked, with room to spare',
  mechanism:
    'Workers wait for requests more than requests for workers. Latency is mostly work, nothing fails, nothing grows. Replicas ' +
    'may differ a little, and one always looks worst; below the knee that is of no consequence.',
  lookAlikes: ['overload', 'convoy'],
  predict: (evidence) => [
    nothingFails,
    littleWaiting,
    nothingGrows,
    isRoomy(evidence),
    clearRoom(evidence),
    nobodyIsFavoured(evidence),
  ],
  foresee: () => [],
  refutedBy: 'Failures, growing queues, a replica at its limit, or latency that is mostly waiting.',
  provedBy: 'No failures, little waiting, and no replica near its limit.',
  fix: 'Nothing to do.',
  experiments: [],
  verdict,
};

const nothingFails: Claim = {
  key: 'failed',
  says: 'Next to nothing fails: at most 0.5 % of the requests.',
  predicted: { high: 0.005, unit: 'share' },
  measure: failedShare,
  refutes: 'Failures or timeouts.',
  bearing: 'necessary',
};

const littleWaiting: Claim = {
  key: 'stretch',
  says: `Latency is mostly work: at most ${stretchMax} times the worker time.`,
  predicted: { high: stretchMax, unit: 'times' },
  measure: stretch,
  refutes: 'Latency that is mostly waiting.',
  bearing: 'necessary',
};

const nothingGrows: Claim = {
  key: 'growth',
  says: 'The number in flight grows with the answers a second at most, while we look.',
  predicted: { high: 0.6, unit: 'share' },
  measure: growth,
  refutes: 'A queue that grows: demand is beyond capacity somewhere.',
  bearing: 'necessary',
};

/** A closed loop cannot overrun a replica: with few users it may be busy all the time and yet hold nobody up for long. */
function isRoomy({ loop }: Evidence): Claim {
  return loop.model === 'closed'
    ? {
        key: 'users ÷ knee',
        says: `The users do not crowd: fewer than ${kneeMargin} times the knee.`,
        predicted: { high: kneeMargin, unit: 'times' },
        measure: kneeRatio,
        refutes: 'More users than the workers can hold.',
        bearing: 'necessary',
      }
    : {
        key: 'most utilisation',
        says: 'Even the busiest replica has idle workers: at most 95 % busy.',
        predicted: { high: 0.95, unit: 'share' },
        measure: mostUtilisation,
        refutes: 'A replica at its limit.',
        bearing: 'necessary',
      };
}

/** Where workers are unknown, that no second of any replica was much faster than the mean says that no queue moved about;
 * where the balancer may keep queues level and users wait, a queue need not move. */
function clearRoom(evidence: Evidence): Claim {
  const known = evidence.ids.every((id) => utilisationOf(evidence, evidence.baseline, id) !== undefined);
  const shared = { refutes: 'Too little room to be sure.', bearing: 'sufficient' } as const;
  if (!known) {
    const level = evidence.loop.model === 'closed' && evidence.choice.blind !== true;
    return {
      key: 'unrest',
      says: 'No second of any replica was much faster than the mean of all: no queue comes and goes.',
      predicted: level ? { missing: missing.capacity } : { high: 2, unit: 'times' },
      measure: unrest,
      ...shared,
    };
  }
  return evidence.loop.model === 'closed'
    ? {
        key: 'stretch, clearly',
        says: 'Latency is mostly work, beyond the error of the measurement.',
        predicted: { high: stretchMax, unit: 'times' },
        measure: stretch,
        ...shared,
      }
    : {
        key: 'most utilisation, clearly',
        says: 'There is room at every replica, beyond the error of the measurement.',
        predicted: { high: 0.96, unit: 'share' },
        measure: mostUtilisation,
        ...shared,
      };
}

/** A favourite with known room is a remark; one whose room nobody knows is a question. */
function nobodyIsFavoured(evidence: Evidence): Claim {
  const known = evidence.ids.every((id) => utilisationOf(evidence, evidence.baseline, id) !== undefined);
  return {
    key: 'largest share',
    says: 'No replica is handed more than twice its fair share, or it is known to have room.',
    predicted:
      known || evidence.ids.length < 2
        ? { high: 1, unit: 'share' }
        : { high: Math.min(1, 2 / evidence.ids.length), unit: 'share' },
    measure: largestShare,
    refutes: 'A favourite of which nobody knows how full it is.',
    bearing: 'necessary',
  };
}

function verdict(evidence: Evidence): Finding {
  const { baseline, ids } = evidence;
  const used = ids.flatMap((id) => {
    const one = utilisationOf(evidence, baseline, id);
    return one === undefined ? [] : [{ id, value: one.value }];
  });
  const busiest = used.toSorted((one, other) => other.value - one.value)[0];
  const latency = baseline.latency === undefined ? '' : ` in ${say(baseline.latency.value, 's')} on average`;
  const room =
    busiest === undefined ? '' : ` The busiest replica, ${busiest.id}, is ${wholePercent(busiest.value)} busy.`;
  const arithmetic = [
    `answered: ${say(baseline.throughput.value, 'requests/s')}${latency}; failed ${percent(baseline.failedShare ?? 0)}`,
  ];
  const knee = kneeOf(evidence);
  if (knee !== undefined && evidence.loop.users !== undefined) {
    arithmetic.push(`the knee: ${digits(knee)} users; there are ${evidence.loop.users}`);
  }
  return {
    sentence: `Nothing is wrong: ${say(baseline.throughput.value, 'requests/s')} are answered${latency}, next to nothing fails.${room}${remark(evidence)}`,
    arithmetic,
    fix: healthy.fix,
    ...(busiest === undefined ? { missing: `how much room is left: ${missing.workers}` } : {}),
  };
}

/** What is worth knowing although it hurts nobody now. */
function remark(evidence: Evidence): string {
  const slow = slownessFor(evidence, evidence.suspect);
  if (slow !== undefined && slow.z > criticalZ(evidence.ids.length) && slow.ratio.value > 1.03) {
    const knee = kneeOf(evidence);
    const above =
      evidence.loop.model === 'closed' && knee !== undefined
        ? `; above about ${digits(kneeMargin * knee)} users all would wait for it`
        : '';
    return ` Worth knowing: ${slow.id} is ${wholePercent(slow.ratio.value - 1)} slower than the others, which hurts nobody at this load${above}.`;
  }
  const favoured = evidence.baseline.replicas.toSorted((one, other) => other.share - one.share)[0];
  const fair = 1 / evidence.ids.length;
  if (evidence.ids.length > 1 && favoured !== undefined && favoured.share > 1.5 * fair) {
    return ` Worth knowing: ${favoured.id} gets ${percent(favoured.share)} of all requests; it has room for them now.`;
  }
  return '';
}
