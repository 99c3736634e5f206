// The turn of a host that is out goes to its neighbour, on top of the neighbour's own.

import { digits, listed } from '../../wording.ts';
import type { Fleet, Member } from '../fleet.ts';
import { rangeOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const rrNextHostDogpile: DossierTheory = {
  slug: 'rr-next-host-dogpile',
  title: 'Next-host dogpile: the host after one that is out gets its share as well',
  mechanism:
    'A round robin that meets an unhealthy host goes on to the next one. The turn of the host that is out is thus served by ' +
    'its neighbour in the list, each time, instead of being shared: with k hosts out in a row, the next one gets 1 + k shares.',
  refutedBy: 'A busy host that does not follow one that is out, or other multiples than the list says.',
  provedBy: 'Each host that is in gets one share, and one more for every host out directly before it, within 10 %.',
  lookAlikes: ['slow-replica', 'connection-pinning', 'zone-imbalance', 'hot-key'],
  fix: 'Move the cursor past hosts that are out, or choose among the healthy ones only; a random choice of two is immune.',
  decidedBy: 'requests by host in the order of the list, and which hosts were out',
  explains: ['slow-replica', 'connection-pinning', 'sticky-session'],

  examine(view) {
    const found = dogpileIn(view);
    if (found === undefined) return undefined;
    const { fleet, hot, shares, share } = found;
    const policy = view.setting('balance.policy');
    const before = fleet.members[mod(fleet.members.indexOf(hot) - 1, fleet.members.length)];
    return {
      claims: [
        claim('The policy is round robin.', {
          bearing: 'necessary',
          predicted: 'round-robin',
          refutes: 'a choice by load, by key or at random',
          seen:
            policy === undefined
              ? undefined
              : {
                  text: `${policy.scope}: ${policy.value}`,
                  holds: policy.value === 'round-robin',
                  origins: [policy.origin],
                },
          missing: 'the balancing policy',
        }),
        claim('The busy host comes directly after one that is out.', {
          bearing: 'necessary',
          predicted: 'the one before it in the list has nothing',
          refutes: 'a neighbour that is served',
          seen: {
            text: `${hot.id} after ${before?.id ?? '?'}, which ${(before?.requests ?? 0) === 0 ? 'has nothing' : `has ${digits(before?.requests ?? 0)}`}`,
            holds: before !== undefined && isOut(before, share),
            origins: fleet.origins,
          },
        }),
        claim('Every host has one share, and one more for each host out before it.', {
          bearing: 'sufficient',
          predicted: `${listed(shares.map(({ id, times }) => `${id} ${times}`))} shares, within 10 %`,
          refutes: 'other multiples',
          seen: {
            text: listed(shares.map(({ id, requests }) => `${id} ${(requests / share).toFixed(2)}`)),
            holds:
              shares.every(({ times, requests }) => Math.abs(requests / share - times) <= 0.1 * times) &&
              shares.length >= 3,
          },
        }),
        claim('That host is marked as out.', {
          bearing: 'supporting',
          predicted: 'unhealthy',
          refutes: 'a host that is healthy',
          seen:
            before?.healthy === undefined
              ? undefined
              : { text: `${before.id}: ${before.healthy ? 'healthy' : 'unhealthy'}`, holds: !before.healthy },
          missing: 'the health of the hosts',
        }),
      ],
      culprit: `the client’s round robin, which skips the unhealthy host ${before?.id ?? ''} and serves its turn from ${hot.id}`,
      sentence: `${hot.id} is as busy as ${digits((hot.requests ?? 0) / share)} others because it stands behind ${before?.id ?? 'a host'}, which is out: the round robin gives it that turn as well.`,
      arithmetic: fleet.members.map(
        (member) =>
          `${member.id}: ${digits(member.requests ?? 0)} requests = ${((member.requests ?? 0) / share).toFixed(2)} shares`,
      ),
    };
  },
};

interface Dogpile {
  readonly fleet: Fleet;
  readonly hot: Member;
  /** Requests of a host that serves its own turn only. */
  readonly share: number;
  readonly shares: readonly { readonly id: string; readonly times: number; readonly requests: number }[];
}

function dogpileIn(view: View): Dogpile | undefined {
  return view.fleets.flatMap((fleet) => dogpileOf(fleet) ?? [])[0];
}

function dogpileOf(fleet: Fleet): Dogpile | undefined {
  const { members } = fleet;
  const busy = members.filter(({ requests = 0 }) => requests > 0).map(({ requests = 0 }) => requests);
  if (members.length < 3 || busy.length < 2 || rangeOf(busy) === undefined) return undefined;
  const share = busy.toSorted((one, other) => one - other)[Math.floor((busy.length - 1) / 2)] ?? 1;
  const out = members.map((member) => isOut(member, share));
  if (!out.includes(true) || !out.includes(false)) return undefined;
  const shares = members.flatMap((member, place) =>
    out[place] === true ? [] : [{ id: member.id, times: 1 + outBefore(out, place), requests: member.requests ?? 0 }],
  );
  const most = Math.max(...busy);
  const hot = members.find(({ requests }) => requests === most);
  return hot === undefined || most < 1.5 * share ? undefined : { fleet, hot, share, shares };
}

function isOut(member: Member, share: number): boolean {
  return (member.requests ?? 0) < 0.02 * share || (member.healthy === false && (member.requests ?? 0) < 0.2 * share);
}

function outBefore(out: readonly boolean[], place: number): number {
  let count = 0;
  while (count < out.length && out[mod(place - 1 - count, out.length)] === true) count += 1;
  return count;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
