// What a replica counts, and how it says so: Prometheus text. The `_seconds_total` of a level (in flight, busy workers,
// queue) is the area under it, exact to the event: what it grew by between two scrapes, divided by their distance, is the
// true mean.

import type { Duration, Instant } from '../../base.ts';
import { Histogram } from './histogram.ts';
import { Level } from './level.ts';

/** What the pool says of itself when somebody looks. */
export interface PoolReading {
  readonly workers: number;
  readonly busy: number;
  readonly waiting: number;
  readonly heldNs: number;
  readonly waitedNs: number;
}

export class Tally {
  readonly #inFlight: Level;
  readonly #served = new Map<number, number>();
  readonly #service = new Histogram('plimsoll_replica_service_seconds');
  readonly #latency = new Histogram('plimsoll_replica_latency_seconds');
  #started = 0;
  #abandoned = 0;

  constructor(now: Instant) {
    this.#inFlight = new Level(now);
  }

  arrived(now: Instant): void {
    this.#started += 1;
    this.#inFlight.add(1, now);
  }

  /** A worker has done with a request after holding it for `held`. */
  worked(held: Duration): void {
    this.#service.add(held);
  }

  /** The request is over. `code` 499: nobody was there to be answered. */
  left(code: number, latency: Duration, now: Instant): void {
    this.#inFlight.add(-1, now);
    this.#served.set(code, (this.#served.get(code) ?? 0) + 1);
    if (code === 499) this.#abandoned += 1;
    else this.#latency.add(latency);
  }

  text(pool: PoolReading, now: Instant): string {
    const gauge = (name: string, value: number): string[] => [`# TYPE ${name} gauge`, `${name} ${value}`];
    const counter = (name: string, value: number): string[] => [`# TYPE ${name} counter`, `${name} ${value}`];
    const lines = [
      ...gauge('plimsoll_replica_workers', pool.workers),
      ...gauge('plimsoll_replica_in_flight', this.#inFlight.value),
      ...counter('plimsoll_replica_in_flight_seconds_total', this.#inFlight.areaAt(now) / 1e9),
      ...gauge('plimsoll_replica_busy_workers', pool.busy),
      ...counter('plimsoll_replica_busy_seconds_total', pool.heldNs / 1e9),
      ...gauge('plimsoll_replica_queue', pool.waiting),
      ...counter('plimsoll_replica_queue_seconds_total', pool.waitedNs / 1e9),
      ...counter('plimsoll_replica_started_total', this.#started),
      '# TYPE plimsoll_replica_served_total counter',
      ...[...this.#served].map(([code, count]) => `plimsoll_replica_served_total{code="${code}"} ${count}`),
      ...counter('plimsoll_replica_abandoned_total', this.#abandoned),
      ...this.#service.lines(),
      ...this.#latency.lines(),
    ];
    return `${lines.join('\n')}\n`;
  }
}
