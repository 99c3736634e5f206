// The pool of requests: what a client waits for, from its due time to its one end. A request has at most one job at a time
// (its present attempt). Columns and generations as in jobs.ts.

import { assert } from '../base.ts';
import { grownBytes, grownInts, grownTimes } from './grown.ts';

const firstCapacity = 256;

export class Requests {
  group = new Int32Array(firstCapacity);
  /** Who asked; −1 in an open group. */
  user = new Int32Array(firstCapacity);
  /** The job of the present attempt; −1 between attempts. */
  job = new Int32Array(firstCapacity);
  /** Which of its gate's endpoints has the attempt; −1 for none. */
  endpoint = new Int32Array(firstCapacity);
  attempts = new Uint8Array(firstCapacity);
  /** Which of the load balancers it goes through, where there are several. */
  view = new Uint8Array(firstCapacity);
  /** 1 while its gate counts it in flight. */
  atGate = new Uint8Array(firstCapacity);
  /** 1 once its client has left and somebody does not know it yet; 2 when that news has come to the gate before the request. */
  left = new Uint8Array(firstCapacity);
  /** What became of it, as its gate has it, and the station that answered: on the way to its client. */
  outcome = new Uint8Array(firstCapacity);
  answeredBy = new Int32Array(firstCapacity);
  /** How often its client has asked again. */
  tries = new Uint8Array(firstCapacity);
  /** Until when its client rests before it asks again; −1 while an attempt is under way. */
  restsUntil = new Float64Array(firstCapacity);
  generation = new Int32Array(firstCapacity);
  dueAt = new Float64Array(firstCapacity);
  attemptAt = new Float64Array(firstCapacity);
  /** Endpoints that failed a request which is tried again. Only those have an entry. */
  readonly tried = new Map<number, number[]>();

  #live = new Uint8Array(firstCapacity);
  #next = new Int32Array(firstCapacity);
  #capacity = firstCapacity;
  #unused = 0;
  #freed = -1;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  allocate(group: number, user: number, dueAt: number): number {
    let request = this.#freed;
    if (request >= 0) {
      this.#freed = this.#next[request] ?? -1;
    } else {
      if (this.#unused === this.#capacity) this.#grow();
      request = this.#unused++;
    }
    this.#count += 1;
    this.#live[request] = 1;
    this.group[request] = group;
    this.user[request] = user;
    this.job[request] = -1;
    this.endpoint[request] = -1;
    this.attempts[request] = 0;
    this.atGate[request] = 0;
    this.left[request] = 0;
    this.tries[request] = 0;
    this.restsUntil[request] = -1;
    this.dueAt[request] = dueAt;
    return request;
  }

  /** Its client goes on under another number, which is returned: the gate does not know yet, and keeps this one. */
  split(request: number): number {
    const own = this.allocate(this.group[request] ?? -1, this.user[request] ?? -1, this.dueAt[request] ?? 0);
    this.view[own] = this.view[request] ?? 0;
    this.tries[own] = this.tries[request] ?? 0;
    this.left[request] = 1;
    return own;
  }

  free(request: number): void {
    assert(this.#live[request] === 1, 'a request ends once');
    this.#live[request] = 0;
    this.forgetDeadlines(request);
    this.restsUntil[request] = -1;
    this.#next[request] = this.#freed;
    this.#freed = request;
    this.#count -= 1;
    if ((this.attempts[request] ?? 0) > 1) this.tried.delete(request);
  }

  /** Deadlines that were set for the request so far mean it no more. */
  forgetDeadlines(request: number): void {
    this.generation[request] = (this.generation[request] ?? 0) + 1;
  }

  /** The numbers in use now. */
  *live(): Generator<number> {
    for (let request = 0; request < this.#unused; request++) if (this.#live[request] === 1) yield request;
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    this.#capacity = capacity;
    this.group = grownInts(this.group, capacity);
    this.user = grownInts(this.user, capacity);
    this.job = grownInts(this.job, capacity);
    this.endpoint = grownInts(this.endpoint, capacity);
    this.attempts = grownBytes(this.attempts, capacity);
    this.view = grownBytes(this.view, capacity);
    this.atGate = grownBytes(this.atGate, capacity);
    this.left = grownBytes(this.left, capacity);
    this.outcome = grownBytes(this.outcome, capacity);
    this.answeredBy = grownInts(this.answeredBy, capacity);
    this.tries = grownBytes(this.tries, capacity);
    this.restsUntil = grownTimes(this.restsUntil, capacity);
    this.generation = grownInts(this.generation, capacity);
    this.dueAt = grownTimes(this.dueAt, capacity);
    this.attemptAt = grownTimes(this.attemptAt, capacity);
    this.#live = grownBytes(this.#live, capacity);
    this.#next = grownInts(this.#next, capacity);
  }
}
