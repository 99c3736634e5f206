// A worker pool with a queue that has an end (M/M/c/K), and with clients who give up while they wait (Erlang A, when the server
// then drops their request). The number present goes up and down by one, so its probabilities follow from balance:
//
//   p(n)·λ = p(n + 1)·(min(n + 1, c)·μ + max(n + 1 − c, 0)·θ)          n < K
//
// Taken in logarithms: in a pool of a thousand the terms span more than a floating-point number can.

import { assert } from '../../base.ts';
import { sharesOf } from './log-sums.ts';

export interface FiniteQueue {
  readonly arrivalRate: number;
  /** Of one server. */
  readonly serviceRate: number;
  readonly servers: number;
  /** Most that may be present, waiting and being served. The next is turned away. */
  readonly capacity: number;
  /** At which rate each of those who wait gives up. Default 0: nobody does. */
  readonly abandonRate?: number;
}

export interface FiniteQueueResult {
  /** Share of arrivals turned away. */
  readonly blocked: number;
  /** Share of arrivals that were let in and gave up. */
  readonly abandoned: number;
  /** Served in a unit of time. */
  readonly throughput: number;
  readonly inSystemMean: number;
  readonly queueMean: number;
  /** Time in the system of those let in, whether served or not. */
  readonly timeMean: number;
}

export function finiteQueue({
  arrivalRate,
  serviceRate,
  servers,
  capacity,
  abandonRate = 0,
}: FiniteQueue): FiniteQueueResult {
  assert(arrivalRate > 0 && serviceRate > 0, 'something arrives and is served');
  assert(Number.isInteger(capacity) && capacity >= servers, 'there is room for one at each server');
  const logs = [0];
  for (let n = 1; n <= capacity; n++) {
    const leaving = Math.min(n, servers) * serviceRate + Math.max(n - servers, 0) * abandonRate;
    logs.push((logs[n - 1] ?? 0) + Math.log(arrivalRate / leaving));
  }
  const shares = sharesOf(logs);
  let inSystemMean = 0;
  let queueMean = 0;
  shares.forEach((share, n) => {
    inSystemMean += n * share;
    queueMean += Math.max(n - servers, 0) * share;
  });
  const blocked = shares[capacity] ?? 0;
  return {
    blocked,
    abandoned: (queueMean * abandonRate) / arrivalRate,
    throughput: serviceRate * (inSystemMean - queueMean),
    inSystemMean,
    queueMean,
    timeMean: inSystemMean / (arrivalRate * (1 - blocked)),
  };
}
