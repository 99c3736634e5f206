// How long the first connections of a run live. They are all opened within a moment, and would all be closed within another, again
// and again: a herd that no fleet has whose connections were opened over hours. So each begins somewhere in its life.
//
//   user 1 of 4   ├─┤────────┤────────┤        the first connection has a part of the usual life,
//   user 2 of 4   ├────┤────────┤──────        each later one all of it
//   user 3 of 4   ├──────┤────────┤────

import { ns } from '../base.ts';
import type { KeepAlive } from './model.ts';

/** What the first connection of a user has, who is at `place` (from 0) among so many. */
export function firstKeepAlive({ requests, lifetime }: KeepAlive, place: number, users: number): KeepAlive {
  const part = (place + 1) / users;
  return {
    requests: requests === undefined ? undefined : Math.ceil(requests * part),
    lifetime: lifetime === undefined ? undefined : ns(Math.ceil(lifetime * part)),
  };
}
