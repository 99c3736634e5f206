// How many requests at a time are good for it? Latency tells: as long as it is what it was with nothing waiting, more may come in;
// when it rises, requests are queueing, and letting more in only makes the queue longer. So the limit follows the ratio of
// the two (Netflix 2018; the formula is that of Envoy's gradient controller):
//
//   gradient = clamp(minRtt · (1 + buffer) ÷ sampleRtt, 0.5, 2)
//   limit    = gradient · limit + √limit          the root lets it grow when latency is good, and is the queue it tolerates
//
//   measuring minRtt: from time to time the limit is held at `measureLimit` for so many requests, so that nothing waits
//
//     limit │      ╱╲    ╱╲╱╲
//           │  ╱╲╱╱  ╲╱╱╱    │  ┌─ ─
//           │ ╱              └──┘ measuring
//           └────────────────────────► t
//
// Latency is judged by a quantile (the median) of a window, since a mean follows the slowest page. A window ends after `window`
// if it has `samplesMin` latencies.
//
// It misbehaves when latency changes for another reason than load (a slow dependency looks like overload, and half the
// traffic is refused for it), and while it measures, it refuses what it could have served.

import { after, assert, type Dice, type Duration, type Instant, ms, ns, seconds } from '../../base.ts';
import { RecentQuantile } from '../balance/recent-quantile.ts';

export interface GradientSettings {
  readonly limitInitial: number;
  readonly limitMin: number;
  readonly limitMax: number;
  /** Latency above the least that is still taken for none: 0.25. */
  readonly buffer: number;
  readonly quantile: number;
  readonly window: Duration;
  readonly samplesMin: number;
  /** Between two measurements of the least latency; moved by chance by up to `measureJitter`. */
  readonly measureInterval: Duration;
  readonly measureJitter: number;
  /** Requests that make a measurement, and how many may be inside meanwhile. */
  readonly measureRequests: number;
  readonly measureLimit: number;
}

export const defaultGradientSettings: GradientSettings = {
  limitInitial: 50,
  limitMin: 3,
  limitMax: 1000,
  buffer: 0.25,
  quantile: 0.5,
  window: ms(100),
  samplesMin: 10,
  measureInterval: seconds(60),
  measureJitter: 0.15,
  measureRequests: 50,
  measureLimit: 3,
};

/** The next limit. Pure, and the whole of the formula. */
export function nextLimit(limit: number, leastRtt: number, sampleRtt: number, settings: GradientSettings): number {
  const gradient = Math.min(2, Math.max(0.5, (leastRtt * (1 + settings.buffer)) / sampleRtt));
  return Math.min(settings.limitMax, Math.max(settings.limitMin, gradient * limit + Math.sqrt(limit)));
}

export class GradientLimit {
  readonly #settings: GradientSettings;
  readonly #dice: Dice;
  readonly #samples = new RecentQuantile(256);
  #limit: number;
  #inFlight = 0;
  #leastRtt: number | undefined;
  #phase: 'measuring' | 'following' = 'measuring';
  /** The window, or the interval between measurements, ends then. */
  #windowEnd: Instant;
  #measureAt: Instant;
  #sampleCount = 0;
  /** Windows in a row at the lowest limit: the least latency is then no longer believed. */
  #windowsAtMin = 0;
  #measured = new RecentQuantile(256);

  constructor(settings: GradientSettings, dice: Dice, now: Instant) {
    assert(settings.limitMin >= 1 && settings.limitMax >= settings.limitMin, 'at least one request may be inside');
    this.#settings = settings;
    this.#dice = dice;
    this.#limit = settings.limitInitial;
    this.#windowEnd = after(now, settings.window);
    this.#measureAt = now;
  }

  /** Requests that may be inside now. */
  get limit(): number {
    const { measureLimit, limitMin } = this.#settings;
    return this.#phase === 'measuring' ? Math.max(measureLimit, limitMin) : Math.floor(this.#limit);
  }

  get phase(): 'measuring' | 'following' {
    return this.#phase;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Hot. Takes a place if there is one. */
  enter(now: Instant): boolean {
    if (this.#phase === 'following' && now >= this.#measureAt) this.#measure();
    if (this.#inFlight >= this.limit) return false;
    this.#inFlight += 1;
    return true;
  }

  /** Hot. Gives the place back. A failure says nothing of latency: pass undefined. */
  leave(latency: Duration | undefined, now: Instant): void {
    assert(this.#inFlight > 0, 'who leaves has entered');
    this.#inFlight -= 1;
    if (latency === undefined) return;
    if (this.#phase === 'measuring') this.#whileMeasuring(latency, now);
    else this.#whileFollowing(latency, now);
  }

  #measure(): void {
    this.#phase = 'measuring';
    this.#sampleCount = 0;
    this.#measured = new RecentQuantile(256);
  }

  #whileMeasuring(latency: Duration, now: Instant): void {
    this.#measured.add(latency);
    this.#sampleCount += 1;
    if (this.#sampleCount < this.#settings.measureRequests) return;
    const { measureInterval, measureJitter, quantile, window } = this.#settings;
    this.#leastRtt = this.#measured.quantile(quantile);
    this.#phase = 'following';
    this.#sampleCount = 0;
    this.#windowsAtMin = 0;
    this.#windowEnd = after(now, window);
    this.#measureAt = after(now, ns(measureInterval * (1 + measureJitter * this.#dice.next())));
  }

  #whileFollowing(latency: Duration, now: Instant): void {
    this.#samples.add(latency);
    this.#sampleCount += 1;
    const { window, samplesMin, quantile, limitMin } = this.#settings;
    if (now < this.#windowEnd || this.#sampleCount < samplesMin) return;
    const leastRtt = this.#leastRtt ?? latency;
    this.#limit = nextLimit(this.#limit, leastRtt, this.#samples.quantile(quantile), this.#settings);
    this.#sampleCount = 0;
    this.#windowEnd = after(now, window);
    this.#windowsAtMin = this.#limit <= limitMin ? this.#windowsAtMin + 1 : 0;
    if (this.#windowsAtMin >= 5) this.#measureAt = now;
  }
}
