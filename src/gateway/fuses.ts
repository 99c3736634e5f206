// Performs what each endpoint's breaker decides: takes the endpoint out when it opens, and when its pause is over lets it back in
// for exactly one request, whose answer decides. While the trial is out, nobody else is sent there.
//
//   closed ──► tripped ──(pause)──► fit for one ──(its request starts)──► tripped ──► closed, or tripped for longer
//
// The last endpoint that is fit is spared: with nobody left, a breaker would only turn bad answers into 503.
// With panic an endpoint may be asked while it is out; what it answers then is not a trial.

import { type Dice, dice, type Instant } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import { Breaker, type BreakerSettings } from '../policy.ts';
import type { LiveEndpoint } from './live-endpoint.ts';

/** What a fuse can do to the fleet. */
export interface Fused {
  readonly endpoints: readonly LiveEndpoint[];
  setTripped(live: LiveEndpoint, tripped: boolean): void;
}

interface Fuse {
  readonly breaker: Breaker;
  alarm: Alarm | undefined;
}

export class Fuses {
  readonly #clock: Pick<Engine, 'now' | 'alarm'>;
  readonly #fleet: Fused;
  readonly #settings: BreakerSettings;
  readonly #dice: Dice;
  readonly #fuses = new Map<LiveEndpoint, Fuse>();
  #ended = false;

  constructor(clock: Pick<Engine, 'now' | 'alarm'>, fleet: Fused, settings: BreakerSettings, seed: number) {
    this.#clock = clock;
    this.#fleet = fleet;
    this.#settings = settings;
    this.#dice = dice(seed, 'gateway/fuses');
  }

  /** Watches exactly the endpoints that are in the fleet now. */
  follow(): void {
    const present = new Set(this.#fleet.endpoints);
    for (const [live, fuse] of this.#fuses) {
      if (present.has(live)) continue;
      fuse.alarm?.cancel();
      this.#fuses.delete(live);
    }
    for (const live of present) {
      if (this.#fuses.has(live)) continue;
      this.#fuses.set(live, { breaker: new Breaker(this.#settings, this.#dice), alarm: undefined });
    }
  }

  /** Hot where configured. A request has been sent: on probation it is the trial, and the only one. */
  started(live: LiveEndpoint, now: Instant): void {
    const fuse = this.#fuses.get(live);
    if (fuse === undefined || fuse.breaker.stateAt(now) === 'closed' || !fuse.breaker.allows(now)) return;
    fuse.breaker.started(now);
    live.trials += 1;
    this.#trip(live, fuse, now);
  }

  /** Hot where configured. What came of a request. */
  finished(live: LiveEndpoint, ok: boolean, now: Instant): void {
    const fuse = this.#fuses.get(live);
    const state = fuse?.breaker.finished(ok, now);
    if (fuse === undefined || state === undefined) return;
    if (state === 'closed') {
      fuse.alarm?.cancel();
      this.#fleet.setTripped(live, false);
    } else {
      live.trips += 1;
      this.#trip(live, fuse, now);
    }
  }

  /** A trial that came to nothing (the client left): the next request is one. */
  forgiven(live: LiveEndpoint, now: Instant): void {
    const fuse = this.#fuses.get(live);
    if (fuse?.breaker.abandoned(now) === true) this.#fleet.setTripped(live, false);
  }

  end(): void {
    this.#ended = true;
    for (const fuse of this.#fuses.values()) fuse.alarm?.cancel();
  }

  /** Out until the breaker allows a request again. */
  #trip(live: LiveEndpoint, fuse: Fuse, now: Instant): void {
    fuse.alarm?.cancel();
    const next = fuse.breaker.nextAt(now);
    if (next === undefined || this.#ended) return;
    const othersFit = this.#fleet.endpoints.some((other) => other !== live && other.fit);
    if (!othersFit && !live.tripped) {
      live.spared += 1;
      return;
    }
    this.#fleet.setTripped(live, true);
    fuse.alarm = this.#clock.alarm(next, () => this.#fleet.setTripped(live, false));
  }
}
