// One alarm on Node's timers, which count whole milliseconds. The delay is rounded to the nearest of them, so the alarm rings
// up to half a millisecond early as often as late.

import { between, type Instant, instantAt } from '../../base.ts';

/** The process's clock: nanoseconds since it began. */
export function clock(): Instant {
  return instantAt(performance.now() * 1e6);
}

export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  #at: Instant | undefined;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings about `at`; a later instant that was set before is forgotten. Undefined: never. */
  set(at: Instant | undefined): void {
    if (at === this.#at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    if (at === undefined) return;
    const delayMs = Math.max(1, Math.round(between(clock(), at) / 1e6));
    this.#timer = setTimeout(() => {
      this.#at = undefined;
      this.#ring();
    }, delayMs);
  }
}
