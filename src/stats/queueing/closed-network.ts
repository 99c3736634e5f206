// So many users, each either thinking or with one request at one of several stations, chosen at random: the exact steady state
// of a closed loop over a fleet (a product-form network: Gordon and Newell, Operations Research 15, 1967). With one station it
// is the machine-repair model.
//
//            ┌──► station 1 (c₁ servers) ──┐       weight of a state (n₀ thinking, n₁, n₂, …):
//   think ───┼──► station 2 (c₂ servers) ──┼──┐
//     ▲      └──► …                       ─┘  │    Z^n₀/n₀! · Π fᵢ(nᵢ),   fᵢ(n) = Dᵢⁿ / Π min(j, cᵢ), j = 1 … n
//     └───────────────────────────────────────┘
//
// The sum over all states is Buzen's convolution (Comm. ACM 16, 1973), station by station. It is taken in logarithms with
// positive terms only, because the usual recursions for many servers come out negative near saturation. From n = c on, fᵢ is
// geometric, so a station costs users × servers steps and not users².
//
// Strict rotation instead of random choice is not of this form. It has the same throughput in the limit and an even larger pile
// at the slowest station, for its arrivals elsewhere are more regular.

import { assert } from '../../base.ts';
import { logAdd, logSum, sharesOf } from './log-sums.ts';

export interface ClosedNetwork {
  readonly users: number;
  /** Mean time between an answer and the next request. */
  readonly think: number;
  readonly stations: readonly Station[];
}

export interface Station {
  /** Time a request spends being served here, times the share of requests that come here. */
  readonly demand: number;
  readonly servers: number;
}

export interface ClosedNetworkResult {
  readonly throughput: number;
  /** Of one request, over all the stations that it visits. */
  readonly responseTime: number;
  readonly stations: readonly StationResult[];
}

export interface StationResult {
  readonly inFlight: number;
  readonly utilisation: number;
}

/** Exponential service; think times may be of any distribution with that mean. */
export function closedNetwork({ users, think, stations }: ClosedNetwork): ClosedNetworkResult {
  assert(Number.isInteger(users) && users >= 1, 'there is at least one user');
  assert(stations.length > 0, 'there is at least one station');
  const thinking = thinkWeights(users, think);
  const all = stations.reduce(convolve, thinking);
  const throughput = Math.exp((all[users - 1] ?? 0) - (all[users] ?? 0));
  // Stations of one kind are alike, so one of each kind is worked out.
  const inFlightOf = new Map<string, number>();
  const kindOf = ({ demand, servers }: Station): string => `${demand} ${servers}`;
  stations.forEach((station, place) => {
    if (inFlightOf.has(kindOf(station))) return;
    const others = stations.filter((_, index) => index !== place).reduce(convolve, thinking);
    inFlightOf.set(kindOf(station), meanAt(station, others, users));
  });
  return {
    throughput,
    responseTime: users / throughput - think,
    stations: stations.map((station) => ({
      inFlight: inFlightOf.get(kindOf(station)) ?? 0,
      utilisation: (throughput * station.demand) / station.servers,
    })),
  };
}

/** ln(Zⁿ/n!), n = 0 … users. */
function thinkWeights(users: number, think: number): readonly number[] {
  const logs = [0];
  for (let n = 1; n <= users; n++) logs.push((logs[n - 1] ?? 0) + Math.log(think / n));
  return logs;
}

/** ln f(n), n = 0 … count. */
function stationWeights({ demand, servers }: Station, count: number): readonly number[] {
  const logs = [0];
  for (let n = 1; n <= count; n++) logs.push((logs[n - 1] ?? 0) + Math.log(demand / Math.min(n, servers)));
  return logs;
}

/**
 * Weights of a system with one station more. The sum Σ f(k)·before(n − k) falls into its first c terms and a tail in which f is
 * geometric, so that each tail is the one before it, times D/c, and one term more.
 */
function convolve(before: readonly number[], station: Station): readonly number[] {
  const users = before.length - 1;
  const { servers } = station;
  const weights = stationWeights(station, Math.min(servers, users));
  const ratio = Math.log(station.demand / servers);
  let tail = -Infinity;
  return before.map((_, n) => {
    const terms = weights.slice(0, Math.min(servers, n + 1)).map((weight, k) => weight + (before[n - k] ?? -Infinity));
    if (n < servers) return logSum(terms);
    tail = logAdd(tail + ratio, (weights[servers] ?? -Infinity) + (before[n - servers] ?? -Infinity));
    return logAdd(logSum(terms), tail);
  });
}

/** Mean number at a station, given the weights of all the others together. */
function meanAt(station: Station, others: readonly number[], users: number): number {
  const weights = stationWeights(station, users);
  const shares = sharesOf(weights.map((weight, n) => weight + (others[users - n] ?? -Infinity)));
  return shares.reduce((mean, share, n) => mean + n * share, 0);
}
