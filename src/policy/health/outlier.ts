// Taking out endpoints that answer worse than the others, by watching the traffic itself. Four reasons, each may be turned off:
//
//   consecutive     so many failures in a row                        noticed at once
//   success rate    far below the mean of the fleet                  noticed at the end of an interval
//   failure share   fails at least so often                          noticed at the end of an interval
//   latency         many times as slow as the median endpoint        noticed at the end of an interval; off by default
//
// An ejected endpoint comes back after base · n, n growing by one with each ejection and shrinking by one with each interval
// without, up to a maximum: who fails again and again is asked more and more seldom.
//
//        ┌─────┐   outlier, and room to eject    ┌─────────┐
//        │ fit │ ──────────────────────────────► │ ejected │
//        └─────┘ ◄────────────────────────────── └─────────┘
//                       base · n has passed
//
// Room to eject: at most `ejectedShareMax` of the fleet, but one endpoint in any fleet of two or more, and never the last that
// is fit. (Envoy's rule, 10 % and no more, ejects nobody in a fleet of nine, and users find out when they need it.)
//
// It misbehaves when the failure belongs to the request (one bad client makes whoever serves it an outlier), and latency
// ejection must not be used where load makes latency: in a convoy it ejects the full one and passes the convoy on.
// Defaults are Envoy's, but for the share (30 %).

import { after, assert, type Duration, type Instant, ns, seconds } from '../../base.ts';
import type { PickOutcome } from '../balance/balancer.ts';
import {
  belowTheRest,
  failingOften,
  type FailureShareQuestion,
  type IntervalCounts,
  type LatencyQuestion,
  slowerThanTheRest,
  type SuccessRateQuestion,
} from './detectors.ts';

export interface OutlierSettings {
  /** Length of an interval. */
  readonly interval: Duration;
  /** Failures in a row; undefined: not looked at. */
  readonly consecutive: number | undefined;
  readonly successRate: SuccessRateQuestion | undefined;
  readonly failureShare: FailureShareQuestion | undefined;
  readonly latency: LatencyQuestion | undefined;
  readonly ejectionBase: Duration;
  readonly ejectionMax: Duration;
  /** Share of the fleet that may be ejected at a time, 0 to 1. */
  readonly ejectedShareMax: number;
}

export const defaultOutlierSettings: OutlierSettings = {
  interval: seconds(10),
  consecutive: 5,
  successRate: { endpointsMin: 5, requestsMin: 100, deviations: 1.9 },
  failureShare: { endpointsMin: 5, requestsMin: 50, threshold: 0.85 },
  latency: undefined,
  ejectionBase: seconds(30),
  ejectionMax: seconds(300),
  ejectedShareMax: 0.3,
};

export type OutlierReason = 'consecutive' | 'success-rate' | 'failure-share' | 'latency';

export type OutlierChange =
  | { readonly kind: 'ejected'; readonly id: string; readonly reason: OutlierReason; readonly until: Instant }
  /** It would have been ejected, but there was no room. */
  | { readonly kind: 'spared'; readonly id: string; readonly reason: OutlierReason }
  | { readonly kind: 'returned'; readonly id: string };

export class OutlierDetector {
  readonly #settings: OutlierSettings;
  readonly #watched = new Map<string, Watched>();
  #nextSweep: Instant;

  constructor(settings: OutlierSettings, now: Instant) {
    assert(settings.interval > 0, 'an interval lasts');
    assert(settings.ejectionMax >= settings.ejectionBase, 'the longest ejection is not shorter than the first');
    assert(settings.ejectedShareMax >= 0 && settings.ejectedShareMax <= 1, 'a share is between 0 and 1');
    this.#settings = settings;
    this.#nextSweep = after(now, settings.interval);
  }

  /** Watches exactly these. What is known of those that stay is kept. */
  follow(ids: readonly string[]): void {
    const present = new Set(ids);
    for (const id of this.#watched.keys()) if (!present.has(id)) this.#watched.delete(id);
    for (const id of ids) if (!this.#watched.has(id)) this.#watched.set(id, new Watched());
  }

  isEjected(id: string): boolean {
    return this.#watched.get(id)?.ejectedUntil !== undefined;
  }

  /** When `sweep` wants to be called next. */
  get next(): Instant {
    let next = this.#nextSweep;
    for (const { ejectedUntil } of this.#watched.values()) {
      if (ejectedUntil !== undefined && ejectedUntil < next) next = ejectedUntil;
    }
    return next;
  }

  /** Hot. One request to the endpoint has ended. Returns an ejection when that was one failure too many. */
  observe(id: string, outcome: PickOutcome, now: Instant): OutlierChange | undefined {
    const watched = this.#watched.get(id);
    if (watched === undefined) return undefined;
    watched.add(outcome);
    const { consecutive } = this.#settings;
    if (consecutive === undefined || watched.inARow < consecutive || watched.ejectedUntil !== undefined)
      return undefined;
    watched.inARow = 0;
    return this.#eject(id, watched, 'consecutive', now);
  }

  /** Ends ejections whose time has come and, at the end of an interval, compares all with all. */
  sweep(now: Instant): readonly OutlierChange[] {
    const changes: OutlierChange[] = [];
    for (const [id, watched] of this.#watched) {
      if (watched.ejectedUntil === undefined || watched.ejectedUntil > now) continue;
      watched.ejectedUntil = undefined;
      watched.cameBack = true;
      changes.push({ kind: 'returned', id });
    }
    if (now < this.#nextSweep) return changes;
    this.#nextSweep = after(now, this.#settings.interval);
    changes.push(...this.#compare(now));
    for (const watched of this.#watched.values()) watched.beginInterval();
    return changes;
  }

  #compare(now: Instant): readonly OutlierChange[] {
    const { successRate, failureShare, latency } = this.#settings;
    const entries = [...this.#watched].filter(([, watched]) => watched.ejectedUntil === undefined);
    const counts = entries.map(([, watched]) => watched.counts());
    const verdicts: readonly (readonly [OutlierReason, readonly number[]])[] = [
      ['success-rate', successRate === undefined ? [] : belowTheRest(counts, successRate)],
      ['failure-share', failureShare === undefined ? [] : failingOften(counts, failureShare)],
      ['latency', latency === undefined ? [] : slowerThanTheRest(counts, latency)],
    ];
    const changes: OutlierChange[] = [];
    for (const [reason, indices] of verdicts) {
      for (const index of indices) {
        const [id, watched] = entries[index] ?? [];
        if (id === undefined || watched === undefined || watched.ejectedUntil !== undefined) continue;
        changes.push(this.#eject(id, watched, reason, now));
      }
    }
    return changes;
  }

  #eject(id: string, watched: Watched, reason: OutlierReason, now: Instant): OutlierChange {
    if (!this.#hasRoom()) return { kind: 'spared', id, reason };
    const { ejectionBase, ejectionMax } = this.#settings;
    watched.times += 1;
    watched.ejectedUntil = after(now, ns(Math.min(ejectionBase * watched.times, ejectionMax)));
    return { kind: 'ejected', id, reason, until: watched.ejectedUntil };
  }

  #hasRoom(): boolean {
    const all = this.#watched.size;
    let ejected = 0;
    for (const watched of this.#watched.values()) if (watched.ejectedUntil !== undefined) ejected += 1;
    const most = Math.min(all - 1, Math.max(1, Math.floor(this.#settings.ejectedShareMax * all)));
    return ejected < most;
  }
}

/** Latencies kept for a median: the newest of the interval. */
const latenciesKept = 64;

/** What is known of one endpoint. */
class Watched {
  ejectedUntil: Instant | undefined = undefined;
  /** Ejections, less one for each whole interval without. */
  times = 0;
  /** It was ejected for a part of this interval. */
  cameBack = false;
  inARow = 0;
  #requests = 0;
  #failures = 0;
  readonly #latencies = new Float64Array(latenciesKept);

  add(outcome: PickOutcome): void {
    this.#latencies[this.#requests % latenciesKept] = outcome.latency;
    this.#requests += 1;
    if (outcome.ok) this.inARow = 0;
    else {
      this.inARow += 1;
      this.#failures += 1;
    }
  }

  counts(): IntervalCounts {
    const kept = this.#latencies.subarray(0, Math.min(this.#requests, latenciesKept)).toSorted();
    const medianLatency = kept[Math.floor((kept.length - 1) / 2)];
    return { requests: this.#requests, failures: this.#failures, medianLatency };
  }

  beginInterval(): void {
    this.#requests = 0;
    this.#failures = 0;
    if (this.ejectedUntil === undefined && !this.cameBack && this.times > 0) this.times -= 1;
    this.cameBack = false;
  }
}
