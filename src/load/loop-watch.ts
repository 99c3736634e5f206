// How late this thread's own event loop is: an alarm every ten milliseconds that notes by how much it was missed. A load
// generator whose loop is late measures itself, so this is one of the things that make a run void.
//
// An idle Node rings up to about a millisecond late, which is the floor of what is seen here.

import { after, type Duration, type Instant, ms, ns } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import { Histogram } from '../stats.ts';

const every = ms(10);

export class LoopWatch {
  readonly #engine: Engine;
  #lateness = new Histogram();
  #alarm: Alarm | undefined;
  #next: Instant;

  constructor(engine: Engine, now: Instant) {
    this.#engine = engine;
    this.#next = after(now, every);
    this.#arm();
  }

  get p99(): Duration | undefined {
    return this.#lateness.quantile(0.99)?.value;
  }

  get max(): Duration | undefined {
    return this.#lateness.max;
  }

  restart(): void {
    this.#lateness = new Histogram();
  }

  stop(): void {
    this.#alarm?.cancel();
  }

  #arm(): void {
    this.#alarm = this.#engine.alarm(this.#next, this.#ring);
  }

  readonly #ring = (now: Instant): void => {
    const lateness = ns(Math.max(0, now - this.#next));
    this.#lateness.record(lateness);
    // A stall of a second swallows a hundred of these. Each of them would have been late by what was left of it, and all are
    // recorded: otherwise one long stall would be one sample among thousands.
    for (let missed = lateness - every; missed > 0; missed -= every) this.#lateness.record(ns(missed));
    this.#next = after(now, every);
    this.#arm();
  };
}
