// Sticky sessions, hashing, weights, pinned connections: whatever deals requests unevenly also heaps load, and is the first
// thing people suspect of one hot replica. It is also the easiest to refute: if a replica holds 70 % of what is in flight
// because it gets more requests, then it gets 70 % of the requests.

import type { ExperimentFacts } from '../../record.ts';
import { type Evidence, othersOf, replicaOf } from '../evidence.ts';
import { heldBy, lopsidedness, missing, paceWhileStopped, shareOf, shareSpread } from '../measures.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { numeral, percent, wholePercent } from '../wording.ts';

export const skewedBalancer: Theory = {
  slug: 'skewed-balancer',
  pattern: 'undecided',
  title: 'Skewed balancer: sticky sessions, hashing, weights or pinned connections',
  mechanism:
    'Requests are dealt by something other than turns or load: a session cookie, a hash of a key, an unequal weight, a ' +
    'connection that is kept. The replica that is dealt more holds more, takes longer and may be full while others idle.',
  lookAlikes: ['convoy', 'pick-first', 'slow-replica'],
  predict: (evidence) => [unequal, lopsided, inProportion(evidence)],
  foresee,
  refutedBy: 'Equal shares of the requests.',
  provedBy: 'Shares of the requests that match the shares of what is in flight, by client, key or connection.',
  fix: 'Find what the balancer deals by: cookies, hash keys, weights, connections kept; then balance by request.',
  experiments: ['stop-replica', 'swap-policy'],
  verdict,
};

const unequal: Claim = {
  key: 'spread of requests',
  says: 'Replicas get clearly unequal numbers of requests: at least one differs by 10 % from an equal share.',
  predicted: { low: 0.1, unit: 'share' },
  measure: shareSpread,
  refutes: 'Equal shares.',
  bearing: 'necessary',
};

const lopsided: Claim = {
  key: 'lopsidedness',
  says: 'It shows: the fullest replica holds at least half as much again as its fair share.',
  predicted: { low: 1.5, unit: 'times' },
  measure: lopsidedness,
  refutes: 'Level replicas: whatever deals the requests, it deals them as they can be served.',
  bearing: 'necessary',
};

function inProportion(evidence: Evidence): Claim {
  const hot = evidence.hottest;
  const held = replicaOf(evidence.baseline, hot)?.held?.value;
  const fair = 1 / evidence.ids.length;
  const claimed = held === undefined ? undefined : fair + 0.6 * (held - fair);
  return {
    key: `share of ${hot ?? 'the hottest'}`,
    says:
      held === undefined
        ? 'The replica that holds most is handed most.'
        : `${hot ?? 'It'} holds ${percent(held)} of what is in flight because it is handed about as much of the requests.`,
    predicted: claimed === undefined ? { missing: missing.inFlight } : { low: claimed, high: 1, unit: 'share' },
    measure: shareOf(hot),
    refutes: 'A fair share of requests at the replica that holds most.',
    bearing: 'necessary',
  };
}

function foresee(evidence: Evidence, experiment: ExperimentFacts): readonly Claim[] {
  switch (experiment.kind) {
    case 'stop-replica':
      return [othersGoOn(evidence, experiment)];
    case 'swap-policy':
      return [pileStays(evidence)];
    case 'open-loop':
    case 'slow-another':
    case 'kill-suspect':
    case 'scale-out':
    case 'scale-up':
    case 'random-choice':
    case 'through-forwarder':
    case 'less-load':
    case 'visit-alone':
      return [];
  }
}

function othersGoOn(evidence: Evidence, experiment: ExperimentFacts): Claim {
  const own = replicaOf(evidence.baseline, experiment.target)?.share ?? 0;
  const others = othersOf(evidence.baseline, experiment.target).length;
  return {
    key: `pace while ${experiment.target ?? 'one'} is stopped`,
    says: `Only what sticks to ${experiment.target ?? 'it'} (${wholePercent(own)}) stalls: the other ${numeral(others)} go on.`,
    predicted: { low: 0.6, unit: 'share' },
    measure: paceWhileStopped,
    refutes: 'Others that stop with it: their requests do not stick to them.',
    bearing: 'necessary',
  };
}

/** A cookie, a key or a kept connection goes before the policy. */
function pileStays(evidence: Evidence): Claim {
  const hot = evidence.suspect;
  const held = replicaOf(evidence.baseline, hot)?.held?.value;
  return {
    key: `held by ${hot ?? 'the hot one'}`,
    says: `What sticks to ${hot ?? 'it'} sticks under any policy: it goes on holding most.`,
    predicted: held === undefined ? { missing: missing.inFlight } : { low: 0.7 * held, unit: 'share' },
    measure: heldBy(hot),
    refutes: 'A pile that goes with the policy.',
    bearing: 'supporting',
  };
}

function verdict(evidence: Evidence): Finding {
  const shares = evidence.baseline.replicas.map((replica) => `${replica.id} ${percent(replica.share)}`);
  return {
    sentence: `Requests are dealt unevenly (${shares.join(', ')}), and the load follows; by what they are dealt the record does not say.`,
    arithmetic: shares,
    fix: skewedBalancer.fix,
    missing:
      'requests by client (or session, or connection) and replica: one replica per client is pick-first, one per key is hashing or a cookie',
  };
}
