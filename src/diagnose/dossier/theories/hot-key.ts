// Consistent hashing spreads keys, not requests: one key that everybody wants makes one replica hot.

import { digits, percent } from '../../wording.ts';
import { ties } from '../ties.ts';
import { claim, type DossierTheory } from '../theory.ts';

export const hotKey: DossierTheory = {
  slug: 'hot-key',
  title: 'Hot key: hashing sends every request for one popular key to one replica',
  mechanism:
    'Where a hash of the key decides the replica, the requests of a key cannot be shared. The replica of a key with share p ' +
    'carries p + (1 − p) ÷ R of everything.',
  refutedBy: 'A key that is served by several replicas, or a hot replica without a hot key.',
  provedBy: 'One replica for each key, and a share of the hot replica that p + (1 − p) ÷ R foretells.',
  lookAlikes: ['sticky-session', 'slow-replica', 'pick-first'],
  fix: 'Hash with bounded load, split or cache the hot key, or balance by load where affinity is not needed.',
  decidedBy: 'a log with key and replica, and the hash of the balancer',
  explains: ['slow-replica', 'pool-order-skew'],

  examine(view) {
    const policy = view.setting('balance.policy', ({ value }) => value === 'hash');
    const tied = ties(view, 'route');
    if (policy === undefined || tied === undefined) return undefined;
    const { spread } = tied;
    const expected = tied.topShare + (1 - tied.topShare) / spread.members.length;
    return {
      claims: [
        claim('The balancer hashes.', {
          bearing: 'necessary',
          predicted: 'a hash of the key',
          refutes: 'another policy',
          seen: { text: `${policy.scope}: ${policy.value}`, holds: true, origins: [policy.origin] },
        }),
        claim('Replicas are unequally busy.', {
          bearing: 'necessary',
          predicted: 'at least 1.3 times its share for the busiest, by more than chance',
          refutes: 'an even spread',
          seen: {
            text: `${spread.hot.id}: ${percent(spread.share)}`,
            holds: spread.times >= 1.3 && spread.luck < 0.01,
            origins: spread.fleet.origins,
          },
        }),
        claim('A key stays with one replica.', {
          bearing: 'necessary',
          predicted: 'at least 95 % of the keys asked often: 5 times or more, or twice where few are',
          refutes: 'keys that are served by several replicas',
          seen: {
            text: `${percent(tied.faithful)} of ${tied.counted}`,
            holds: tied.faithful >= 0.95 && tied.counted >= 3,
          },
        }),
        claim('The hot replica’s share is that of its hot key and its part of the rest.', {
          bearing: 'sufficient',
          predicted: `p + (1 − p) ÷ R = ${percent(expected)}, within 20 %`,
          refutes: 'another share',
          seen: {
            text: percent(tied.topReplicaShare),
            holds: tied.topReplica === spread.hot.id && Math.abs(tied.topReplicaShare / expected - 1) <= 0.2,
          },
        }),
      ],
      culprit: `${policy.program} ${policy.scope}: hash on a key of which ${tied.topKey} has ${percent(tied.topShare)}`,
      sentence: `${spread.hot.id} is hot because ${tied.topKey} is: ${percent(tied.topShare)} of all requests are for it, and a hash sends them all to one replica.`,
      arithmetic: [
        `${percent(tied.topShare)} + (1 − ${percent(tied.topShare)}) ÷ ${spread.members.length} = ${percent(expected)}; seen ${percent(tied.topReplicaShare)} (${digits(spread.most)} requests)`,
      ],
    };
  },
};
