// Connections are balanced once, when they are made; what each of them carries stays where it is.
//
//   placed by dice, n connections over R replicas: the fullest has about n/R + √(2·(n/R)·ln R)
//   a replica that was started later has none until somebody connects anew
//
// What tells it from a balancer with favourites is that the shares never change, and belong to the connections.

import { counted } from '../course.ts';
import { type Evidence, replicaOf } from '../evidence.ts';
import { mostUtilisation, shareSpread } from '../measures.ts';
import { tickOf } from '../phase-evidence.ts';
import { sum } from '../quantity.ts';
import type { Claim, Finding, Theory } from '../theory.ts';
import { percent, say } from '../wording.ts';

const needed = 'whether clients keep their connections, and each the replica it was made to, from the settings';

export const connectionPinning: Theory = {
  slug: 'connection-pinning',
  pattern: 'connection-pinning',
  title: 'Connection pinning: connections are placed once, and requests follow them',
  mechanism:
    'A balancer on layer 4, or a client that connects once, chooses for each connection and never again. Few connections are never ' +
    'spread evenly, replicas without one are idle, and those that were started later stay idle until somebody connects anew.',
  lookAlikes: ['skewed-balancer', 'pick-first', 'slow-replica'],
  predict: (evidence) =>
    pinnedGroups(evidence).length === 0 ? [cannotTell] : [uneven, always(evidence), fullestIsBusy, fullestIsFull],
  foresee: () => [],
  refutedBy: 'Requests that are spread evenly, or shares that move about.',
  provedBy:
    'Kept connections, shares that stay what they are, and a replica that has hardly any beside one that has too many.',
  fix:
    'Balance requests instead of connections (layer 7, or a client with the whole list), or let connections end after a while (a ' +
    'maximum age) so that they are placed anew.',
  experiments: ['random-choice', 'scale-out'],
  verdict,
};

function pinnedGroups({ topology }: Evidence): readonly string[] {
  return (topology?.clients ?? []).filter(({ pinned }) => pinned === true).map(({ group }) => group);
}

const cannotTell: Claim = {
  key: 'pinned',
  says: 'Each connection keeps its replica.',
  predicted: { missing: needed },
  measure: () => ({ missing: needed }),
  refutes: 'Each request is balanced anew.',
  bearing: 'necessary',
};

const uneven: Claim = {
  key: 'share spread',
  says: 'The requests are spread unevenly: some replica is off its fair share by a fifth or more.',
  predicted: { low: 0.2, unit: 'share' },
  measure: shareSpread,
  refutes: 'Requests that are spread evenly.',
  bearing: 'necessary',
};

function always(evidence: Evidence): Claim {
  return {
    key: 'shares, first half against second',
    says: 'The shares stay what they are: from the first half to the second none moves by more than a twelfth of everything.',
    predicted: { high: 1 / 12, unit: 'share' },
    measure: () => {
      const { ticks } = evidence.baseline;
      const half = Math.floor(ticks.length / 2);
      if (half < 2) return { missing: 'four seconds or more' };
      const shares = [ticks.slice(0, half), ticks.slice(half)].map((part) => {
        const handed = evidence.ids.map((id) => sum(part.map((tick) => tickOf(tick, id)?.finished ?? 0)));
        return handed.map((count) => count / Math.max(1, sum(handed)));
      });
      return counted(
        Math.max(...evidence.ids.map((_, index) => Math.abs((shares[0]?.[index] ?? 0) - (shares[1]?.[index] ?? 0)))),
      );
    },
    refutes: 'Shares that move about: then nothing is pinned.',
    bearing: 'necessary',
  };
}

const fullestIsBusy: Claim = {
  key: 'most utilisation',
  says: 'The fullest replica has hardly any room left: its workers are busy four fifths of the time or more.',
  predicted: { low: 0.8, unit: 'share' },
  measure: mostUtilisation,
  refutes: 'Room everywhere: then an uneven spread hurts nobody.',
  bearing: 'necessary',
};

/** Time inside, the longest ÷ the shortest; a replica that gets nothing at all is the extreme of it. */
const fullestIsFull: Claim = {
  key: 'idle beside crowded',
  says: 'Somebody pays: requests take a fifth longer at the fullest replica than at the emptiest, or one gets nothing at all.',
  predicted: { low: 1.2, unit: 'times' },
  measure: (_, phase) => {
    const idle = phase.replicas.filter((replica) => replica.share < 0.25 / phase.replicas.length);
    if (idle.length > 0)
      return { value: 10, low: 10, high: 10, text: `${idle[0]?.id ?? 'one'} gets ${percent(idle[0]?.share ?? 0)}` };
    const times = phase.replicas.flatMap((replica) => replica.residence?.value ?? []);
    return times.length < phase.replicas.length
      ? { missing: 'time inside each replica' }
      : counted(Math.max(...times) / Math.min(...times));
  },
  refutes: 'Requests that take about as long everywhere.',
  bearing: 'sufficient',
};

function verdict(evidence: Evidence): Finding {
  const { baseline } = evidence;
  const sorted = baseline.replicas.toSorted((one, other) => other.share - one.share);
  const most = sorted[0];
  const least = sorted.at(-1);
  const time = (id: string | undefined): string => {
    const value = replicaOf(baseline, id)?.residence?.value;
    return value === undefined ? '' : `, ${say(value, 's')} each`;
  };
  return {
    ...(most === undefined ? {} : { culprit: most.id }),
    sentence: `Connections keep their replica (${pinnedGroups(evidence).join(', ')}): ${most?.id ?? ''} has ${percent(most?.share ?? 0)} of the requests all the time, ${least?.id ?? ''} ${percent(least?.share ?? 0)}; a fair share is ${percent(1 / evidence.ids.length)}.`,
    arithmetic: sorted.map(
      (replica) =>
        `${replica.id}: ${say(replica.rate.value, 'requests/s')}, ${percent(replica.share)}${time(replica.id)}`,
    ),
    fix: connectionPinning.fix,
  };
}
