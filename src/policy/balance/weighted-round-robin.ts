// In turn, but some have more turns. Every endpoint has a deadline for its next request; the earliest deadline is served, and
// its next one is 1/weight later (earliest deadline first, as Envoy, Traefik and gRPC schedule). In any stretch of time an
// endpoint with twice the weight is due twice as often, and its turns are spread out instead of coming in a row.
//
//   weights  a 2  b 1          a ┼──┼──┼──┼──┼──┼      one turn every half
//                              b ┼─────┼─────┼──       one every whole        ► a b a a b a …
//
// An endpoint's first deadline is a random point of its first period: balancers that start together do not meet.
// A new fleet keeps everybody's distance to the deadline; a changed weight counts from the next turn on.
//
// O(log n) a pick, no allocation. It is as blind to load as plain round robin.

import { type Dice, dice, Heap } from '../../base.ts';
import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { carried, idsOf } from './carry.ts';
import { countUntried, fitEndpoints } from './fit.ts';
import { InFlight } from './in-flight.ts';

export function weightedRoundRobin(options: { readonly seed: number }): Balancer {
  return new WeightedRoundRobin(dice(options.seed, 'balance/weighted-round-robin'));
}

class WeightedRoundRobin implements Balancer {
  readonly name = 'weighted-round-robin';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  #fit: readonly number[] = [];
  #ids: readonly string[] = [];
  #weights = new Float64Array(0);
  /** NaN: never had one. */
  #deadlines = new Float64Array(0);
  readonly #queue = new Heap<number>();
  /** Virtual time: the deadline that was served last. */
  #now = 0;

  constructor(source: Dice) {
    this.#dice = source;
  }

  pick(request: PickRequest): number | undefined {
    if (this.#fit.length === 0) return undefined;
    const tried = request.tried;
    if (tried === undefined || tried.length === 0 || countUntried(this.#fit, tried) === 0) return this.#serve();
    return this.#serveAnother(tried);
  }

  started(endpoint: number): void {
    this.#inFlight.started(endpoint);
  }

  finished(endpoint: number): void {
    this.#inFlight.finished(endpoint);
  }

  inFlight(endpoint: number): number {
    return this.#inFlight.of(endpoint);
  }

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    const ids = idsOf(fleet);
    this.#deadlines = carried(this.#deadlines, this.#ids, ids, Number.NaN);
    this.#ids = ids;
    this.#weights = Float64Array.from(fleet.endpoints, (endpoint) => endpoint.weight);
    this.#fit = fitEndpoints(fleet);
    this.#queue.clear();
    for (const endpoint of this.#fit) this.#queue.push(this.#firstDeadline(endpoint), endpoint);
  }

  /** Who was there keeps the deadline, unless it has been away for so long that it would be served many times in a row. */
  #firstDeadline(endpoint: number): number {
    const period = 1 / (this.#weights[endpoint] ?? 1);
    const before = this.#deadlines[endpoint] ?? Number.NaN;
    const deadline =
      before >= this.#now ? Math.min(before, this.#now + period) : this.#now + this.#dice.next() * period;
    this.#deadlines[endpoint] = deadline;
    return deadline;
  }

  #serve(): number | undefined {
    const endpoint = this.#queue.pop();
    if (endpoint === undefined) return undefined;
    this.#now = this.#deadlines[endpoint] ?? this.#now;
    this.#enqueue(endpoint, this.#now + 1 / (this.#weights[endpoint] ?? 1));
    return endpoint;
  }

  /** The first in the queue that has not been tried. Those before it keep their deadlines and their place. */
  #serveAnother(tried: readonly number[]): number | undefined {
    const passed: number[] = [];
    let chosen: number | undefined;
    for (;;) {
      const endpoint = this.#queue.pop();
      if (endpoint === undefined) break;
      if (!tried.includes(endpoint)) {
        chosen = endpoint;
        break;
      }
      passed.push(endpoint);
    }
    for (const endpoint of passed) this.#queue.push(this.#deadlines[endpoint] ?? this.#now, endpoint);
    if (chosen !== undefined)
      this.#enqueue(chosen, (this.#deadlines[chosen] ?? this.#now) + 1 / (this.#weights[chosen] ?? 1));
    return chosen;
  }

  #enqueue(endpoint: number, deadline: number): void {
    this.#deadlines[endpoint] = deadline;
    this.#queue.push(deadline, endpoint);
  }
}
