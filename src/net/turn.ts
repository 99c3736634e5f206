// The instant of this turn of Node's loop. The first question of a turn reads the clock; an immediate, which Node runs once after
// all sockets of the turn were served, marks the reading as stale and sends what was written. Sixty-four sockets that were ready
// together then see one instant, the one nearest to when their bytes had arrived, for one clock read and one immediate.
//
// Beside another engine on the same thread each question reads the clock: the other's callbacks come in between, and the
// beginning of our turn would be in their past.

import type { Instant } from '../base.ts';

export class Turn {
  readonly read: () => Instant;
  readonly #sharesThread: boolean;
  readonly #ended: () => void;
  #instant: Instant;
  #fresh = false;
  #immediate: NodeJS.Immediate | undefined;

  constructor(clock: () => Instant, sharesThread: boolean, ended: () => void) {
    this.read = clock;
    this.#sharesThread = sharesThread;
    this.#ended = ended;
    this.#instant = clock();
  }

  now(): Instant {
    if (!this.#fresh || this.#sharesThread) {
      this.#fresh = true;
      this.#instant = this.read();
      this.willEnd();
    }
    return this.#instant;
  }

  /** What the clock says now, and for the rest of this turn: an alarm that rings within it must not be later than what follows. */
  renew(): Instant {
    this.#instant = this.read();
    return this.#instant;
  }

  /** Sees to it that this turn has an end. */
  willEnd(): void {
    this.#immediate ??= setImmediate(this.#end);
  }

  close(): void {
    if (this.#immediate !== undefined) clearImmediate(this.#immediate);
    this.#immediate = undefined;
    this.#fresh = false;
  }

  readonly #end = (): void => {
    this.#immediate = undefined;
    this.#fresh = false;
    this.#ended();
  };
}
