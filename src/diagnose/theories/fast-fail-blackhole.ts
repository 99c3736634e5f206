// A replica that fails in no time looks idle, and whoever balances by load sends it most.
//
//   share, closed and full    c_bad ÷ Σ c       0.87 where it fails in 1 ms and three others work 20 ms with 4 workers
//
// What gives it away is the unusual company of three extremes at one replica: most requests, most failures, least time.

import { counted } from '../course.ts';
import { type Evidence, othersOf, replicaOf } from '../evidence.ts';
import { blindness, missing, residenceRatio } from '../measures.ts';
import { type ReplicaEvidence, tickOf } from '../phase-evidence.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { percent, say } from '../wording.ts';

export const fastFailBlackhole: Theory = {
  slug: 'fast-fail-blackhole',
  pattern: 'fast-fail-blackhole',
  title: 'Fast-fail black hole: a replica that fails in no time looks least loaded and gets most',
  mechanism:
    'Least-request sends to whoever has least in flight. A replica that answers errors in a millisecond never has anything in ' +
    'flight, so it is always next. The others are relieved, latency looks splendid, and the share of errors is far above one ' +
    'replica’s share.',
  lookAlikes: ['skewed-balancer', 'slow-replica', 'pick-first'],
  predict: (evidence) => [
    itFails(evidence),
    othersDoNot(evidence),
    itIsQuick(evidence),
    looksAtLoad,
    itAttracts(evidence),
  ],
  foresee: () => [],
  refutedBy: 'Failures at all replicas alike, a replica that fails slowly, or one that gets no more than its share.',
  provedBy: 'One replica with most requests, most failures and least time, behind a balancer that looks at load.',
  fix:
    'Eject by failures (outlier detection), count an error as load, delay error answers a little, and let the health check fail when ' +
    'the replica cannot do its work.',
  experiments: ['swap-policy'],
  verdict,
};

/** Whoever fails most. Of those that fail alike, whoever gets most. */
function suspectOf({ baseline }: Evidence): ReplicaEvidence | undefined {
  return baseline.replicas.toSorted((one, other) => other.failedShare - one.failedShare || other.share - one.share)[0];
}

/** Of its requests, the share that it answered with an error or broke off; who waits in vain is not failed fast. */
function failedFast({ baseline }: Evidence, replica: ReplicaEvidence): number {
  const kinds = baseline.ticks.flatMap((tick) => Object.entries(tickOf(tick, replica.id)?.errors ?? {}));
  const all = sum(kinds.map(([, count]) => count));
  const late = sum(kinds.filter(([kind]) => kind === 'timeout').map(([, count]) => count));
  return all === 0 ? replica.failedShare : (replica.failedShare * (all - late)) / all;
}

function itFails(evidence: Evidence): Claim {
  const worst = suspectOf(evidence);
  return {
    key: `failed ${worst?.id ?? ''}`,
    says: `${worst?.id ?? 'One replica'} answers a third of its requests or more with an error.`,
    predicted: { low: 1 / 3, unit: 'share' },
    measure: () => (worst === undefined ? { missing: missing.clients } : counted(failedFast(evidence, worst))),
    refutes: 'Failures that are rare wherever one looks.',
    bearing: 'necessary',
  };
}

function othersDoNot(evidence: Evidence): Claim {
  const others = othersOf(evidence.baseline, suspectOf(evidence)?.id);
  return {
    key: 'failed elsewhere',
    says: 'The others hardly fail: in at most one of twenty requests.',
    predicted: { high: 0.05, unit: 'share' },
    measure: () =>
      others.length === 0
        ? { missing: 'a second replica' }
        : counted(Math.max(...others.map((one) => one.failedShare))),
    refutes: 'Failures at all alike.',
    bearing: 'necessary',
  };
}

function itIsQuick(evidence: Evidence): Claim {
  const worst = suspectOf(evidence);
  return {
    key: `time ratio of failing ${worst?.id ?? ''}`,
    says: 'It fails fast: a request is there at most half as long as elsewhere.',
    predicted: { high: 0.5, unit: 'times' },
    measure: (_, phase) => {
      const own = timeIn(worst);
      const others = othersOf(phase, worst?.id).flatMap((one) => timeIn(one) ?? []);
      if (own === undefined || others.length === 0) return residenceRatio(worst?.id)(evidence, phase);
      return counted(own / (sum(others) / others.length));
    },
    refutes: 'Requests that are there as long as elsewhere.',
    bearing: 'necessary',
  };
}

/** Seconds for each answer, failed ones included: what fails was inside as well. */
function timeIn(replica: ReplicaEvidence | undefined): number | undefined {
  if (replica?.inFlight === undefined || replica.rate.value === 0) return undefined;
  return replica.inFlight.value / replica.rate.value;
}

const looksAtLoad: Claim = {
  key: 'blind choice',
  says: 'The balancer looks at load.',
  predicted: { high: 0, unit: 'yes' },
  measure: blindness,
  refutes: 'Strict turns or plain dice: they give a failing replica no more than its share.',
  bearing: 'necessary',
};

function itAttracts(evidence: Evidence): Claim {
  const worst = suspectOf(evidence);
  const fair = 1 / evidence.ids.length;
  return {
    key: `attraction of ${worst?.id ?? ''}`,
    says: `It gets at least a quarter more than its fair share of ${percent(fair)}.`,
    predicted: { low: 1.25, unit: 'times' },
    measure: (_, phase) => {
      const share = replicaOf(phase, worst?.id)?.share;
      return share === undefined ? { missing: missing.clients } : { ...counted(share / fair), text: percent(share) };
    },
    refutes: 'No more than its share: then it merely fails.',
    bearing: 'sufficient',
  };
}

function verdict(evidence: Evidence): Finding {
  const worst = suspectOf(evidence);
  const id = worst?.id ?? 'one replica';
  const others = othersOf(evidence.baseline, id).flatMap((one) => timeIn(one) ?? []);
  const elsewhere = sum(others) / Math.max(1, others.length);
  const failed = evidence.baseline.failedShare ?? 0;
  return {
    culprit: id,
    sentence: `${id} fails ${percent(worst?.failedShare ?? 0)} of its requests, each within ${say(timeIn(worst) ?? 0, 's')}, so it always looks least busy and gets ${percent(worst?.share ?? 0)} of everything. ${percent(failed)} of all requests fail; under plain turns it would be ${percent((worst?.failedShare ?? 0) / evidence.ids.length)}.`,
    arithmetic: [
      `${percent(worst?.share ?? 0)} of the requests × ${percent(worst?.failedShare ?? 0)} failed = ${percent((worst?.share ?? 0) * (worst?.failedShare ?? 0))} of everything`,
      `time inside: ${say(timeIn(worst) ?? 0, 's')} at ${id}, ${say(elsewhere, 's')} elsewhere`,
    ],
    fix: fastFailBlackhole.fix,
  };
}
