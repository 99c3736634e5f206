// A stretch of load on this thread: counted by second and by replica, and at the end a ledger in which every planned request
// has exactly one place.

import { assert, type Duration } from '../base.ts';
import type { Engine } from '../net.ts';
import type { LoadPlan, LoadResult, LoadRun, LoadSnapshot } from './contract.ts';
import { Driver } from './driver.ts';
import { ObjectiveWatch } from './objective-watch.ts';
import { ReplicaNames } from './replica-names.ts';
import { whole } from './share.ts';
import { threadCpu } from './thread-cpu.ts';
import { resultOf, secondOf, snapshotOf } from './views.ts';

export interface LoadOptions {
  /** CPU time of the generating thread so far. Default: this thread's. */
  readonly cpu?: () => Duration;
}

/** Starts the plan's demand at once. The engine stays the caller's to close, after `stop`. */
export function startLoad(plan: LoadPlan, engine: Engine, options: LoadOptions = {}): LoadRun {
  return new Run(plan, engine, options.cpu ?? threadCpu);
}

class Run implements LoadRun {
  readonly #plan: LoadPlan;
  readonly #names = new ReplicaNames();
  readonly #driver: Driver;
  readonly #watch: ObjectiveWatch;
  #stopping = false;

  constructor(plan: LoadPlan, engine: Engine, cpu: () => Duration) {
    this.#plan = plan;
    this.#watch = new ObjectiveWatch(plan.objectives ?? []);
    this.#driver = new Driver(plan, { engine, cpu, names: this.#names, share: whole, begin: engine.now() });
  }

  snapshot(detail?: 'histograms'): LoadSnapshot {
    const cut = this.#driver.cut();
    if (!this.#stopping) this.#watch.add(secondOf(this.#plan, cut, this.#names));
    return snapshotOf(this.#plan, cut, this.#names, { broken: this.#watch.broken, detail });
  }

  measure(): void {
    this.#driver.measure();
    this.#watch.restart();
  }

  async stop(grace: Duration): Promise<LoadResult> {
    assert(!this.#stopping, 'a run is stopped once');
    this.#stopping = true;
    await this.#driver.end(grace);
    return resultOf(this.#plan, this.#driver.finish(), this.#names, this.#watch);
  }
}
