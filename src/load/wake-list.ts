// Who is to be woken when: one alarm for all of them, set for the earliest. Whoever is due at the same instant is woken in the order
// in which it was put down.
//
// Hot: `add`. Nothing is allocated but when more wait than ever did, and for an alarm that is earlier than the present one.

import { Heap, type Instant, instantAt } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';

/** `due` is when it was to be woken, `now` when it is. */
export type Wake = (who: number, due: Instant, now: Instant) => void;

export class WakeList {
  readonly #engine: Engine;
  readonly #wake: Wake;
  readonly #sleeping = new Heap<number>();
  #alarm: Alarm | undefined;
  #alarmAt: number = Infinity;

  constructor(engine: Engine, wake: Wake) {
    this.#engine = engine;
    this.#wake = wake;
  }

  add(due: Instant, who: number): void {
    this.#sleeping.push(due, who);
    if (due < this.#alarmAt) this.#arm(due);
  }

  /** Wakes everybody who is due by `now`, those included who are put down for then meanwhile. */
  readonly wakeUntil = (now: Instant): void => {
    for (;;) {
      const due = this.#sleeping.nextKey;
      if (due === undefined) return;
      if (due > now) {
        if (due < this.#alarmAt) this.#arm(instantAt(due));
        return;
      }
      const who = this.#sleeping.pop();
      if (who !== undefined) this.#wake(who, instantAt(due), now);
    }
  };

  /** Takes out whoever would be woken next, without waking it. */
  take(): number | undefined {
    return this.#sleeping.pop();
  }

  /** Nobody is woken any more. */
  clear(): void {
    this.#alarm?.cancel();
    this.#alarmAt = Infinity;
    this.#sleeping.clear();
  }

  #arm(at: Instant): void {
    this.#alarm?.cancel();
    this.#alarmAt = at;
    this.#alarm = this.#engine.alarm(at, this.#ring);
  }

  readonly #ring = (now: Instant): void => {
    this.#alarmAt = Infinity;
    this.wakeUntil(now);
  };
}
