// One replica takes longer for the same work, and nothing about its share explains it.

import { meanOf } from '../../../stats.ts';
import { digits } from '../../wording.ts';
import type { Fleet, Member } from '../fleet.ts';
import { slownessLuck } from '../slow-luck.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, type View } from '../view.ts';
import { greatestOf, leastOf } from '../view-rows.ts';

export const slowReplica: DossierTheory = {
  slug: 'slow-replica',
  title: 'Slow replica: one takes longer for the same requests, with no more of them than the others',
  mechanism:
    'Replicas are alike on purpose. One that takes longer for the same work with the same share has something of its own: its ' +
    'host, its version, its configuration, its cache. Others that stand out only because they get more are no such case.',
  refutedBy: 'A replica that is slow only because it has more requests, or a difference that chance makes.',
  provedBy:
    'Longer times on one replica with no more than its share, beyond chance after allowing for having looked at all of them.',
  lookAlikes: ['connection-pinning', 'zone-imbalance', 'cold-start', 'convoy'],
  fix: 'Take that replica out and look at what it does not share with the others: host, version, limits, cache. Least-request spares it meanwhile.',
  decidedBy: 'request times by replica over the same stretch, and what that replica does not share with the others',
  explains: [],

  examine(view) {
    const found = slowest(view);
    if (found === undefined) return undefined;
    const { fleet, slow, usual, times, share, luck } = found;
    const lastly = lastTimes(view, slow.id);
    return {
      claims: [
        claim('One takes much longer than the others.', {
          bearing: 'necessary',
          predicted: 'at least 1.5 times the median of the others',
          refutes: 'equal times',
          seen: {
            text: `${slow.id} ${digits((slow.meanSeconds ?? 0) * 1000)} ms, the others ${digits(usual * 1000)} ms`,
            holds: times >= 1.5,
            origins: fleet.origins,
          },
        }),
        claim('It has no more requests than the others.', {
          bearing: 'necessary',
          predicted: 'at most 1.3 times its share',
          refutes: 'a replica that is slow because it has more',
          seen: share === undefined ? undefined : { text: `${digits(share)} times its share`, holds: share <= 1.3 },
          missing: 'requests by replica',
        }),
        claim('It is slow throughout: what passes is another thing.', {
          bearing: 'necessary',
          predicted: 'at least 1.3 times the others in the last third of its time too',
          refutes: 'times that have become those of the others',
          seen: lastly === undefined ? undefined : { text: `${digits(lastly)} times at the end`, holds: lastly >= 1.3 },
          missing: 'single request times by replica',
        }),
        claim('The others are alike.', {
          bearing: 'necessary',
          predicted: 'within a factor of 1.5',
          refutes: 'times that differ everywhere',
          seen: {
            text: `${digits(found.othersLeast * 1000)} to ${digits(found.othersMost * 1000)} ms`,
            holds: found.othersMost <= 1.5 * found.othersLeast,
          },
        }),
        claim('Chance would not do it.', {
          bearing: 'sufficient',
          predicted: 'less than 1 % after looking at every replica',
          refutes: 'a difference that chance makes',
          seen:
            luck === undefined
              ? undefined
              : {
                  text: luck < 0.001 ? 'less than 0.1 %' : `${digits(luck * 100)} %`,
                  holds: luck < 0.01 && times >= 1.5,
                },
          missing: 'single request times by replica',
        }),
        claim('It stands out by far, over many requests.', {
          bearing: 'sufficient',
          predicted:
            'at least 2 times the others, among at least three, over 1,000 requests; over 250 where it is 3 times',
          refutes: 'a small difference',
          seen:
            luck !== undefined || share === undefined
              ? undefined
              : {
                  text: `${digits(times)} times over ${digits(slow.requests ?? 0)} requests`,
                  holds: times >= 2 && isFar(times, slow.requests ?? 0) && fleet.members.length >= 3 && share <= 1.3,
                },
          missing: 'requests by replica',
        }),
      ],
      culprit: slow.id,
      sentence: `${slow.id} takes ${digits(times)} times as long as the others for the same requests, with no more than its share of them.`,
      arithmetic: fleet.members
        .slice(0, 8)
        .map(
          (member) =>
            `${member.id}: ${member.meanSeconds === undefined ? '?' : digits(member.meanSeconds * 1000)} ms${member.requests === undefined ? '' : ` over ${digits(member.requests)} requests`}`,
        ),
    };
  },
};

/** Means alone do not tell how times vary, nor which requests waited for each other in one jam: n · (times − 1)² of a thousand are
 * three standard errors where a time deviates by ten means. */
function isFar(times: number, requests: number): boolean {
  return requests * (times - 1) ** 2 >= 1000;
}

interface Slowest {
  readonly fleet: Fleet;
  readonly slow: Member;
  readonly usual: number;
  readonly times: number;
  readonly share: number | undefined;
  /** Undefined without single times. */
  readonly luck: number | undefined;
  readonly othersLeast: number;
  readonly othersMost: number;
}

/** Enough requests for a mean to say something. */
const requestsMin = 20;

function slowest(view: View): Slowest | undefined {
  const all = view.fleets.flatMap((fleet): Slowest[] => {
    const known = fleet.members.filter(
      ({ meanSeconds, requests }) =>
        meanSeconds !== undefined && meanSeconds > 0 && (requests ?? requestsMin) >= requestsMin,
    );
    const slow = known.toSorted((one, other) => (other.meanSeconds ?? 0) - (one.meanSeconds ?? 0))[0];
    if (known.length < 2 || slow === undefined) return [];
    const others = known.filter((one) => one !== slow).flatMap(({ meanSeconds }) => meanSeconds ?? []);
    const usual = medianOf(others) ?? 0;
    const counted = fleet.members.every(({ requests }) => requests !== undefined);
    const total = fleet.members.reduce((sum, { requests = 0 }) => sum + requests, 0);
    return [
      {
        fleet,
        slow,
        usual,
        times: usual > 0 ? (slow.meanSeconds ?? 0) / usual : 1,
        share: counted && total > 0 ? ((slow.requests ?? 0) / total) * fleet.members.length : undefined,
        luck:
          fleet.by === 'replica'
            ? slownessLuck(
                view,
                fleet.members.map(({ id }) => id),
                slow.id,
              )
            : undefined,
        othersLeast: Math.min(...others),
        othersMost: Math.max(...others),
      },
    ];
  });
  // Single times tell more than means.
  return all.toSorted((one, other) => Number(other.luck !== undefined) - Number(one.luck !== undefined))[0];
}

/** A mean so many times that of the others cannot come of times as they usually vary. */
const stallTimes = 3;

/** Its times ÷ those of the others in the last third of the log: the middle ones, or the means of one that stalls now and then (a
 * collector, a neighbour) and is quick in between. */
function lastTimes(view: View, slow: string): number | undefined {
  const table = view.tables.find(({ replicas }) => replicas.includes(slow));
  if (table === undefined) return undefined;
  const [first, last] = [leastOf(table.startMs), greatestOf(table.startMs)];
  const from = last - (last - first) / 3;
  const own: number[] = [];
  const others: number[] = [];
  const step = Math.max(1, Math.floor(table.count / 20_000));
  for (let row = 0; row < table.count; row += step) {
    if ((table.startMs[row] ?? Number.NaN) < from) continue;
    const seconds = table.seconds[row] ?? Number.NaN;
    const id = table.replicas[table.replica[row] ?? -1];
    if (id !== undefined && !Number.isNaN(seconds)) (id === slow ? own : others).push(seconds);
  }
  if (own.length < 5 || others.length < 5) return undefined;
  const middle = (medianOf(own) ?? 0) / (medianOf(others) ?? 0);
  const mean = (meanOf(own) ?? 0) / (meanOf(others) ?? 0);
  return !Number.isFinite(middle) ? undefined : mean >= stallTimes ? Math.max(middle, mean) : middle;
}
