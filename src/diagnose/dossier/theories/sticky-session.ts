// The balancer ties each client to a replica, so the load is as uneven as the clients are.

import { digits, percent } from '../../wording.ts';
import { ties } from '../ties.ts';
import { claim, type DossierTheory } from '../theory.ts';

export const stickySession: DossierTheory = {
  slug: 'sticky-session',
  title: 'Sticky sessions: the load is as uneven as the clients that are tied to the replicas',
  mechanism:
    'A cookie or the client’s address decides the replica. A few heavy clients (a proxy with many users behind it, a bot) make ' +
    'their replica hot, and a new replica gets new sessions only, so scaling out helps slowly.',
  refutedBy: 'A client that is served by several replicas.',
  provedBy: 'Each client on one replica throughout, different clients on different ones, and a setting that ties them.',
  lookAlikes: ['hot-key', 'connection-pinning', 'pick-first', 'slow-replica'],
  fix: 'Keep sessions in a store and balance every request, or bound how long a client is tied; count heavy clients apart.',
  decidedBy: 'a log with client and replica, and whether the balancer ties clients',
  explains: ['slow-replica', 'pool-order-skew'],

  examine(view) {
    const sticky = view.setting('balance.sticky', ({ value }) => value !== 'none' && value !== false);
    const policy = view.setting('balance.policy', ({ value }) => value === 'cookie');
    const tied = ties(view, 'client');
    const setting = sticky ?? policy;
    if (tied === undefined || (setting === undefined && tied.faithful < 0.95)) return undefined;
    const { spread } = tied;
    return {
      claims: [
        claim('Replicas are unequally busy.', {
          bearing: 'necessary',
          predicted: 'at least 1.3 times its share for the busiest, by more than chance',
          refutes: 'an even spread',
          seen: {
            text: `${spread.hot.id}: ${percent(spread.share)}, ${digits(spread.times)} times its share`,
            holds: spread.times >= 1.3 && spread.luck < 0.01,
            origins: spread.fleet.origins,
          },
        }),
        claim('A client stays with one replica.', {
          bearing: 'necessary',
          predicted: 'at least 95 % of the clients that ask often: 5 times or more, or twice where few do',
          refutes: 'clients that are served by several replicas',
          seen: {
            text: `${percent(tied.faithful)} of ${tied.counted}`,
            holds: tied.faithful >= 0.95 && tied.counted >= 3,
          },
        }),
        claim('Different clients have different replicas.', {
          bearing: 'necessary',
          predicted: 'at least two replicas',
          refutes: 'one replica for all clients',
          seen: { text: `${tied.used} replicas`, holds: tied.used >= 2 },
        }),
        claim('A setting ties them.', {
          bearing: 'sufficient',
          predicted: 'a cookie, or the client’s address',
          refutes: 'a balancer that ties nobody',
          seen:
            setting === undefined
              ? undefined
              : {
                  text: `${setting.program} ${setting.scope}: ${setting.value}`,
                  holds: true,
                  origins: [setting.origin],
                },
          missing: 'whether the balancer ties clients to replicas',
        }),
        claim('The hot replica is that of the heaviest client.', {
          bearing: 'supporting',
          predicted: 'the heaviest client is on it',
          refutes: 'a heavy client elsewhere',
          seen: {
            text: `${tied.topKey} (${percent(tied.topShare)} of all) on ${tied.topReplica}`,
            holds: tied.topReplica === spread.hot.id,
          },
        }),
      ],
      culprit:
        setting === undefined
          ? `the balancer, which ties clients to replicas`
          : `${setting.program} ${setting.scope}: sticky by ${setting.value}`,
      sentence: `${spread.hot.id} is hot because its clients are: each client stays with one replica, and ${tied.topKey} alone makes ${percent(tied.topShare)} of all requests.`,
      arithmetic: [
        `${tied.topKey}: ${percent(tied.topShare)} of all; the rest evenly over ${spread.members.length}: ${percent(tied.topShare + (1 - tied.topShare) / spread.members.length)} expected on ${tied.topReplica}, seen ${percent(tied.topReplicaShare)}`,
      ],
    };
  },
};
