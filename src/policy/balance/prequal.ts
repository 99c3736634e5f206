// Ask before sending (Prequal; Wydrowski and others, NSDI 2024). A small pool holds fresh readings of a few random endpoints:
// how many requests are inside, and how long a request there takes at present. A request goes by the pool, not by the fleet:
//
//   hot    a reading whose requests-in-flight is above the Q-quantile of those seen lately
//   choose the cold reading with the least latency; if all are hot, the one with the fewest requests inside
//
//   in flight
//     ▲      hot    ✕     ✕            in flight protects memory and CPU of the full ones,
//   Q ┼ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─            latency chooses among the rest
//     │   ✕    cold    ✕
//     └──────────────────► latency
//
// Readings come from probes, `probesPerPick` to random endpoints for each request. Whoever can send them asks `probes` whom to
// ask and passes the answers to `probed`. Where nobody can, each probe is answered from what this balancer knows itself: what
// it has in flight there and how long answers from there took lately, fading with time so that a slow endpoint is tried
// again. For a gateway that is alone before its endpoints that is the truth; for one of many it is a share of it.
// (Taking the answers themselves as readings would be free, and wrong: whoever is asked would be known, and so asked again.)
//
// A reading is used at most a few times, counts the requests sent on its word, and is thrown away when it is old; after each
// pick the oldest or the worst, in turn, is thrown away as well, so that the pool does not fill up with what nobody wants.
//
// Q is 0.6 here. The paper's 0.84 herded onto few endpoints in an independent simulation (prequal-rs) when the pool was small.
// A failure is read as `failurePenalty` of latency: an endpoint that refuses quickly must not look quick.
// It misbehaves when probes compete with the work (CPU-bound endpoints with tiny requests), and with fewer than two readings
// it is plain random.
//
// Hot: pick scans 16 slots and allocates nothing.

import { assert, type Dice, dice, type Duration, type Instant, ms, seconds } from '../../base.ts';
import type { Balancer, Fleet, PickOutcome, PickRequest } from './balancer.ts';
import { carried, idsOf } from './carry.ts';
import { countUntried, fitEndpoints, nthUntried } from './fit.ts';
import { InFlight } from './in-flight.ts';
import { RecentQuantile } from './recent-quantile.ts';

export interface PrequalOptions {
  readonly seed: number;
  readonly poolSize?: number;
  readonly ageMax?: Duration;
  readonly probesPerPick?: number;
  /** Readings thrown away after each pick. */
  readonly removalsPerPick?: number;
  /** Readings at or below this quantile of recent requests-in-flight are cold. */
  readonly hotQuantile?: number;
  readonly failurePenalty?: Duration;
  /** Who answers probes: this balancer itself, by default, or the endpoints by way of `probes` and `probed`. */
  readonly probing?: 'own' | 'endpoints';
}

/** What an endpoint says of itself. */
export interface Reading {
  readonly inFlight: number;
  readonly latency: Duration;
}

export interface ProbingBalancer extends Balancer {
  /** Whom to ask now, after a pick: writes indices into `into` and returns how many. None when it answers itself. */
  probes(into: Int32Array): number;
  /** An endpoint has answered a probe. */
  probed(endpoint: number, reading: Reading, now: Instant): void;
}

export function prequal(options: PrequalOptions): ProbingBalancer {
  return new Prequal(options);
}

/** How often a reading may be used so that the pool neither runs dry nor outlives its truth (the paper's b_reuse, with δ = 1).
 * `pool` and `fleet` are sizes. At least 1; as often as `most` when probes do not keep up with removals at all. */
export function reuseBudget(pool: number, fleet: number, probes: number, removals: number, most = 16): number {
  const left = (1 - pool / fleet) * probes - removals;
  return left <= 0 ? most : Math.min(most, Math.max(1, 2 / left));
}

const defaultPoolSize = 16;
/** The age at which a latency of its own counts 1/e. */
const memory: Duration = seconds(10);

class Prequal implements ProbingBalancer {
  readonly name = 'prequal';
  readonly #inFlight = new InFlight();
  readonly #dice: Dice;
  readonly #ageMax: Duration;
  readonly #probesPerPick: number;
  readonly #removalsPerPick: number;
  readonly #hotQuantile: number;
  readonly #failurePenalty: Duration;
  readonly #asksEndpoints: boolean;
  /** For answering itself: how long answers took lately, in ns as of `#heardAt`. */
  #latencies = new Float64Array(0);
  #heardAt = new Float64Array(0);
  readonly #recent = new RecentQuantile(128);
  #fit: readonly number[] = [];
  #ids: readonly string[] = [];
  #isFit: readonly boolean[] = [];
  /** The pool: `#size` readings in the first places of these arrays, oldest first. */
  readonly #poolEndpoint: Int32Array;
  readonly #poolInFlight: Float64Array;
  readonly #poolLatency: Float64Array;
  readonly #poolAt: Float64Array;
  readonly #poolUses: Float64Array;
  #size = 0;
  #removesOldest = true;
  #probeDebt = 0;
  #removalDebt = 0;

  constructor(options: PrequalOptions) {
    const size = options.poolSize ?? defaultPoolSize;
    assert(Number.isInteger(size) && size >= 2, 'a pool has room for two readings at least');
    this.#dice = dice(options.seed, 'balance/prequal');
    this.#ageMax = options.ageMax ?? seconds(1);
    this.#probesPerPick = options.probesPerPick ?? 3;
    this.#removalsPerPick = options.removalsPerPick ?? 1;
    this.#hotQuantile = options.hotQuantile ?? 0.6;
    this.#failurePenalty = options.failurePenalty ?? ms(5000);
    this.#asksEndpoints = options.probing === 'endpoints';
    this.#poolEndpoint = new Int32Array(size);
    this.#poolInFlight = new Float64Array(size);
    this.#poolLatency = new Float64Array(size);
    this.#poolAt = new Float64Array(size);
    this.#poolUses = new Float64Array(size);
  }

  pick(request: PickRequest, now: Instant): number | undefined {
    const fit = this.#fit;
    if (fit.length === 0) return undefined;
    this.#probeDebt = Math.min(this.#probeDebt + this.#probesPerPick, fit.length);
    if (!this.#asksEndpoints) this.#askItself(now);
    const tried = request.tried ?? nobody;
    this.#forgetOld(now);
    const place = this.#size < 2 ? -1 : this.#best(tried);
    const endpoint = place === -1 ? this.#anyone(tried) : this.#use(place);
    this.#removalDebt += this.#removalsPerPick;
    for (; this.#removalDebt >= 1; this.#removalDebt -= 1) if (this.#size > 2) this.#removeOne();
    return endpoint;
  }

  started(endpoint: number): void {
    this.#inFlight.started(endpoint);
  }

  finished(endpoint: number, outcome: PickOutcome, now: Instant): void {
    this.#inFlight.finished(endpoint);
    const latency = outcome.ok ? outcome.latency : Math.max(outcome.latency, this.#failurePenalty);
    // Halfway to the newest: one odd answer says little, and two are believed.
    const before = this.#latencies[endpoint] ?? 0;
    this.#latencies[endpoint] = before === 0 ? latency : (before + latency) / 2;
    this.#heardAt[endpoint] = now;
  }

  inFlight(endpoint: number): number {
    return this.#inFlight.of(endpoint);
  }

  /** Of a hot reading the requests in flight, ten times a second each: behind every cold one, whose score is its latency in ns. */
  score(endpoint: number): number | undefined {
    const place = this.#poolEndpoint.subarray(0, this.#size).indexOf(endpoint);
    if (place === -1) return undefined;
    const inFlight = this.#poolInFlight[place] ?? 0;
    const cold = inFlight <= this.#recent.quantile(this.#hotQuantile);
    return cold ? (this.#poolLatency[place] ?? 0) : inFlight * seconds(10);
  }

  probes(into: Int32Array): number {
    if (!this.#asksEndpoints) return 0;
    const fit = this.#fit;
    const count = Math.min(Math.floor(this.#probeDebt), into.length, fit.length);
    this.#probeDebt -= count;
    // Without replacement: count consecutive places from a random one would always ask the same neighbours, so each is drawn.
    for (let drawn = 0; drawn < count; drawn++) {
      let endpoint = 0;
      do endpoint = fit[this.#dice.below(fit.length)] ?? 0;
      while (contains(into, drawn, endpoint));
      into[drawn] = endpoint;
    }
    return count;
  }

  probed(endpoint: number, reading: Reading, now: Instant): void {
    this.#enter(endpoint, reading.inFlight, reading.latency, now);
  }

  rebuild(fleet: Fleet): void {
    this.#inFlight.rebuild(fleet);
    const ids = idsOf(fleet);
    this.#latencies = carried(this.#latencies, this.#ids, ids, 0);
    this.#heardAt = carried(this.#heardAt, this.#ids, ids, 0);
    const placeOf = new Map(ids.map((id, index) => [id, index]));
    this.#fit = fitEndpoints(fleet);
    this.#isFit = fleet.endpoints.map((_, index) => this.#fit.includes(index));
    for (let place = this.#size - 1; place >= 0; place--) {
      const index = placeOf.get(this.#ids[this.#poolEndpoint[place] ?? 0] ?? '');
      if (index === undefined || this.#isFit[index] !== true) this.#remove(place);
      else this.#poolEndpoint[place] = index;
    }
    this.#ids = ids;
  }

  #askItself(now: Instant): void {
    for (; this.#probeDebt >= 1; this.#probeDebt -= 1) {
      const endpoint = this.#fit[this.#dice.below(this.#fit.length)] ?? 0;
      const faded = (this.#latencies[endpoint] ?? 0) * Math.exp(((this.#heardAt[endpoint] ?? 0) - now) / memory);
      this.#enter(endpoint, this.#inFlight.of(endpoint), faded, now);
    }
  }

  #enter(endpoint: number, inFlight: number, latency: number, now: Instant): void {
    this.#recent.add(inFlight);
    if (this.#isFit[endpoint] !== true) return;
    // One reading for each endpoint, the newest: with few endpoints the pool would otherwise hold the same one sixteen times.
    for (let place = 0; place < this.#size; place++) {
      if (this.#poolEndpoint[place] !== endpoint) continue;
      this.#remove(place);
      break;
    }
    if (this.#size === this.#poolEndpoint.length) this.#remove(0);
    const place = this.#size;
    this.#poolEndpoint[place] = endpoint;
    this.#poolInFlight[place] = inFlight;
    this.#poolLatency[place] = latency;
    this.#poolAt[place] = now;
    this.#poolUses[place] = reuseBudget(this.#size, this.#fit.length, this.#probesPerPick, this.#removalsPerPick);
    this.#size += 1;
  }

  /** The place of the reading to go by, −1 when all are of endpoints already tried. */
  #best(tried: readonly number[]): number {
    const hotAbove = this.#recent.quantile(this.#hotQuantile);
    let best = -1;
    let bestIsCold = false;
    let bestValue = Infinity;
    for (let place = 0; place < this.#size; place++) {
      if (tried.length > 0 && tried.includes(this.#poolEndpoint[place] ?? -1)) continue;
      const inFlight = this.#poolInFlight[place] ?? 0;
      const isCold = inFlight <= hotAbove;
      if (bestIsCold && !isCold) continue;
      const value = isCold ? (this.#poolLatency[place] ?? 0) : inFlight;
      if (isCold === bestIsCold && value >= bestValue) continue;
      best = place;
      bestIsCold = isCold;
      bestValue = value;
    }
    return best;
  }

  #use(place: number): number {
    const endpoint = this.#poolEndpoint[place] ?? 0;
    this.#poolInFlight[place] = (this.#poolInFlight[place] ?? 0) + 1;
    const uses = (this.#poolUses[place] ?? 1) - 1;
    this.#poolUses[place] = uses;
    if (uses <= 0) this.#remove(place);
    return endpoint;
  }

  #anyone(tried: readonly number[]): number | undefined {
    const fit = this.#fit;
    const untried = tried.length === 0 ? fit.length : countUntried(fit, tried);
    if (untried === fit.length || untried === 0) return fit[this.#dice.below(fit.length)];
    return nthUntried(fit, tried, this.#dice.below(untried));
  }

  #forgetOld(now: Instant): void {
    while (this.#size > 0 && now - (this.#poolAt[0] ?? 0) > this.#ageMax) this.#remove(0);
  }

  /** The oldest and the worst in turn: age alone keeps a bad reading that nobody uses for its whole life. */
  #removeOne(): void {
    this.#removesOldest = !this.#removesOldest;
    this.#remove(this.#removesOldest ? 0 : this.#worst());
  }

  /** If anything is hot, the fullest; otherwise the slowest. */
  #worst(): number {
    const hotAbove = this.#recent.quantile(this.#hotQuantile);
    let fullest = 0;
    let slowest = 0;
    for (let place = 1; place < this.#size; place++) {
      if ((this.#poolInFlight[place] ?? 0) > (this.#poolInFlight[fullest] ?? 0)) fullest = place;
      if ((this.#poolLatency[place] ?? 0) > (this.#poolLatency[slowest] ?? 0)) slowest = place;
    }
    return (this.#poolInFlight[fullest] ?? 0) > hotAbove ? fullest : slowest;
  }

  /** By hand: `copyWithin` costs some 50 ns a call, for five arrays of at most sixteen. */
  #remove(place: number): void {
    this.#size -= 1;
    for (let to = place; to < this.#size; to++) {
      this.#poolEndpoint[to] = this.#poolEndpoint[to + 1] ?? 0;
      this.#poolInFlight[to] = this.#poolInFlight[to + 1] ?? 0;
      this.#poolLatency[to] = this.#poolLatency[to + 1] ?? 0;
      this.#poolAt[to] = this.#poolAt[to + 1] ?? 0;
      this.#poolUses[to] = this.#poolUses[to + 1] ?? 0;
    }
  }
}

const nobody: readonly number[] = [];

function contains(list: Int32Array, length: number, value: number): boolean {
  for (let index = 0; index < length; index++) if (list[index] === value) return true;
  return false;
}
