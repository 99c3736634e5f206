// One server and any service time (M/G/1): the wait depends on how much the service time varies, and on nothing else about it.
// scv is its squared coefficient of variation: 0 for a constant, 1 for an exponential, 4 or 16 where a few requests are
// monsters, and then all wait behind them.
//
// For a constant service time (M/D/1) the whole distribution of the wait is known. Its textbook form is an alternating sum that
// needs a hundred digits; here are two sums of positive terms instead: the numbers in the system by Ramaswami's recursion
// (Stochastic Models 4, 1988), and from them the wait by Franx (Operations Research Letters 29, 2001).

import { assert } from '../../base.ts';
import { gammaBelow } from '../gamma-function.ts';
import { whereTailFalls } from './tail.ts';

export interface OneServer {
  readonly arrivalRate: number;
  readonly serviceMean: number;
  /** Squared coefficient of variation of the service time. */
  readonly scv: number;
}

/**
 * Mean wait by Pollaczek and Khinchine: ρ/(1 − ρ) · (1 + scv)/2 · E(S). Undefined when the server cannot keep up. Divide scv by
 * nothing: it is already squared.
 */
export function meanWait({ arrivalRate, serviceMean, scv }: OneServer): number | undefined {
  const utilisation = arrivalRate * serviceMean;
  if (utilisation >= 1) return undefined;
  return (utilisation / (1 - utilisation)) * ((1 + scv) / 2) * serviceMean;
}

/**
 * The time, waiting and served, that a share p of requests stays below, when every service takes exactly `service`. Undefined
 * when the server cannot keep up.
 */
export function constantServiceQuantile(arrivalRate: number, service: number, p: number): number | undefined {
  const utilisation = arrivalRate * service;
  if (utilisation >= 1) return undefined;
  const wait = new ConstantServiceWait(utilisation);
  // In units of the service time. A share 1 − ρ does not wait at all, so the quantile of the wait may be 0.
  const above = (t: number): number => 1 - wait.atMost(t);
  const waited = above(0) <= 1 - p ? 0 : whereTailFalls(above, 1 - p, 1);
  return (waited + 1) * service;
}

class ConstantServiceWait {
  readonly #load: number;
  /** P(n in the system), grown as far as anybody has asked. */
  readonly #present: number[];
  /** P(at most n waiting): one of those present is being served. */
  readonly #waiting: number[] = [];

  constructor(load: number) {
    assert(load > 0 && load < 1, 'the server keeps up');
    this.#load = load;
    this.#present = [1 - load];
  }

  /** P(wait ≤ t), t in service times. */
  atMost(t: number): number {
    if (t < 0) return 0;
    const whole = Math.floor(t) + 1;
    const rest = this.#load * (whole - t);
    let poisson = Math.exp(-rest);
    let sum = 0;
    for (let arrivals = 0; arrivals < whole; arrivals++) {
      sum += this.#atMostWaiting(whole - 1 - arrivals) * poisson;
      poisson *= rest / (arrivals + 1);
    }
    return Math.min(1, sum);
  }

  #atMostWaiting(count: number): number {
    for (let n = this.#waiting.length; n <= count; n++) {
      const before = n === 0 ? this.#presentOf(0) : (this.#waiting[n - 1] ?? 0);
      this.#waiting.push(before + this.#presentOf(n + 1));
    }
    return this.#waiting[count] ?? 1;
  }

  #presentOf(count: number): number {
    for (let n = this.#present.length; n <= count; n++) {
      let flow = (this.#present[0] ?? 0) * this.#arrivingAtLeast(n);
      for (let j = 1; j < n; j++) flow += (this.#present[j] ?? 0) * this.#arrivingAtLeast(n + 1 - j);
      this.#present.push(flow / (1 - this.#arrivingAtLeast(1)));
    }
    return this.#present[count] ?? 0;
  }

  /** P(at least n arrive during one service): Poisson. */
  #arrivingAtLeast(n: number): number {
    return gammaBelow(n, this.#load);
  }
}
