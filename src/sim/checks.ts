// Active health checks: the gateway's own machine decides who is fit, the simulation asks and answers for it. A question is a
// job at the station, so it waits for a worker where the scenario says that it does, and in vain while the station stands
// still.

import { assert, dice, instantAt } from '../base.ts';
import { ActiveCheck } from '../policy.ts';
import type { HealthCheck } from '../scenario.ts';
import type { Gate } from './gate.ts';
import { type Jobs, purposes } from './jobs.ts';
import type { Station } from './station.ts';

export interface CheckDuties {
  readonly jobs: Jobs;
  readonly seed: number;
  readonly settings: HealthCheck;
  /** `ask` wants to be called for this check then. */
  scheduleQuestion(at: number, check: number): void;
  /** `expire` wants to be called for this check then. */
  scheduleExpiry(at: number, check: number): void;
  /** Brings a question to a station. */
  send(job: number, to: Station, now: number): void;
  abandon(job: number, now: number): void;
}

interface Check {
  readonly gate: Gate;
  readonly endpoint: number;
  readonly machine: ActiveCheck;
  /** The question that is being asked; −1 for none. */
  job: number;
  deadline: number;
}

export class Checks {
  readonly #duties: CheckDuties;
  readonly #checks: Check[] = [];

  constructor(duties: CheckDuties) {
    this.#duties = duties;
  }

  /** Checks a gate's endpoints from place `from` on. */
  watch(gate: Gate, from: number, now: number): void {
    for (let endpoint = from; endpoint < gate.stations.length; endpoint++) {
      const stream = dice(this.#duties.seed, `health/${gate.station(endpoint).id}`);
      const machine = new ActiveCheck(this.#duties.settings, stream, instantAt(now));
      this.#checks.push({ gate, endpoint, machine, job: -1, deadline: 0 });
      this.#scheduleNext(this.#checks.length - 1, now);
    }
  }

  ask(index: number, now: number): void {
    const check = this.#check(index);
    if (!check.gate.isListed(check.endpoint)) {
      // Nobody asks a replica that is not there; should it come again, it is asked from then on.
      this.#duties.scheduleQuestion(now + this.#duties.settings.interval, index);
      return;
    }
    check.deadline = check.machine.asked(instantAt(now));
    this.#duties.scheduleExpiry(check.deadline, index);
    check.job = this.#duties.jobs.allocate(purposes.check, index);
    this.#duties.send(check.job, check.gate.station(check.endpoint), now);
  }

  /** The time for an answer is over, if the question is still the same. */
  expire(index: number, now: number): void {
    const check = this.#check(index);
    if (check.job < 0 || check.deadline !== now) return;
    this.#duties.abandon(check.job, now);
    this.answered(index, false, now);
  }

  answered(index: number, passed: boolean, now: number): void {
    const check = this.#check(index);
    check.job = -1;
    const change = check.machine.observe(passed, instantAt(now));
    if (change !== 'same') check.gate.setHealthy(check.endpoint, change === 'rose');
    this.#scheduleNext(index, now);
  }

  #scheduleNext(index: number, now: number): void {
    const next = this.#check(index).machine.next;
    assert(next !== undefined, 'a check that has been answered asks again');
    this.#duties.scheduleQuestion(Math.max(next, now), index);
  }

  #check(index: number): Check {
    const check = this.#checks[index];
    assert(check !== undefined, 'a check is one of those that were set up');
    return check;
  }
}
