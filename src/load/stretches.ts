// What one group has counted, by stretch: before `measure` and since. A request belongs to the stretch in which it came due,
// however late it ends, so that each stretch's ledger sums to what was planned in it. After the end of warm-up there are
// therefore two tallies for a while: the old one receives the stragglers.
//
//   warm-up                        │ measured
//   due ────────────── answered ───┼──► counts there ─► (warm-up's tally)
//                          due ────┼──────── answered    (measured tally)
//                               measure()
//
// Each stretch keeps what happened since the last cut apart from what it had before, so that a second costs one addition of
// histograms and a request only one record in each.

import { after, type Instant, instantAt, ns } from '../base.ts';
import { Tally } from './tally.ts';

interface Stretch {
  readonly recent: Tally;
  readonly settled: Tally;
}

const newStretch = (): Stretch => ({ recent: new Tally(), settled: new Tally() });

export class Stretches {
  #current = newStretch();
  #before: Stretch | undefined;
  #from: Instant;
  /** The latest due time of all planned so far. */
  #latestPlanned: number = -Infinity;

  constructor(now: Instant) {
    this.#from = now;
  }

  /** The tally for a request that came due at `due`. Hot. */
  at(due: Instant): Tally {
    return this.#before === undefined || due >= this.#from ? this.#current.recent : this.#before.recent;
  }

  /** One more request, due at `due`. Hot. */
  planned(due: Instant): void {
    this.at(due).planned += 1;
    if (due > this.#latestPlanned) this.#latestPlanned = due;
  }

  /** What is due from `now` on is counted afresh, but for what is due at this very instant (or a little later, by another clock
   * reading of the same turn) and was planned already: its end without its plan would not add up. */
  begin(now: Instant): void {
    const before = this.#current;
    if (this.#before !== undefined) before.recent.add(this.#before.recent);
    this.#before = before;
    this.#current = newStretch();
    this.#from = this.#latestPlanned >= now ? after(instantAt(this.#latestPlanned), ns(1)) : now;
  }

  /** Everything that happened since the last cut, in whatever stretch it was due. */
  cut(): Tally {
    const recent = new Tally();
    for (const stretch of this.#before === undefined ? [this.#current] : [this.#before, this.#current]) {
      recent.add(stretch.recent);
      stretch.settled.add(stretch.recent);
      stretch.recent.clear();
    }
    return recent;
  }

  /** The whole of the current stretch so far. */
  whole(): Tally {
    const whole = new Tally();
    whole.add(this.#current.settled);
    whole.add(this.#current.recent);
    return whole;
  }

  /** When the current stretch began. */
  get from(): Instant {
    return this.#from;
  }
}
