// Work that cannot be finished in the time that is left is better refused than begun: it would take a place from work that can,
// and its answer would come when nobody waits for it any more.
//
//   left at the deadline < the `quantile` of recent latencies      refused at once
//
// With the median, half of what is refused could have been finished just in time; with a low quantile hardly any. Nothing is
// refused before `samplesMin` latencies are known, nor when none has come for `memory`: whoever refuses everything would never learn that things
// have got better.
//
// Reading does not write. Hot where configured: `add`, `cannotFinish`.

import { assert, type Duration, type Instant, ns, seconds } from '../../base.ts';
import { RecentQuantile } from '../balance/recent-quantile.ts';
import { canFinish } from '../deadline.ts';

export interface HopelessSettings {
  /** 0.5: the median. */
  readonly quantile: number;
  readonly samplesMin: number;
  /** For how long the latest latency says something: 1 s. */
  readonly memory: Duration;
}

export const defaultHopelessSettings: HopelessSettings = { quantile: 0.5, samplesMin: 50, memory: seconds(1) };

export class Hopeless {
  readonly #settings: HopelessSettings;
  readonly #latencies = new RecentQuantile(128);
  #samples = 0;
  #latest: Instant | undefined;

  constructor(settings: HopelessSettings) {
    assert(settings.quantile > 0 && settings.quantile <= 1, 'a quantile is a share of the latencies');
    assert(settings.samplesMin >= 1, 'nothing is known from nothing');
    this.#settings = settings;
  }

  /** An answer came, this long after it was asked for. */
  add(latency: Duration, now: Instant): void {
    this.#samples += 1;
    this.#latencies.add(latency);
    this.#latest = now;
  }

  /** How long an answer is expected to take; undefined when that is not known. */
  expectedAt(now: Instant): Duration | undefined {
    const { samplesMin, memory, quantile } = this.#settings;
    if (this.#samples < samplesMin || this.#latest === undefined || now - this.#latest > memory) return undefined;
    return ns(this.#latencies.quantile(quantile));
  }

  /** Would work that begins now be in vain? */
  cannotFinish(deadline: Instant, now: Instant): boolean {
    const expected = this.expectedAt(now);
    return expected !== undefined && !canFinish(deadline, now, expected);
  }
}
