// M/M/c: arrivals that know nothing of each other, exponential service, c servers, one queue, nobody leaves. M/M/1 is the case
// c = 1. It flatters: real arrivals come in bursts, and real service has a heavier tail. As a floor for what to expect of a
// fleet with a perfect balancer, it is exact.
//
// Times are in one unit of your choice and rates are per that unit.

import { assert } from '../../base.ts';
import { whereTailFalls } from './tail.ts';

export interface ManyServers {
  readonly arrivalRate: number;
  /** Of one server. */
  readonly serviceRate: number;
  readonly servers: number;
}

export interface SteadyQueue {
  readonly utilisation: number;
  /** Erlang C: the probability that an arrival has to wait. */
  readonly waitProbability: number;
  readonly waitMean: number;
  /** Waiting and being served. */
  readonly timeMean: number;
  readonly inSystemMean: number;
  /** P(wait > t). */
  waitAbove(t: number): number;
  /** P(waiting and service together > t). */
  timeAbove(t: number): number;
  /** The time that a share p of all requests stays below. */
  timeQuantile(p: number): number;
}

/**
 * Erlang B: the share of arrivals lost by so many servers without a queue, when `load` servers' worth of work is offered. By
 * the recurrence B(k) = aB(k−1)/(k + aB(k−1)), which neither overflows nor cancels, whatever the numbers. It holds for any
 * distribution of the service time.
 */
export function erlangB(servers: number, load: number): number {
  assert(Number.isInteger(servers) && servers >= 0, 'there is a whole number of servers');
  let lost = 1;
  for (let server = 1; server <= servers; server++) lost = (load * lost) / (server + load * lost);
  return lost;
}

/** Erlang C: the share of arrivals that wait, C = B/(1 − ρ(1 − B)). Needs load < servers. */
export function erlangC(servers: number, load: number): number {
  assert(load < servers, 'less work is offered than the servers can do');
  const lost = erlangB(servers, load);
  return lost / (1 - (load / servers) * (1 - lost));
}

/** Undefined when as much or more is offered than can be served: then there is no steady state, the queue grows for ever. */
export function manyServers({ arrivalRate, serviceRate, servers }: ManyServers): SteadyQueue | undefined {
  const load = arrivalRate / serviceRate;
  if (load >= servers) return undefined;
  const waitProbability = erlangC(servers, load);
  const drain = servers * serviceRate - arrivalRate;
  const waitMean = waitProbability / drain;
  const timeMean = waitMean + 1 / serviceRate;
  const waitAbove = (t: number): number => (t < 0 ? 1 : waitProbability * Math.exp(-drain * t));
  const timeAbove = (t: number): number => {
    if (t <= 0) return 1;
    // The sum of the wait and the service, in the form with two exponentials; the textbook's overflows for many servers.
    const service = Math.exp(-serviceRate * t);
    const spare = servers - 1 - load;
    const overlap =
      Math.abs(spare) < 1e-9 ? serviceRate * t * service : (-service * Math.expm1(-spare * serviceRate * t)) / spare;
    return service + waitProbability * overlap;
  };
  return {
    utilisation: load / servers,
    waitProbability,
    waitMean,
    timeMean,
    inSystemMean: arrivalRate * timeMean,
    waitAbove,
    timeAbove,
    timeQuantile: (p) => whereTailFalls(timeAbove, 1 - p, timeMean),
  };
}
