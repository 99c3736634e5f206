// Calls from a station to another service or to a dependency, made while a worker is held: one after the other, each with
// its timeout and its tries. What times out is given up but not cancelled: the other side serves it to its end, as most do. The
// worker is held while its call waits for the next try, too.

import { assert, type Dice, dice, instantAt, unreachable } from '../base.ts';
import { type RetryPolicy, retryPolicyOf } from '../policy.ts';
import type { Call, Choice } from '../scenario.ts';
import type { Deadlines, Timed } from './deadlines.ts';
import type { Fleet, Site } from './fleet.ts';
import { type Jobs, outcomes, purposes, states } from './jobs.ts';
import type { Station } from './station.ts';

export interface CallDuties {
  readonly jobs: Jobs;
  readonly fleet: Fleet;
  readonly seed: number;
  newDeadlines(length: number, timed: Timed): Deadlines;
  /** `again` wants to be called for this job then. */
  scheduleAgain(at: number, job: number): void;
  /** Brings a job to a station, from the one that calls. */
  send(job: number, to: Station, from: number, now: number): void;
  /** Nobody waits for this job any more. */
  abandon(job: number, now: number): void;
}

/** One call of one service. */
interface Plan {
  readonly call: Call;
  readonly deadlines: Deadlines | undefined;
  readonly site: Site;
}

/** One call as one replica makes it: its own turn, its own dice, its own budget. */
interface Caller {
  readonly plan: Plan;
  readonly choose: () => Station;
  readonly retry: RetryPolicy;
}

export class Calls {
  readonly #duties: CallDuties;
  /** By site. */
  readonly #plans = new Map<string, readonly Plan[]>();
  /** By calling station and call. */
  readonly #callers = new Map<number, Caller>();

  constructor(duties: CallDuties) {
    this.#duties = duties;
    for (const site of duties.fleet.sites) {
      this.#plans.set(
        site.name,
        site.calls.map((call) => ({
          call,
          deadlines: call.timeout === undefined ? undefined : duties.newDeadlines(call.timeout, this.#timed),
          site: duties.fleet.site(call.to),
        })),
      );
    }
  }

  /** Makes the call that `job` has come to, for the first time. */
  make(job: number, station: Station, now: number): void {
    const caller = this.#caller(job, station);
    caller.retry.budget?.deposit(instantAt(now));
    this.#try(job, caller, now);
  }

  #try(job: number, { plan, choose }: Caller, now: number): void {
    const { jobs } = this.#duties;
    const child = jobs.allocate(purposes.call, job);
    jobs.child[job] = child;
    plan.deadlines?.set(child, jobs.generation[child] ?? 0, now);
    this.#duties.send(child, choose(), jobs.station[job] ?? -1, now);
  }

  /** The job has waited for its next try, unless it ended meanwhile and somebody else has its number. */
  again(job: number, now: number): void {
    const { jobs } = this.#duties;
    const waits = jobs.state[job] === states.calling && (jobs.child[job] ?? -1) < 0 && jobs.dueAt[job] === now;
    if (waits) this.#try(job, this.#caller(job, this.#station(job)), now);
  }

  /** The call that `job` was making is over. */
  ended(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.child[job] = -1;
    if (outcome !== outcomes.ok) {
      this.#failed(job, outcomes.callFailed, now);
      return;
    }
    jobs.call[job] = (jobs.call[job] ?? 0) + 1;
    jobs.tries[job] = 0;
    this.#station(job).called(job, outcomes.ok, now);
  }

  /** A try has failed: there is another one, now or later, or the call has failed. */
  #failed(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    const station = this.#station(job);
    const caller = this.#caller(job, station);
    const { retries, budget, wait } = caller.retry;
    const tries = (jobs.tries[job] ?? 0) + 1;
    if (tries > retries || budget?.withdraw(instantAt(now)) === false) {
      station.called(job, outcome, now);
      return;
    }
    jobs.tries[job] = tries;
    const until = now + wait(tries);
    if (until === now) {
      this.#try(job, caller, now);
      return;
    }
    jobs.dueAt[job] = until;
    this.#duties.scheduleAgain(until, job);
  }

  readonly #timed: Timed = {
    isAlive: (child, generation) => this.#duties.jobs.generation[child] === generation,
    expire: (child, now) => {
      const { jobs } = this.#duties;
      const job = jobs.parent[child] ?? -1;
      if (job < 0) return;
      this.#duties.abandon(child, now);
      jobs.child[job] = -1;
      this.#failed(job, outcomes.callTimedOut, now);
    },
  };

  #station(job: number): Station {
    const station = this.#duties.fleet.stations[this.#duties.jobs.station[job] ?? -1];
    assert(station !== undefined, 'whoever calls is at a station');
    return station;
  }

  /** The call that `job` has come to. */
  #caller(job: number, station: Station): Caller {
    const index = this.#duties.jobs.call[job] ?? 0;
    const key = station.index * 256 + index;
    const known = this.#callers.get(key);
    if (known !== undefined) return known;
    const { seed, fleet } = this.#duties;
    const plan = this.#plans.get(fleet.siteOf(station).name)?.[index];
    assert(plan !== undefined, 'a call is one of the service');
    const name = `calls/${station.id}/${index}`;
    const caller = {
      plan,
      choose: chooserOf(plan.call.choice, plan.site, dice(seed, name)),
      retry: retryPolicyOf(plan.call, dice(seed, `${name}/retries`)),
    };
    this.#callers.set(key, caller);
    return caller;
  }
}

function chooserOf(choice: Choice, site: Site, source: Dice): () => Station {
  let turn = 0;
  const at = (index: number): Station => {
    const station = site.stations[index];
    assert(station !== undefined, 'a call has somewhere to go');
    return station;
  };
  switch (choice) {
    case 'pick-first':
      return () => at(0);
    case 'random':
      return () => at(source.below(site.listed));
    case 'round-robin':
      return () => at(turn++ % site.listed);
    default:
      return unreachable(choice, 'a choice that nobody makes');
  }
}
