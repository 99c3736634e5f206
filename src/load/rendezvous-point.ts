// A place where users gather before a step, to take it together: the moment when tickets go on sale. They leave when enough
// have come, or, those who are there, when the first of them has waited long enough.

import { after, type Duration, type Instant } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';

export class RendezvousPoint {
  readonly #users: number;
  readonly #timeout: Duration;
  readonly #engine: Engine;
  readonly #release: (user: number, now: Instant) => void;
  #waiting: number[] = [];
  #alarm: Alarm | undefined;

  /** `release` is called for each user when the gathering leaves. */
  constructor(
    setting: { readonly users: number; readonly timeout: Duration },
    engine: Engine,
    release: (user: number, now: Instant) => void,
  ) {
    this.#users = setting.users;
    this.#timeout = setting.timeout;
    this.#engine = engine;
    this.#release = release;
  }

  arrive(user: number, now: Instant): void {
    this.#waiting.push(user);
    if (this.#waiting.length >= this.#users) this.#leave(now);
    else this.#alarm ??= this.#engine.alarm(after(now, this.#timeout), (at) => this.#leave(at));
  }

  /** Nobody waits any longer, and nobody is released. */
  close(): void {
    this.#alarm?.cancel();
    this.#waiting = [];
  }

  #leave(now: Instant): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    const leaving = this.#waiting;
    this.#waiting = [];
    for (const user of leaving) this.#release(user, now);
  }
}
