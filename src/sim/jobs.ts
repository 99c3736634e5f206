// The pool of jobs: one for each piece of work that is at a station now (a request's attempt, a call to a dependency, a
// health check). A job is a number; what is known of it stands in columns under that number, so that a million of them are a
// dozen arrays and no object. A freed number is used again; `generation` tells the two lives apart.
//
// Columns may be replaced when the pool grows: read them through the pool, and never keep one across an `allocate`.

import { assert } from '../base.ts';
import { grownBytes, grownInts, grownTimes } from './grown.ts';

const firstCapacity = 256;

/** What a job is for, and so what kind of number its parent is. */
export const purposes = { request: 0, call: 1, check: 2 } as const;

/** Where a job stands. See the picture in station.ts. */
export const states = {
  free: 0,
  waiting: 1,
  serving: 2,
  calling: 3,
  /** Arrived at a frozen station, which has not read it yet. */
  unread: 4,
  /** Its time was over, or its call ended, while its station stood still. */
  overdue: 5,
  /** Its client left while it waited, and the station noticed: it is passed over when its turn comes. */
  dropped: 6,
  /** It is over, but the event of its end is still to come, and frees it: its station was killed under it. */
  dead: 7,
  /** It has ended badly, and whoever waits will hear of it after a round trip. */
  telling: 8,
  /** It is being answered with an error, without a worker, because its station fails on purpose. */
  failing: 9,
  /** It has a worker and waits for processor time, or uses it together with others. */
  computing: 10,
  /** On its way to a station, by a network. */
  travelling: 11,
  /** The same, and the news that nobody waits for it has come to the station before it. */
  recalled: 12,
} as const;

/** How a job ends. Everything but `ok` takes a round trip to be told. */
export const outcomes = {
  ok: 0,
  /** The station's queue was full: it answered 503. */
  full: 1,
  /** A call that it made failed: it answered 502. */
  callFailed: 2,
  /** A call that it made timed out: it answered 504. */
  callTimedOut: 3,
  /** The station was killed with the job inside. */
  reset: 4,
  /** Nobody listened. */
  refused: 5,
  /** Nobody was fit to be asked. */
  unfit: 6,
  /** The station answered 500. */
  failed: 7,
  /** The gate's time for it was over: it answered 504. */
  gateTimedOut: 8,
} as const;

export class Jobs {
  station = new Int32Array(firstCapacity);
  purpose = new Uint8Array(firstCapacity);
  /** The request, job or check that waits for this one, by `purpose`; −1 once nobody does. */
  parent = new Int32Array(firstCapacity);
  state = new Uint8Array(firstCapacity);
  outcome = new Uint8Array(firstCapacity);
  /** The next one in whatever list the job stands; −1 at the end. */
  next = new Int32Array(firstCapacity);
  /** The job of the call that this one is making; −1 for none. */
  child = new Int32Array(firstCapacity);
  /** Which of its service's calls it is making, and how often it has tried. */
  call = new Uint8Array(firstCapacity);
  tries = new Uint8Array(firstCapacity);
  /** 1 while the event of its end is in the calendar. */
  timed = new Uint8Array(firstCapacity);
  generation = new Int32Array(firstCapacity);
  arrivedAt = new Float64Array(firstCapacity);
  startedAt = new Float64Array(firstCapacity);
  /** When its own time is over, by its station's own clock, which stands still in pauses. While it computes: how long it will be
   * served after that. While it calls: when it tries again. */
  dueAt = new Float64Array(firstCapacity);

  #capacity = firstCapacity;
  #unused = 0;
  #freed = -1;
  #count = 0;

  /** Jobs in use. */
  get count(): number {
    return this.#count;
  }

  /** Every number in use or used before is below this. */
  get end(): number {
    return this.#unused;
  }

  allocate(purpose: number, parent: number): number {
    let job = this.#freed;
    if (job >= 0) {
      this.#freed = this.next[job] ?? -1;
    } else {
      if (this.#unused === this.#capacity) this.#grow();
      job = this.#unused++;
    }
    this.#count += 1;
    this.station[job] = -1;
    this.purpose[job] = purpose;
    this.parent[job] = parent;
    this.next[job] = -1;
    this.child[job] = -1;
    this.call[job] = 0;
    this.tries[job] = 0;
    this.timed[job] = 0;
    this.outcome[job] = outcomes.ok;
    return job;
  }

  /** The job is over. Its number is free again at once, or when the event of its end has come. */
  free(job: number): void {
    const state = this.state[job] ?? states.free;
    assert(state !== states.free, 'a job is freed once');
    if (state !== states.dead) this.generation[job] = (this.generation[job] ?? 0) + 1;
    this.parent[job] = -1;
    if (this.timed[job] === 1) {
      this.state[job] = states.dead;
      return;
    }
    this.state[job] = states.free;
    this.next[job] = this.#freed;
    this.#freed = job;
    this.#count -= 1;
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    this.#capacity = capacity;
    this.station = grownInts(this.station, capacity);
    this.purpose = grownBytes(this.purpose, capacity);
    this.parent = grownInts(this.parent, capacity);
    this.state = grownBytes(this.state, capacity);
    this.outcome = grownBytes(this.outcome, capacity);
    this.next = grownInts(this.next, capacity);
    this.child = grownInts(this.child, capacity);
    this.call = grownBytes(this.call, capacity);
    this.tries = grownBytes(this.tries, capacity);
    this.timed = grownBytes(this.timed, capacity);
    this.generation = grownInts(this.generation, capacity);
    this.arrivedAt = grownTimes(this.arrivedAt, capacity);
    this.startedAt = grownTimes(this.startedAt, capacity);
    this.dueAt = grownTimes(this.dueAt, capacity);
  }
}
