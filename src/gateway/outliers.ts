// Performs what the outlier detector decides: feeds it with what the attempts came to, sweeps when it wants to be swept, and
// takes endpoints out and back in.

import type { Instant } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import { type OutlierChange, OutlierDetector, type OutlierSettings, type PickOutcome } from '../policy.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { LiveFleet } from './live-fleet.ts';

export class Outliers {
  readonly #engine: Engine;
  readonly #fleet: LiveFleet;
  readonly #detector: OutlierDetector;
  #alarm: Alarm | undefined;
  #ended = false;

  constructor(engine: Engine, fleet: LiveFleet, settings: OutlierSettings) {
    this.#engine = engine;
    this.#fleet = fleet;
    this.#detector = new OutlierDetector(settings, engine.now());
  }

  /** Watches exactly the endpoints that are in the fleet now. */
  follow(): void {
    this.#detector.follow(this.#fleet.endpoints.map((live) => live.endpoint.id));
    this.#arm();
  }

  /** Hot. */
  observe(live: LiveEndpoint, outcome: PickOutcome, now: Instant): void {
    const change = this.#detector.observe(live.endpoint.id, outcome, now);
    if (change === undefined) return;
    this.#perform(change);
    this.#arm();
  }

  end(): void {
    this.#ended = true;
    this.#alarm?.cancel();
  }

  #arm(): void {
    this.#alarm?.cancel();
    if (this.#ended) return;
    this.#alarm = this.#engine.alarm(this.#detector.next, (now) => {
      for (const change of this.#detector.sweep(now)) this.#perform(change);
      this.#arm();
    });
  }

  #perform(change: OutlierChange): void {
    const live = this.#fleet.endpoints.find((candidate) => candidate.endpoint.id === change.id);
    if (live === undefined) return;
    switch (change.kind) {
      case 'ejected':
        live.ejections += 1;
        this.#fleet.setEjected(live, true);
        break;
      case 'returned':
        this.#fleet.setEjected(live, false);
        break;
      case 'spared':
        live.spared += 1;
        break;
    }
  }
}
