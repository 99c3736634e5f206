// Calls from a station to another service or to a dependency, made while a worker is held: one after the other, each with
// its timeout and its tries. What times out is given up but not cancelled: the other side serves it to its end, as most do.

import { assert, type Dice, dice, unreachable } from '../base.ts';
import type { Call, Choice } from '../scenario.ts';
import type { Deadlines, Timed } from './deadlines.ts';
import type { Fleet } from './fleet.ts';
import { type Jobs, outcomes, purposes } from './jobs.ts';
import type { Station } from './station.ts';

export interface CallDuties {
  readonly jobs: Jobs;
  readonly fleet: Fleet;
  readonly seed: number;
  newDeadlines(length: number, timed: Timed): Deadlines;
  /** Nobody waits for this job any more. */
  abandon(job: number, now: number): void;
}

/** One call of one service. */
interface Plan {
  readonly call: Call;
  readonly deadlines: Deadlines | undefined;
  /** Grows with the site that is called. */
  readonly targets: readonly Station[];
}

export class Calls {
  readonly #duties: CallDuties;
  /** By site. */
  readonly #plans = new Map<string, readonly Plan[]>();
  /** By calling station and call: each process has a turn of its own. */
  readonly #choosers = new Map<number, () => Station>();

  constructor(duties: CallDuties) {
    this.#duties = duties;
    for (const site of duties.fleet.sites) {
      this.#plans.set(
        site.name,
        site.calls.map((call) => ({
          call,
          deadlines: call.timeout === undefined ? undefined : duties.newDeadlines(call.timeout, this.#timed),
          targets: duties.fleet.site(call.to).stations,
        })),
      );
    }
  }

  /** Makes the call that `job` has come to. */
  make(job: number, station: Station, now: number): void {
    const { jobs } = this.#duties;
    const index = jobs.call[job] ?? 0;
    const plan = this.#plan(station, index);
    const child = jobs.allocate(purposes.call, job);
    jobs.child[job] = child;
    plan.deadlines?.set(child, jobs.generation[child] ?? 0, now);
    this.#chooser(station, index, plan)().arrive(child, now);
  }

  /** The call that `job` was making is over. */
  ended(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.child[job] = -1;
    if (outcome !== outcomes.ok) {
      this.#again(job, outcomes.callFailed, now);
      return;
    }
    jobs.call[job] = (jobs.call[job] ?? 0) + 1;
    jobs.tries[job] = 0;
    this.#caller(job).called(job, outcomes.ok, now);
  }

  #again(job: number, outcome: number, now: number): void {
    const { jobs } = this.#duties;
    const station = this.#caller(job);
    const tries = jobs.tries[job] ?? 0;
    if (tries < this.#plan(station, jobs.call[job] ?? 0).call.retries) {
      jobs.tries[job] = tries + 1;
      this.make(job, station, now);
    } else station.called(job, outcome, now);
  }

  readonly #timed: Timed = {
    isAlive: (child, generation) => this.#duties.jobs.generation[child] === generation,
    expire: (child, now) => {
      const { jobs } = this.#duties;
      const job = jobs.parent[child] ?? -1;
      if (job < 0) return;
      this.#duties.abandon(child, now);
      jobs.child[job] = -1;
      this.#again(job, outcomes.callTimedOut, now);
    },
  };

  #plan(station: Station, index: number): Plan {
    const plan = this.#plans.get(this.#duties.fleet.siteOf(station).name)?.[index];
    assert(plan !== undefined, 'a call is one of the service');
    return plan;
  }

  #caller(job: number): Station {
    const station = this.#duties.fleet.stations[this.#duties.jobs.station[job] ?? -1];
    assert(station !== undefined, 'whoever calls is at a station');
    return station;
  }

  #chooser(station: Station, index: number, plan: Plan): () => Station {
    const key = station.index * 256 + index;
    const known = this.#choosers.get(key);
    if (known !== undefined) return known;
    const source = dice(this.#duties.seed, `calls/${station.id}/${index}`);
    const chooser = chooserOf(plan.call.choice, plan.targets, source);
    this.#choosers.set(key, chooser);
    return chooser;
  }
}

function chooserOf(choice: Choice, targets: readonly Station[], source: Dice): () => Station {
  let turn = 0;
  const at = (index: number): Station => {
    const station = targets[index];
    assert(station !== undefined, 'a call has somewhere to go');
    return station;
  };
  switch (choice) {
    case 'pick-first':
      return () => at(0);
    case 'random':
      return () => at(source.below(targets.length));
    case 'round-robin':
      return () => at(turn++ % targets.length);
    default:
      return unreachable(choice, 'a choice that nobody makes');
  }
}
