// How many requests are inside each endpoint, as one balancer counts them: what it has started and not yet seen finish. A
// gateway sees only its own requests; with four gateways each sees a quarter of the load.
//
// Hot: `started`, `finished`, `of`. Counts live in one typed array, by index in the present fleet.

import { assert } from '../../base.ts';
import type { Fleet } from './balancer.ts';

export class InFlight {
  #counts = new Int32Array(0);
  #ids: readonly string[] = [];

  of(endpoint: number): number {
    return this.#counts[endpoint] ?? 0;
  }

  started(endpoint: number): void {
    assert(endpoint >= 0 && endpoint < this.#counts.length, 'a request starts at an endpoint of the present fleet');
    this.#counts[endpoint] = (this.#counts[endpoint] ?? 0) + 1;
  }

  finished(endpoint: number): void {
    const count = this.#counts[endpoint] ?? 0;
    assert(count > 0, 'a request finishes once, where it started');
    this.#counts[endpoint] = count - 1;
  }

  /** Carries the counts of the endpoints that stay to their new places; those that left are forgotten. */
  rebuild(fleet: Fleet): void {
    const before = new Map(this.#ids.map((id, index) => [id, this.#counts[index] ?? 0]));
    this.#ids = fleet.endpoints.map((endpoint) => endpoint.id);
    this.#counts = Int32Array.from(this.#ids, (id) => before.get(id) ?? 0);
  }
}
