// Always the first of the list: an anti-pattern with a name. It is what a client does that asks a registry for addresses and
// takes index 0, and it is gRPC's default. One endpoint carries everything; adding endpoints changes nothing, because the
// bottleneck is not their number. It is here so that the lab and the simulator can show it.

import type { Balancer, Fleet, PickRequest } from './balancer.ts';
import { fitEndpoints, nthUntried } from './fit.ts';
import { InFlight } from './in-flight.ts';

export function pickFirst(): Balancer {
  return new PickFirst();
}

class PickFirst implements Balancer {
  readonly name = 'pick-first';
  readonly #inFlight = new InFlight();
  #fit: readonly number[] = [];

  pick(request: PickRequest): number | undefined {
    const first = this.#fit[0];
    return request.tried === undefined ? first : (nthUntried(this.#fit, request.tried, 0) ?? first);
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
    this.#fit = fitEndpoints(fleet);
  }
}
