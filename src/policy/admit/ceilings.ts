// Fixed ceilings on what may be going on at a time: connections, requests, waiting requests, retries. The oldest protection
// there is: what is beyond the ceiling is refused at once, for nothing, instead of waiting and failing later, expensively.
// (Envoy calls these circuit breakers; here a breaker is the thing that opens and closes, see `health/breaker.ts`.)
//
// A ceiling must be chosen, and the right one changes with every release; `gradient.ts` finds it instead.

import { assert } from '../../base.ts';

export interface Ceilings {
  readonly connections: number;
  readonly requests: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  readonly retries: number;
}

export type Ceiling = keyof Ceilings;

/** Envoy's defaults. */
export const defaultCeilings: Ceilings = { connections: 1024, requests: 1024, waiting: 1024, retries: 3 };

export class CeilingCounts {
  readonly #ceilings: Ceilings;
  readonly #present: Record<Ceiling, number> = { connections: 0, requests: 0, waiting: 0, retries: 0 };
  readonly #refused: Record<Ceiling, number> = { connections: 0, requests: 0, waiting: 0, retries: 0 };

  constructor(ceilings: Ceilings) {
    this.#ceilings = ceilings;
  }

  /** Hot. Takes a place if there is one. */
  enter(which: Ceiling): boolean {
    if (this.#present[which] >= this.#ceilings[which]) {
      this.#refused[which] += 1;
      return false;
    }
    this.#present[which] += 1;
    return true;
  }

  /** Hot. Gives the place back. */
  leave(which: Ceiling): void {
    assert(this.#present[which] > 0, 'who leaves has entered');
    this.#present[which] -= 1;
  }

  present(which: Ceiling): number {
    return this.#present[which];
  }

  /** Places left; what a person wants to see before it is 0. */
  remaining(which: Ceiling): number {
    return this.#ceilings[which] - this.#present[which];
  }

  refused(which: Ceiling): number {
    return this.#refused[which];
  }
}
