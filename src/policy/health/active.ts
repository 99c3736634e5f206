// Asking an endpoint now and then whether it is well. One answer means little: a packet is lost, a collector runs. So an
// endpoint is taken out after `fall` failures in a row and brought back after `rise` successes in a row.
//
//              fall failures in a row
//        ┌──────┐ ───────────────► ┌──────┐
//        │  up  │                  │ down │
//        └──────┘ ◄─────────────── └──────┘
//              rise successes in a row
//
// The questions between may be put at another pace: `intervalEdge` while a change of mind is under way, `intervalDown` while it is
// down (HAProxy's fastinter and downinter; Envoy has four of them).
//
//   interval     interval     edge  edge       down         down     edge
//   ├── ✓ ──────────── ✗ ──────✗─────✗ fell ────────── ✗ ────────── ✓ ────✓ rose
//
// The first question falls at a random point of the interval and every next one is moved a little by chance: gateways that
// started together would otherwise ask together, and N gateways ask N times as often as one.
//
// It misbehaves when the answer shares a queue with the requests: a full endpoint then looks dead, its load moves to the
// others, and they follow (the cascade of "no healthy upstream"). The machine cannot tell; the diagnosis can.
//
// The machine performs nothing. It says when it wants to be asked (`next`), and is told what came of it.

import { after, assert, type Dice, type Duration, type Instant, instantAt, ns } from '../../base.ts';

export interface ActiveCheckSettings {
  /** From the beginning of one question to the beginning of the next. */
  readonly interval: Duration;
  readonly timeout: Duration;
  readonly fall: number;
  readonly rise: number;
  /** Share of the interval by which a question may move, either way; 0.1 by default. */
  readonly jitter?: number;
  /** Instead of `interval` while the endpoint is down: there is no hurry, or there is. */
  readonly intervalDown?: Duration;
  /** Instead of either while answers speak against the present state: a doubt is settled quickly. */
  readonly intervalEdge?: Duration;
  /** What an endpoint is until it has been asked; `up` by default, so that a fleet serves from its first second. */
  readonly initially?: 'up' | 'down';
}

export type HealthChange = 'rose' | 'fell' | 'same';

export class ActiveCheck {
  readonly #settings: ActiveCheckSettings;
  readonly #dice: Dice;
  #healthy: boolean;
  /** Answers in a row that speak against the present state. */
  #against = 0;
  #next: Instant;
  #askedAt: Instant;
  #asking = false;

  constructor(settings: ActiveCheckSettings, dice: Dice, now: Instant) {
    assert(settings.fall >= 1 && settings.rise >= 1, 'it takes one answer at least to change a mind');
    assert(settings.interval > 0 && settings.timeout > 0, 'a check has an interval and a timeout');
    this.#settings = settings;
    this.#dice = dice;
    this.#healthy = (settings.initially ?? 'up') === 'up';
    this.#next = after(now, ns(dice.next() * settings.interval));
    this.#askedAt = now;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  /** When the next question is due; undefined while one is being asked. */
  get next(): Instant | undefined {
    return this.#asking ? undefined : this.#next;
  }

  /** A question begins now. Returns the instant at which no answer counts as a failure. */
  asked(now: Instant): Instant {
    assert(!this.#asking, 'one question at a time');
    this.#asking = true;
    this.#askedAt = now;
    return after(now, this.#settings.timeout);
  }

  /** What came of the question: a good answer in time, or anything else. */
  observe(passed: boolean, now: Instant): HealthChange {
    assert(this.#asking, 'an answer follows a question');
    this.#asking = false;
    const change = this.#judge(passed);
    const jitter = this.#settings.jitter ?? 0.1;
    const moved = 1 + jitter * (2 * this.#dice.next() - 1);
    // An answer that took longer than the interval is followed by the next question at once, not by several.
    this.#next = instantAt(Math.max(now, after(this.#askedAt, ns(this.#interval * moved))));
    return change;
  }

  #judge(passed: boolean): HealthChange {
    if (passed === this.#healthy) {
      this.#against = 0;
      return 'same';
    }
    this.#against += 1;
    if (this.#against < (this.#healthy ? this.#settings.fall : this.#settings.rise)) return 'same';
    this.#healthy = passed;
    this.#against = 0;
    return passed ? 'rose' : 'fell';
  }

  get #interval(): Duration {
    const { interval, intervalDown, intervalEdge } = this.#settings;
    if (this.#against > 0 && intervalEdge !== undefined) return intervalEdge;
    return this.#healthy ? interval : (intervalDown ?? interval);
  }
}
