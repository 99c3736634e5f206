// Calls from a replica to another service while one of its workers waits: with a timeout or without one, within what the caller
// has left where it says so (a deadline that is passed on ends the work with the wish for it), with retries, after a wait and
// out of a budget where there is one, each to a target that the call's own choice names. Keep-alive connections, as many as
// calls are out.

import { Agent, type ClientRequest, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { between, type Dice, dice, type Instant, ns, unreachable } from '../../base.ts';
import { type RetryPolicy, retryPolicyOf } from '../../policy.ts';
import { clock } from './alarm.ts';
import type { CallConfiguration, TargetConfiguration } from './replica-configuration.ts';

export type CallOutcome = 'answered' | 'failed' | 'timed-out';

export class Caller {
  readonly to: string;
  readonly #call: CallConfiguration;
  readonly #dice: Dice;
  readonly #retry: RetryPolicy;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });
  #targets: readonly TargetConfiguration[];
  #turn = 0;

  /** Draws its choices and its waits from streams whose names begin with `stream`. */
  constructor(call: CallConfiguration, seed: number, stream: string) {
    this.to = call.to;
    this.#call = call;
    this.#dice = dice(seed, stream);
    const { retries, back_off_ns: wait, budget } = call;
    const settings = { retries, budget, ...(wait === undefined ? {} : { backOff: ns(wait) }) };
    this.#retry = retryPolicyOf(settings, dice(seed, `${stream}/retries`));
    this.#targets = call.targets;
  }

  setTargets(targets: readonly TargetConfiguration[]): void {
    this.#targets = targets;
  }

  /** Calls until one try is answered or none is left. Ends with the outcome of the last. `deadline`: when whoever asked will
   * no longer wait; undefined: nobody has said. */
  async call(deadline: Instant | undefined): Promise<CallOutcome> {
    const { retries, budget, wait } = this.#retry;
    budget?.deposit(clock());
    for (let tries = 1; ; tries++) {
      const left = deadline === undefined ? Infinity : between(clock(), deadline);
      if (left <= 0) return 'timed-out';
      const outcome = await this.#try(this.#choose(), left);
      if (outcome === 'answered' || tries > retries || budget?.withdraw(clock()) === false) return outcome;
      const length = wait(tries);
      if (length > 0) await pause(length / 1e6);
    }
  }

  #choose(): TargetConfiguration | undefined {
    const count = this.#targets.length;
    if (count === 0) return undefined;
    switch (this.#call.choice) {
      case 'pick-first':
        return this.#targets[0];
      case 'random':
        return this.#targets[this.#dice.below(count)];
      case 'round-robin':
        this.#turn += 1;
        return this.#targets[this.#turn % count];
      default:
        return unreachable(this.#call.choice, 'a choice that nobody makes');
    }
  }

  #try(target: TargetConfiguration | undefined, left: number): Promise<CallOutcome> {
    if (target === undefined) return Promise.resolve('failed');
    return new Promise((resolve) => {
      const request: ClientRequest = get(
        { host: target.host, port: target.port, path: '/', agent: this.#agent },
        (response) => {
          response.resume();
          response.on('end', () => settle((response.statusCode ?? 500) < 500 ? 'answered' : 'failed'));
          response.on('error', () => settle('failed'));
        },
      );
      request.on('error', () => settle('failed'));
      const patience = Math.min(this.#call.timeout_ns ?? Infinity, left);
      const giveUp = (): void => {
        settle('timed-out');
        request.destroy();
      };
      const timer = patience === Infinity ? undefined : setTimeout(giveUp, patience / 1e6);
      function settle(outcome: CallOutcome): void {
        clearTimeout(timer);
        resolve(outcome);
      }
    });
  }
}
