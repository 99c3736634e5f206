// Which endpoints may be picked at all: healthy, and with a weight. Worked out once for each fleet, so that a pick walks a
// flat list without asking why somebody is missing from it.

import type { Fleet } from './balancer.ts';

/** Indices of the endpoints that are fit, in the fleet's order. */
export function fitEndpoints(fleet: Fleet): readonly number[] {
  const fit: number[] = [];
  fleet.endpoints.forEach((endpoint, index) => {
    if (fleet.healthy[index] === true && endpoint.weight > 0) fit.push(index);
  });
  return fit;
}

/** How many of `fit` have not been tried yet. Runs only for a second attempt, so its cost does not matter. */
export function countUntried(fit: readonly number[], tried: readonly number[]): number {
  let count = 0;
  for (const endpoint of fit) if (!tried.includes(endpoint)) count += 1;
  return count;
}

/** The `rank`-th (from 0) of those in `fit` that have not been tried, or undefined when there are fewer. */
export function nthUntried(fit: readonly number[], tried: readonly number[], rank: number): number | undefined {
  let left = rank;
  for (const endpoint of fit) {
    if (tried.includes(endpoint)) continue;
    if (left === 0) return endpoint;
    left -= 1;
  }
  return undefined;
}
