// The one that would cost the least time: the estimate of an endpoint's latency, times the requests that wait there already.
// The estimate is a peak: it jumps up at once with a slow answer and comes down slowly, so that an endpoint that turns bad is
// left alone within one answer and is trusted again only bit by bit (Finagle 2015).
//
//   on an answer of latency x after Δt:   cost = max(x, cost · e^(−Δt/τ))
//   between answers:                      cost fades as e^(−t/τ), so that nobody is shunned for ever
//   score                                 cost · (in flight + 1)
//
//   cost │   ╷
//        │   │╲___            one slow answer, then good ones
//        │___│    ╲________
//        └──────────────► t
//
// Chosen by two choices, not by a scan: many balancers with the same estimates would all run to the same endpoint.
//
// Fast failures look attractive (an endpoint that refuses everything in a millisecond would get everything), so a failure is
// counted as if it had taken `failurePenalty`. An endpoint that has never answered is asked once: it scores best while
// nothing is in flight there, and worst until that one comes back.
// It misbehaves when latency depends on the request and not on the endpoint: a slow page makes its endpoint look slow.
//
// τ = 10 s as everywhere; the penalty is Linkerd's 5 s. The formula as it is usually written mixes an answer below the cost
// into it, cost·α + x·(1 − α), but the programs that have it also fade the stored cost at each look, and what is left of the
// mixture then is this maximum. Written out, a look changes nothing; and an endpoint that has recovered is not punished for
// being tried (with the mixture and no fading at looks, such a one stayed at 4 of 12,000 requests).

import { assert, type Dice, dice, type Duration, type Instant, seconds } from '../../base.ts';
import type { Balancer, Fleet, PickOutcome, PickRequest } from './balancer.ts';
import { carried, idsOf } from './carry.ts';
import { countUntried, fitEndpoints, nthUntried } from './fit.ts';
import { InFlight } from './in-flight.ts';

export interface PeakEwmaOptions {
  readonly seed: number;
  /** The age at which an estimate counts 1/e. */
  readonly timeConstant?: Duration;
  /** Latency that a failure stands for, if it took less. */
  readonly failurePenalty?: Duration;
}

export function peakEwma(options: PeakEwmaOptions): Balancer {
  const timeConstant = options.timeConstant ?? seconds(10);
  assert(timeConstant > 0, 'a time constant is positive');
  return new PeakEwma(dice(options.seed, 'balance/peak-ewma'), timeConstant, options.failurePenalty ?? seconds(5));
}

/** The estimate after one more latency. `before` is undefined for the first. Pure, and the whole of the formula. */
export function nextCost(before: number | undefined, latency: number, age: number, timeConstant: number): number {
  return before === undefined ? latency : Math.max(latency, faded(before, age, timeConstant));
}

function faded(cost: number, age: number, timeConstant: number): number {
  return cost * Math.exp(-age / timeConstant);
}

class PeakEwma implements Balancer {
  readonly name = 'peak-ewma';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  readonly #timeConstant: Duration;
  readonly #failurePenalty: Duration;
  #fit: readonly number[] = [];
  #ids: readonly string[] = [];
  #weights = new Float64Array(0);
  /** In ns as of `#stamps`; NaN while nothing is known. */
  #costs = new Float64Array(0);
  #stamps = new Float64Array(0);
  /** Who was compared last. */
  readonly #drawn: number[] = [];

  constructor(source: Dice, timeConstant: Duration, failurePenalty: Duration) {
    this.#dice = source;
    this.#timeConstant = timeConstant;
    this.#failurePenalty = failurePenalty;
  }

  pick(request: PickRequest, now: Instant): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    if (fit.length === 1) return fit[0];
    const tried = request.tried;
    if (tried !== undefined && tried.length > 0) {
      const untried = countUntried(fit, tried);
      if (untried > 0) return nthUntried(fit, tried, this.#dice.below(untried));
    }
    const firstPlace = this.#dice.below(fit.length);
    const step = this.#dice.below(fit.length - 1);
    const first = fit[firstPlace] ?? 0;
    const second = fit[step < firstPlace ? step : step + 1] ?? 0;
    this.#drawn[0] = first;
    this.#drawn[1] = second;
    return this.#score(second, now) < this.#score(first, now) ? second : first;
  }

  started(endpoint: number): void {
    this.#inFlight.started(endpoint);
  }

  finished(endpoint: number, outcome: PickOutcome, now: Instant): void {
    this.#inFlight.finished(endpoint);
    const latency = outcome.ok ? outcome.latency : Math.max(outcome.latency, this.#failurePenalty);
    const before = this.#costs[endpoint] ?? Number.NaN;
    const age = now - (this.#stamps[endpoint] ?? now);
    this.#costs[endpoint] = nextCost(Number.isNaN(before) ? undefined : before, latency, age, this.#timeConstant);
    this.#stamps[endpoint] = now;
  }

  inFlight(endpoint: number): number {
    return this.#inFlight.of(endpoint);
  }

  /** In ns, weighed. */
  score(endpoint: number, now: Instant): number {
    return this.#score(endpoint, now);
  }

  drawn(): readonly number[] {
    return this.#drawn;
  }

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    const ids = idsOf(fleet);
    this.#costs = carried(this.#costs, this.#ids, ids, Number.NaN);
    this.#stamps = carried(this.#stamps, this.#ids, ids, 0);
    this.#ids = ids;
    this.#weights = Float64Array.from(fleet.endpoints, (endpoint) => endpoint.weight);
    this.#fit = fitEndpoints(fleet);
  }

  #score(endpoint: number, now: Instant): number {
    const pending = this.#inFlight.of(endpoint);
    const cost = this.#costs[endpoint] ?? Number.NaN;
    // Unknown: one may ask; nobody else does until it has answered.
    if (Number.isNaN(cost)) return pending === 0 ? -1 : Infinity;
    const present = faded(cost, now - (this.#stamps[endpoint] ?? now), this.#timeConstant);
    return (present * (pending + 1)) / (this.#weights[endpoint] ?? 1);
  }
}
