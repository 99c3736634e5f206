// Stay in the zone while the zone can carry it. A request that crosses a zone costs time and money; a zone that is asked for
// more than its endpoints can serve costs more. So the local share is what the zone's endpoints are worth, measured by what
// this zone asks for:
//
//   local capacity   L = healthy weight here ÷ healthy weight everywhere
//   local demand     D = requests that enter here ÷ requests that enter everywhere
//   local share      min(1, L ÷ D)          the rest goes to the other zones, in proportion to their weight
//
//   D = 1/3, L = 1/3: everything stays. One of three local endpoints dies: L = 2/8, so 75 % stay and 25 % leave.
//
// The share moves at most `slew` per second. Without that, the first deaths in one zone would throw their whole load onto
// endpoints elsewhere within one update; that jump is a documented gap of Envoy's slow start. Moving home is slewed as well,
// since what comes back may be cold.
//
// In a fleet of fewer than `fleetMin` (6) endpoints a zone has one or two, and one death more or less decides everything: then
// zones are not looked at.

import { after, assert, type Duration, dice, inSeconds, type Instant, ns, seconds, start } from '../../base.ts';
import type { Balancer, Fleet, PickOutcome, PickRequest } from './balancer.ts';
import { Layered } from './layered.ts';

export interface ZoneAwareOptions {
  readonly seed: number;
  /** Where this balancer stands. */
  readonly zone: string;
  /** The part of all requests that enters here: 1 ÷ number of zones when nothing better is known. */
  readonly demandHere?: number;
  readonly fleetMin?: number;
  /** Most that the local share moves in a second, 0.05 by default. */
  readonly slew?: number;
  /** Makes the balancer inside the zone and the one outside. */
  readonly inner: (layer: 'local' | 'remote' | 'all') => Balancer;
}

/** The share that stays, from healthy weights here and everywhere. 0 when there is nothing here. */
export function localShare(weightHere: number, weightEverywhere: number, demandHere: number): number {
  assert(demandHere > 0 && demandHere <= 1, 'the demand of a zone is a share of all demand');
  if (weightEverywhere === 0) return 0;
  return Math.min(1, weightHere / weightEverywhere / demandHere);
}

/** A share that moves towards its target at most so fast. Reading does not write. */
export class SlewedShare {
  readonly #perSecond: number;
  #from: number;
  #target: number;
  #since: Instant;

  constructor(value: number, perSecond: number, now: Instant) {
    assert(perSecond > 0, 'a share that cannot move is a constant');
    this.#perSecond = perSecond;
    this.#from = value;
    this.#target = value;
    this.#since = now;
  }

  at(now: Instant): number {
    const most = this.#perSecond * inSeconds(ns(now - this.#since));
    const distance = this.#target - this.#from;
    return Math.abs(distance) <= most ? this.#target : this.#from + Math.sign(distance) * most;
  }

  aim(target: number, now: Instant): void {
    this.#from = this.at(now);
    this.#since = now;
    this.#target = target;
  }
}

export function zoneAware(options: ZoneAwareOptions): ZoneAware {
  return new ZoneAware(options);
}

const layers = ['local', 'remote', 'all'] as const;
/** The shares are looked up anew after this long. */
const step: Duration = ns(seconds(1) / 10);

export class ZoneAware implements Balancer {
  readonly name = 'zone-aware';
  readonly #options: ZoneAwareOptions;
  readonly #layered: Layered;
  #share: SlewedShare | undefined;
  #active = false;
  #nextStep: Instant = start;
  #latest: Instant = start;

  constructor(options: ZoneAwareOptions) {
    this.#options = options;
    this.#layered = new Layered(dice(options.seed, 'balance/zone-aware'), (layer) =>
      options.inner(layers[layer] ?? 'all'),
    );
  }

  /** The share that stays in the zone now; undefined while zones are not looked at. */
  localShareAt(now: Instant): number | undefined {
    return this.#active ? this.#share?.at(now) : undefined;
  }

  pick(request: PickRequest, now: Instant): number | undefined {
    this.#latest = now;
    if (this.#active && now >= this.#nextStep) this.#setShares(now);
    return this.#layered.pick(request, now);
  }

  started(endpoint: number, now: Instant): void {
    this.#layered.started(endpoint, now);
  }

  finished(endpoint: number, outcome: PickOutcome, now: Instant): void {
    this.#layered.finished(endpoint, outcome, now);
  }

  inFlight(endpoint: number): number {
    return this.#layered.inFlight(endpoint);
  }

  score(endpoint: number, now: Instant): number | undefined {
    return this.#layered.score(endpoint, now);
  }

  drawn(): readonly number[] {
    return this.#layered.drawn();
  }

  rebuild(fleet: Fleet): void {
    const { zone, fleetMin = 6, slew = 0.05 } = this.#options;
    const now = this.#latest;
    const here = fleet.endpoints.map((endpoint) => endpoint.zone === zone);
    const weights = fleet.endpoints.map((endpoint, index) => (fleet.healthy[index] === true ? endpoint.weight : 0));
    const weightHere = weights.reduce((sum, weight, index) => sum + (here[index] === true ? weight : 0), 0);
    const weightEverywhere = weights.reduce((sum, weight) => sum + weight, 0);
    const zones = new Set(fleet.endpoints.map((endpoint) => endpoint.zone)).size;
    this.#active = fleet.endpoints.length >= fleetMin && weightHere > 0 && weightHere < weightEverywhere;
    const target = localShare(weightHere, weightEverywhere, this.#options.demandHere ?? 1 / Math.max(1, zones));
    // What is gone cannot be left slowly: without anybody here, all leave at once, and come back slowly.
    // A fleet that begins, or begins again, begins with what is right for it.
    if (weightEverywhere === 0) this.#share = undefined;
    else if (this.#share === undefined || weightHere === 0) this.#share = new SlewedShare(target, slew, now);
    else this.#share.aim(target, now);
    const healthy = fleet.healthy;
    this.#layered.rebuild(fleet, [
      { share: 0, members: here.map((is, index) => is && healthy[index] === true) },
      { share: 0, members: here.map((is, index) => !is && healthy[index] === true) },
      { share: 1, members: healthy },
    ]);
    if (this.#active) this.#setShares(now);
  }

  #setShares(now: Instant): void {
    const local = this.#share?.at(now) ?? 0;
    this.#layered.setShares([local, 1 - local, 0]);
    this.#nextStep = after(now, step);
  }
}
