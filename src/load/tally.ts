// What became of requests, counted: one tally for a stretch of time, added to another without loss. A request that was
// planned is in exactly one of six places when all is over, and until then it is pending:
//
//   planned = answered + failed + timed out + refused + in flight at the end + never sent   (+ pending)
//
//   answered    a whole answer with a status below 400
//   failed      a whole answer with 400 or more, or none: refused, reset, closed, truncated, bad-response, …; by kind in `errors`
//   timed out   not answered within the client's timeout, counted from due time
//   refused     found every connection taken and no room to wait: a cap of the generator's own
//
// Every whole answer is a latency, whatever its status. What timed out, was refused by a cap, or had not ended is a lower
// bound. What failed without an answer has no latency: only its count.
//
// A request that is asked again is still one. Of its tries there are two counts: all that were sent, and those after the first, which
// were decided on when the one before had failed. How an earlier try failed is not among the errors.
//
// Hot: everything but `add` and `clear`.

import type { Duration } from '../base.ts';
import { Histogram } from '../stats.ts';

export class Tally {
  planned = 0;
  /** Requests that were sent, once or more often. */
  sent = 0;
  /** Tries that were sent, and further tries that failures led to. */
  tries = 0;
  retries = 0;
  answered = 0;
  failed = 0;
  timedOut = 0;
  refused = 0;
  inFlightAtEnd = 0;
  neverSent = 0;
  /** Bytes of whole answers, heads included. */
  bytes = 0;
  readonly errors = new Map<string, number>();
  readonly latency = new Histogram();
  readonly service = new Histogram();
  readonly lag = new Histogram();
  /** By index of the replica; holes where a replica has had nothing to do with this tally. */
  readonly replicas: (ReplicaTally | undefined)[] = [];

  /** Planned requests whose end is counted here. */
  get ended(): number {
    return this.answered + this.failed + this.timedOut + this.refused + this.inFlightAtEnd + this.neverSent;
  }

  answer(replica: number, status: number, latency: Duration, service: Duration, bytes: number): void {
    this.bytes += bytes;
    this.latency.record(latency);
    this.service.record(service);
    const at = this.replica(replica);
    at.finished += 1;
    at.latency.record(latency);
    at.service.record(service);
    if (status < 400) {
      this.answered += 1;
    } else {
      this.failed += 1;
      this.#error(at, status < 500 ? 'status-4xx' : 'status-5xx');
    }
  }

  failure(replica: number, kind: string): void {
    this.failed += 1;
    this.#error(this.replica(replica), kind);
  }

  timeout(replica: number, age: Duration): void {
    this.timedOut += 1;
    const at = this.replica(replica);
    this.#error(at, 'timeout');
    this.latency.recordUnfinished(age);
    at.latency.recordUnfinished(age);
  }

  refusal(age: Duration): void {
    this.refused += 1;
    this.latency.recordUnfinished(age);
  }

  /** `replica`: undefined while it rests between two tries. */
  leftInFlight(replica: number | undefined, age: Duration): void {
    this.inFlightAtEnd += 1;
    this.latency.recordUnfinished(age);
    if (replica !== undefined) this.replica(replica).latency.recordUnfinished(age);
  }

  leftUnsent(age: Duration): void {
    this.neverSent += 1;
    this.latency.recordUnfinished(age);
  }

  add(other: Tally): void {
    this.planned += other.planned;
    this.sent += other.sent;
    this.tries += other.tries;
    this.retries += other.retries;
    this.answered += other.answered;
    this.failed += other.failed;
    this.timedOut += other.timedOut;
    this.refused += other.refused;
    this.inFlightAtEnd += other.inFlightAtEnd;
    this.neverSent += other.neverSent;
    this.bytes += other.bytes;
    addErrors(this.errors, other.errors);
    addHistogram(this.latency, other.latency);
    addHistogram(this.service, other.service);
    addHistogram(this.lag, other.lag);
    other.replicas.forEach((replica, index) => {
      if (replica !== undefined) this.replica(index).add(replica);
    });
  }

  clear(): void {
    this.planned = 0;
    this.sent = 0;
    this.tries = 0;
    this.retries = 0;
    this.answered = 0;
    this.failed = 0;
    this.timedOut = 0;
    this.refused = 0;
    this.inFlightAtEnd = 0;
    this.neverSent = 0;
    this.bytes = 0;
    this.errors.clear();
    clearHistogram(this.latency);
    clearHistogram(this.service);
    clearHistogram(this.lag);
    for (const replica of this.replicas) replica?.clear();
  }

  replica(index: number): ReplicaTally {
    const known = this.replicas[index];
    if (known !== undefined) return known;
    const fresh = new ReplicaTally();
    this.replicas[index] = fresh;
    return fresh;
  }

  #error(at: ReplicaTally, kind: string): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
    at.errors.set(kind, (at.errors.get(kind) ?? 0) + 1);
  }
}

export class ReplicaTally {
  /** Whole answers, whatever their status. */
  finished = 0;
  readonly errors = new Map<string, number>();
  readonly latency = new Histogram();
  readonly service = new Histogram();

  get isEmpty(): boolean {
    return this.finished === 0 && this.errors.size === 0 && isEmpty(this.latency);
  }

  add(other: ReplicaTally): void {
    if (other.isEmpty) return;
    this.finished += other.finished;
    addErrors(this.errors, other.errors);
    addHistogram(this.latency, other.latency);
    addHistogram(this.service, other.service);
  }

  clear(): void {
    if (this.isEmpty) return;
    this.finished = 0;
    this.errors.clear();
    clearHistogram(this.latency);
    clearHistogram(this.service);
  }
}

function addErrors(into: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [kind, count] of from) into.set(kind, (into.get(kind) ?? 0) + count);
}

// A histogram is thousands of slots, and most replicas are idle in most seconds of a large fleet.

function addHistogram(into: Histogram, from: Histogram): void {
  if (!isEmpty(from)) into.add(from);
}

function clearHistogram(histogram: Histogram): void {
  if (!isEmpty(histogram)) histogram.clear();
}

const isEmpty = (histogram: Histogram): boolean => histogram.count === 0 && histogram.unfinishedCount === 0;
