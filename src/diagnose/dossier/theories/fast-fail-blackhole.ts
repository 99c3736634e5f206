// A replica that fails at once looks idle, so a balancer that asks for the least loaded sends it everything.

import { digits, percent } from '../../wording.ts';
import type { Fleet, Member } from '../fleet.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const fastFailBlackhole: DossierTheory = {
  slug: 'fast-fail-blackhole',
  title: 'Fast-fail black hole: a replica that fails in no time looks least loaded and gets most',
  mechanism:
    'Least-request sends to whoever has least in flight. A replica that answers errors in milliseconds never has anything in ' +
    'flight, so it is always next. The worse it is, the more it gets, and the share of errors is far above one replica’s share.',
  refutedBy: 'Errors on all replicas, or a failing replica that is slow, or that has no more than its share.',
  provedBy: 'One replica with the most requests, nearly all of them failed, and the shortest time.',
  lookAlikes: ['the whole service fails', 'a faster replica', 'retry-storm', 'slow-replica'],
  fix:
    'Eject on errors in a row (outlier detection), count an error as load (peak EWMA with a penalty), and let the health check ' +
    'ask what the requests ask.',
  decidedBy: 'requests, errors and mean time by replica',
  explains: ['slow-replica', 'pick-first', 'sticky-session', 'hot-key', 'circuit-breaker-overflow'],

  examine(view) {
    const found = blackHoleIn(view);
    if (found === undefined) return undefined;
    const { fleet, bad, others, fair } = found;
    const policy = view.setting('balance.policy');
    const rate = errorsOf(bad);
    const otherRate =
      others.reduce((sum, one) => sum + (one.errors ?? 0), 0) /
      Math.max(
        1,
        others.reduce((sum, one) => sum + (one.requests ?? 0), 0),
      );
    const requests = bad.requests ?? 0;
    const total = requests + others.reduce((sum, one) => sum + (one.requests ?? 0), 0);
    const otherTimes = others.flatMap(({ meanSeconds }) => meanSeconds ?? []).toSorted((one, other) => one - other);
    const usual = otherTimes[Math.floor((otherTimes.length - 1) / 2)];
    const checked = view.setting('health.path');
    const failing = view.setting('outlier.enabled');
    return {
      claims: [
        claim('The errors are one replica’s.', {
          bearing: 'necessary',
          predicted: 'at least half of its requests, and at most a fifth of that share elsewhere',
          refutes: 'errors on all replicas',
          seen: {
            text: `${bad.id} ${percent(rate)}, the others ${percent(otherRate)}`,
            holds: rate >= 0.5 && otherRate <= rate / 5,
            origins: fleet.origins,
          },
        }),
        claim('It gets more than its share, not less.', {
          bearing: 'necessary',
          predicted: 'at least 1.3 times its share',
          refutes: 'a failing replica that is avoided',
          seen: {
            text: `${percent(requests / total)} of the requests, ${digits(requests / fair)} times its share`,
            holds: requests >= 1.3 * fair,
          },
        }),
        claim('It answers much faster than the others.', {
          bearing: 'necessary',
          predicted: 'at most half their time',
          refutes: 'a failing replica that is slow',
          seen:
            bad.meanSeconds === undefined || usual === undefined
              ? undefined
              : {
                  text: `${digits(bad.meanSeconds * 1000)} ms, the others ${digits(usual * 1000)} ms`,
                  holds: bad.meanSeconds <= usual / 2,
                },
          missing: 'the mean time by replica',
        }),
        claim('The most requests, the most errors and the shortest time are one replica’s.', {
          bearing: 'sufficient',
          predicted: 'all three at one replica',
          refutes: 'three different replicas',
          seen:
            bad.meanSeconds === undefined || usual === undefined
              ? undefined
              : {
                  text: `${bad.id}: ${digits(requests)} requests, ${percent(rate)} failed, ${digits(bad.meanSeconds * 1000)} ms`,
                  holds: requests >= 1.3 * fair && rate >= 0.5 && bad.meanSeconds <= usual / 2,
                },
          missing: 'the mean time by replica',
        }),
        claim('The balancer asks for the least loaded.', {
          bearing: 'supporting',
          predicted: 'least-request or its kin',
          refutes: 'a policy that does not look at load',
          seen:
            policy === undefined
              ? undefined
              : {
                  text: `${policy.scope}: ${policy.value}`,
                  holds: /least|two-choices|ewma/.test(String(policy.value)),
                  origins: [policy.origin],
                },
          missing: 'the balancing policy',
        }),
        claim('Nothing takes it out.', {
          bearing: 'supporting',
          predicted: 'a health check that passes, no ejection for errors',
          refutes: 'a replica that is out',
          seen:
            bad.healthy === undefined && failing === undefined && checked === undefined
              ? undefined
              : {
                  text: [
                    bad.healthy === undefined ? '' : bad.healthy ? 'marked healthy' : 'marked unhealthy',
                    checked === undefined ? '' : `checked at ${checked.value}`,
                    failing?.value === false ? 'no ejection' : '',
                  ]
                    .filter((one) => one !== '')
                    .join(', '),
                  holds: bad.healthy !== false,
                },
          missing: 'its health as the balancer sees it',
        }),
      ],
      culprit: `replica ${bad.id}`,
      sentence: `${bad.id} fails at once and therefore looks idle, so the balancer sends it ${percent(requests / total)} of the requests; a fair share would be ${percent(fair / total)}.`,
      arithmetic: [
        ...fleet.members
          .slice(0, 10)
          .map(
            (member) =>
              `${member.id}: ${digits(member.requests ?? 0)} requests, ${percent(errorsOf(member))} failed${member.meanSeconds === undefined ? '' : `, ${digits(member.meanSeconds * 1000)} ms`}`,
          ),
        `errors ${percent((bad.errors ?? 0) / total)} of all; balanced evenly they would be ${percent(rate / fleet.members.length)}`,
      ],
    };
  },
};

interface BlackHole {
  readonly fleet: Fleet;
  readonly bad: Member;
  readonly others: readonly Member[];
  readonly fair: number;
}

/** The replica with most errors of a fleet in which some replica fails. */
function blackHoleIn(view: View): BlackHole | undefined {
  return view.fleets.flatMap((fleet): BlackHole[] => {
    const known = fleet.members.filter(({ requests, errors }) => requests !== undefined && errors !== undefined);
    const total = known.reduce((sum, { requests = 0 }) => sum + requests, 0);
    const bad = known.toSorted((one, other) => (other.errors ?? 0) - (one.errors ?? 0))[0];
    if (known.length < 2 || total < 20 || bad === undefined || (bad.errors ?? 0) < 5) return [];
    return [{ fleet, bad, others: known.filter((one) => one !== bad), fair: total / known.length }];
  })[0];
}

function errorsOf({ errors = 0, requests = 0 }: Member): number {
  return requests > 0 ? Math.min(1, errors / requests) : 0;
}
