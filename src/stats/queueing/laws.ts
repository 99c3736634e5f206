// The laws that hold for any system, whatever its distributions, and the bounds that follow from them alone. Times are in one
// unit of your choice and rates are per that unit.
//
//   Little        in flight = throughput · time              what is there = how fast it comes · how long it stays
//   utilisation   busy = throughput · service ÷ servers
//   response      time = users ÷ throughput − think          a closed system: everybody is either waiting or thinking

import { assert } from '../../base.ts';

/** L = X·W (Little, Operations Research 9, 1961). */
export const littleInFlight = (throughput: number, time: number): number => throughput * time;

/** U = X·S/c: the share of the time that each of so many servers works. */
export const utilisation = (throughput: number, service: number, servers: number): number =>
  (throughput * service) / servers;

/** R = N/X − Z: the time an answer takes, from counts alone. */
export const responseTime = (users: number, throughput: number, think: number): number => users / throughput - think;

export interface ClosedSystem {
  readonly users: number;
  readonly think: number;
  /** For each station: the time that a request spends being served there, divided by the number of its servers. */
  readonly demands: readonly number[];
  /** Service time of one request over all stations. */
  readonly service: number;
}

export interface Asymptotes {
  /** X is at most min(N/(S + Z), 1/D_max). */
  readonly throughputMax: number;
  /** R is at least max(S, N·D_max − Z). */
  readonly responseMin: number;
  /** N* = (S + Z)/D_max: from about here on, more users wait instead of being served. */
  readonly knee: number;
}

/** What a closed system can reach at best (Denning and Buzen, Computing Surveys 10, 1978). */
export function asymptotes({ users, think, demands, service }: ClosedSystem): Asymptotes {
  assert(demands.length > 0 && service > 0, 'a system serves somewhere');
  const bottleneck = Math.max(...demands);
  return {
    throughputMax: Math.min(users / (service + think), 1 / bottleneck),
    responseMin: Math.max(service, users * bottleneck - think),
    knee: (service + think) / bottleneck,
  };
}

/**
 * What a strict rotation can pass on: each replica gets every R-th request, so all go at the pace of the slowest,
 * X ≤ R · min(capacity). A policy that looks at the load can reach the sum of the capacities instead.
 */
export function rotationBound(capacities: readonly number[]): number {
  assert(capacities.length > 0, 'a rotation goes over at least one replica');
  return capacities.length * Math.min(...capacities);
}
