// One plan, several drivers: which part is whose. Together the parts are the plan, to the request:
//
//   open     every n-th request of the one schedule, so that the union of all schedules is the schedule
//   closed   users dealt out like cards; each knows its number in the whole
//   held     connections dealt out alike; rates divided
//   caps     connections divided
//
//   one schedule   0  1  2  3  4  5  6  7  8        of 3 drivers, the first has  0  3  6
//                  ●  ○  ◦  ●  ○  ◦  ●  ○  ◦

import { dice } from '../base.ts';
import { type Dial, type Pacer, type PacedDemand, pacerOf } from '../scenario.ts';
import { streamsOf } from './capacity.ts';
import type { HeldGroup, LoadGroup, LoadPlan } from './contract.ts';

/** The `index`-th (from 0) of `of` equal parts. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const whole: Share = { index: 0, of: 1 };

/** How many of `count` things, dealt out in turn, are this share's. */
export const dealt = (count: number, { index, of }: Share): number => Math.floor((count + of - 1 - index) / of);

/** Each demand of a plan draws from streams of its own, by its place in the plan: two at the same rate do not arrive together. */
export const demandSeed = (seed: number, place: number): number => dice(seed, `demand/${place}`).below(2 ** 31);

/** `seed` is the demand's. */
export function sharedPacer(demand: PacedDemand, seed: number, share: Share): Pacer {
  const pacer = pacerOf(demand, seed);
  if (share.of === 1) return pacer;
  return { due: (index) => pacer.due(index * share.of + share.index) };
}

/** The plan of one driver among several. Groups in which it has nothing to do keep their place. */
export function shareOf(plan: LoadPlan, share: Share): LoadPlan {
  if (share.of === 1) return plan;
  return {
    ...plan,
    groups: plan.groups.map((group) => groupShare(group, share)),
    ...(plan.held === undefined ? {} : { held: plan.held.map((group) => heldShare(group, share)) }),
  };
}

function groupShare(group: LoadGroup, share: Share): LoadGroup {
  const { demand, connectionsMax, connectionsMin } = group;
  return {
    ...group,
    demand: demand.kind === 'closed' ? { ...demand, users: usersShare(group, demand.users, share) } : demand,
    ...(connectionsMax === undefined ? {} : { connectionsMax: Math.max(1, dealt(connectionsMax, share)) }),
    ...(connectionsMin === undefined ? {} : { connectionsMin: dealt(connectionsMin, share) }),
  };
}

/** Users who share a connection of HTTP/2 stay together. */
function usersShare(group: LoadGroup, users: number, share: Share): number {
  const streams = streamsOf(group);
  return users % streams === 0 ? streams * dealt(users / streams, share) : dealt(users, share);
}

function heldShare(group: HeldGroup, share: Share): HeldGroup {
  const { newPerSecond, rampPerSecond = 2_000 } = group;
  return {
    ...group,
    held: turned(group.held, (value) => dealt(value, share)),
    rampPerSecond: rampPerSecond / share.of,
    ...(newPerSecond === undefined ? {} : { newPerSecond: turned(newPerSecond, (value) => value / share.of) }),
  };
}

const turned = (dial: Dial, turn: (value: number) => number): Dial => ({
  from: turn(dial.from),
  ...(dial.stages === undefined ? {} : { stages: dial.stages.map(({ over, to }) => ({ over, to: turn(to) })) }),
});
