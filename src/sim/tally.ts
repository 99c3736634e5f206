// What became of requests, counted: for each client group and each replica, once for the present second and once for the
// judged part of the phase. A request belongs to the part in which it came due, however late it ends.
//
//   planned = answered + failed + timed out + in flight at the end      (a simulated client refuses and forgets nothing)

import { ns } from '../base.ts';
import { Histogram } from '../stats.ts';

export class Tally {
  planned = 0;
  answered = 0;
  failed = 0;
  timedOut = 0;
  inFlightAtEnd = 0;
  readonly errors = new Map<string, number>();
  readonly latency = new Histogram();

  plan(): void {
    this.planned += 1;
  }

  /** A whole answer, whatever its status, has a latency. */
  answer(ok: boolean, latency: number): void {
    this.latency.record(ns(latency));
    if (ok) this.answered += 1;
    else this.#fail('status-5xx');
  }

  failure(kind: string): void {
    this.#fail(kind);
  }

  timeout(age: number): void {
    this.timedOut += 1;
    this.latency.recordUnfinished(ns(age));
    count(this.errors, 'timeout');
  }

  leftInFlight(age: number): void {
    this.inFlightAtEnd += 1;
    this.latency.recordUnfinished(ns(age));
  }

  clear(): void {
    this.planned = 0;
    this.answered = 0;
    this.failed = 0;
    this.timedOut = 0;
    this.inFlightAtEnd = 0;
    this.errors.clear();
    if (!isEmpty(this.latency)) this.latency.clear();
  }

  #fail(kind: string): void {
    this.failed += 1;
    count(this.errors, kind);
  }
}

/** What clients saw of one replica, besides how often it answered. */
export class ReplicaTally {
  /** Undefined until there is one. */
  errors: Map<string, number> | undefined;
  /** Undefined in a large fleet: a histogram is 32 KB, and nobody reads ten thousand of them. */
  readonly latency: Histogram | undefined;

  constructor(withLatency: boolean) {
    this.latency = withLatency ? new Histogram() : undefined;
  }

  answer(ok: boolean, latency: number): void {
    this.latency?.record(ns(latency));
    if (!ok) this.failure('status-5xx');
  }

  failure(kind: string): void {
    this.errors ??= new Map<string, number>();
    count(this.errors, kind);
  }

  /** A request that this replica had, as a lower bound. */
  unfinished(age: number): void {
    this.latency?.recordUnfinished(ns(age));
  }

  clear(): void {
    this.errors?.clear();
    if (this.latency !== undefined && !isEmpty(this.latency)) this.latency.clear();
  }
}

function count(counts: Map<string, number>, kind: string): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

export const isEmpty = (histogram: Histogram): boolean => histogram.count === 0 && histogram.unfinishedCount === 0;
