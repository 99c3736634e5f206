// Calls from a replica to another service while one of its workers waits: with a timeout or without one, within what the caller
// has left where it says so (a deadline that is passed on ends the work with the wish for it), with retries, each
// to a target that the call's own choice names. Keep-alive connections, as many as calls are out.

import { Agent, type ClientRequest, get } from 'node:http';
import { between, type Dice, type Instant, unreachable } from '../../base.ts';
import { clock } from './alarm.ts';
import type { CallConfiguration, TargetConfiguration } from './replica-configuration.ts';

export type CallOutcome = 'answered' | 'failed' | 'timed-out';

export class Caller {
  readonly to: string;
  readonly #call: CallConfiguration;
  readonly #dice: Dice;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });
  #targets: readonly TargetConfiguration[];
  #turn = 0;

  constructor(call: CallConfiguration, dice: Dice) {
    this.to = call.to;
    this.#call = call;
    this.#dice = dice;
    this.#targets = call.targets;
  }

  setTargets(targets: readonly TargetConfiguration[]): void {
    this.#targets = targets;
  }

  /** Calls until one try is answered or none is left. Ends with the outcome of the last. `deadline`: when whoever asked will
   * no longer wait; undefined: nobody has said. */
  async call(deadline: Instant | undefined): Promise<CallOutcome> {
    let outcome: CallOutcome = 'failed';
    for (let tries = 0; tries <= this.#call.retries; tries++) {
      const left = deadline === undefined ? Infinity : between(clock(), deadline);
      if (left <= 0) return 'timed-out';
      outcome = await this.#try(this.#choose(), left);
      if (outcome === 'answered') return outcome;
    }
    return outcome;
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
