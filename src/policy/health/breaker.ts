// A fuse for one endpoint. It burns through when too much fails, leaves the endpoint alone for a while, and then lets exactly one
// live request try: only a request that is served is proof that requests are served again. (A timer that simply lets
// everything back in sends a whole share of the traffic to find out; a health check asks something else.)
//
//            so many failures in a row, or
//            too few successes lately              the pause is over
//   ┌────────┐ ───────────────────► ┌──────┐ ───────────────────────► ┌───────────┐
//   │ closed │                      │ open │                          │ probation │
//   └────────┘ ◄──────────────────┐ └──────┘ ◄─────────────────────── └───────────┘
//                 it succeeded    └────────────── one request ─────────────┘   it failed: a longer pause
//
// The pause doubles from one opening to the next, with jitter so that many balancers do not try together, and starts small
// again after a success on probation that holds for a whole window. In probation a second request is refused until the
// first has come back, or until it has taken longer than `trialTimeout`: a request that hangs must not hang the endpoint.
//
// Shape and defaults are Linkerd's: 7 in a row; fewer than 80 % of at least 5 requests in 10 s; 1 s to 60 s, jitter 0.5.

import { after, assert, type Dice, type Duration, type Instant, ns, seconds } from '../../base.ts';
import { WindowCount } from '../../stats.ts';

export interface BreakerSettings {
  readonly failuresInARow: number;
  readonly window: Duration;
  readonly requestsMin: number;
  /** Successes ÷ requests over the window below which it opens. */
  readonly successShareMin: number;
  readonly pauseMin: Duration;
  readonly pauseMax: Duration;
  /** A pause is drawn from [p, p · (1 + jitter)]. */
  readonly jitter: number;
  readonly trialTimeout: Duration;
}

export const defaultBreakerSettings: BreakerSettings = {
  failuresInARow: 7,
  window: seconds(10),
  requestsMin: 5,
  successShareMin: 0.8,
  pauseMin: seconds(1),
  pauseMax: seconds(60),
  jitter: 0.5,
  trialTimeout: seconds(15),
};

export type BreakerState = 'closed' | 'open' | 'probation';

export class Breaker {
  readonly #settings: BreakerSettings;
  readonly #dice: Dice;
  #requests: WindowCount;
  #failures: WindowCount;
  #inARow = 0;
  /** How many openings in a row, for the length of the pause. */
  #openings = 0;
  #phase: Phase = { kind: 'closed', since: undefined };

  constructor(settings: BreakerSettings, dice: Dice) {
    assert(settings.failuresInARow >= 1, 'it takes one failure at least to open');
    assert(settings.pauseMin > 0 && settings.pauseMax >= settings.pauseMin, 'a pause has a length');
    this.#settings = settings;
    this.#dice = dice;
    this.#requests = new WindowCount(ns(settings.window / slots), slots);
    this.#failures = new WindowCount(ns(settings.window / slots), slots);
  }

  stateAt(now: Instant): BreakerState {
    const phase = this.#phase;
    if (phase.kind === 'closed') return 'closed';
    return phase.kind === 'open' && now < phase.until ? 'open' : 'probation';
  }

  /** May a request go there now? Asking changes nothing; `started` does. */
  allows(now: Instant): boolean {
    const phase = this.#phase;
    switch (phase.kind) {
      case 'closed':
        return true;
      case 'open':
        return now >= phase.until;
      case 'trying':
        return now >= phase.until;
    }
  }

  /** When `allows` may become true by itself; undefined while it is true. */
  nextAt(now: Instant): Instant | undefined {
    const phase = this.#phase;
    return phase.kind === 'closed' || now >= phase.until ? undefined : phase.until;
  }

  /** A request has been sent. On probation it is the trial. */
  started(now: Instant): void {
    assert(this.allows(now), 'nothing is sent through an open breaker');
    if (this.#phase.kind !== 'closed') this.#phase = { kind: 'trying', until: after(now, this.#settings.trialTimeout) };
  }

  /** What came of a request. Returns the state if that changed it. */
  finished(ok: boolean, now: Instant): BreakerState | undefined {
    switch (this.#phase.kind) {
      case 'closed':
        return this.#count(ok, now);
      case 'open':
        // Sent before it opened: it says nothing new.
        return undefined;
      case 'trying':
        return ok ? this.#close(now) : this.#open(now);
    }
  }

  /** The trial was broken off on our side: it proves nothing, and the next request is one. Says whether there was a trial. */
  abandoned(now: Instant): boolean {
    if (this.#phase.kind !== 'trying') return false;
    this.#phase = { kind: 'open', until: now };
    return true;
  }

  #count(ok: boolean, now: Instant): BreakerState | undefined {
    this.#requests.add(1, now);
    if (ok) {
      this.#inARow = 0;
      this.#forgive(now);
      return undefined;
    }
    this.#inARow += 1;
    this.#failures.add(1, now);
    return this.#inARow >= this.#settings.failuresInARow || this.#failsTooOften(now) ? this.#open(now) : undefined;
  }

  #failsTooOften(now: Instant): boolean {
    const requests = this.#requests.totalAt(now);
    if (requests < this.#settings.requestsMin) return false;
    return requests - this.#failures.totalAt(now) < this.#settings.successShareMin * requests;
  }

  #open(now: Instant): BreakerState {
    const { pauseMin, pauseMax, jitter } = this.#settings;
    const pause = Math.min(pauseMax, pauseMin * 2 ** Math.min(this.#openings, 30));
    this.#openings += 1;
    this.#phase = { kind: 'open', until: after(now, ns(pause * (1 + jitter * this.#dice.next()))) };
    return 'open';
  }

  #close(now: Instant): BreakerState {
    this.#inARow = 0;
    this.#requests = new WindowCount(ns(this.#settings.window / slots), slots);
    this.#failures = new WindowCount(ns(this.#settings.window / slots), slots);
    this.#phase = { kind: 'closed', since: now };
    return 'closed';
  }

  /** After a whole window of closed and well the next pause is a short one again. */
  #forgive(now: Instant): void {
    const phase = this.#phase;
    if (this.#openings === 0 || phase.kind !== 'closed' || phase.since === undefined) return;
    if (now >= after(phase.since, this.#settings.window)) this.#openings = 0;
  }
}

const slots = 10;

type Phase =
  /** `since`: when it closed after an opening. */
  | { readonly kind: 'closed'; readonly since: Instant | undefined }
  | { readonly kind: 'open'; readonly until: Instant }
  /** The trial is under way; given up at `until`. */
  | { readonly kind: 'trying'; readonly until: Instant };
