// How long connections may be used: so many requests, or so long, whichever is over first. A connection that is spent carries what it
// carries to its end, and nothing more.

import { after, type Instant } from '../base.ts';
import { firstKeepAlive, type KeepAlive } from '../scenario.ts';
import type { Carrier } from './carrier.ts';

/** A connection that is opened with others, at the beginning of a run: it has a part of the usual life. */
export interface FirstOf {
  /** From 0. */
  readonly place: number;
  readonly of: number;
}

interface Life {
  requestsLeft: number;
  readonly until: number;
}

export class Lives {
  readonly #usual: KeepAlive;
  readonly #lives = new WeakMap<Carrier, Life>();

  constructor(usual: KeepAlive) {
    this.#usual = usual;
  }

  begin(connection: Carrier, first: FirstOf | undefined, now: Instant): void {
    const { requests, lifetime } =
      first === undefined ? this.#usual : firstKeepAlive(this.#usual, first.place, first.of);
    const until = lifetime === undefined ? Infinity : after(now, lifetime);
    this.#lives.set(connection, { requestsLeft: requests ?? Infinity, until });
  }

  /** It carries one more request. */
  use(connection: Carrier): void {
    const life = this.#lives.get(connection);
    if (life !== undefined) life.requestsLeft -= 1;
  }

  isSpent(connection: Carrier, now: Instant): boolean {
    const life = this.#lives.get(connection);
    return life !== undefined && (life.requestsLeft <= 0 || now >= life.until);
  }
}
