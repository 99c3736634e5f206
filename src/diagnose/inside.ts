// How many a replica holds on average when it is asked for a given share of what it can do: textbook queueing for one pool of
// workers with one line in front of it.

import { manyServers } from '../stats.ts';

/** What M/M/K holds on average, `used` being the share of its capacity that is asked; `evenness` scales the queue in it for
 * arrivals that come more evenly than dice (Allen and Cunneen: half the sum of the squared variations of gaps and work). */
export function meanInside(workers: number, used: number, evenness = 1): number {
  const queue = manyServers({ arrivalRate: used * workers, serviceRate: 1, servers: workers });
  if (queue === undefined) return Number.POSITIVE_INFINITY;
  const working = used * workers;
  return working + evenness * (queue.inSystemMean - working);
}
