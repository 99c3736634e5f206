// How many happened lately: a count over a sliding window, kept in a few slots that are overwritten as time goes round. The
// oldest slot falls out as a whole, so the window is exact to one slot (a tenth by default).
//
//        now
//         ▼
//   ┌──┬──┬──┬──┬──┬──┐
//   │ 4│ 2│  │ 7│ 3│ 5│      a slot is emptied when time comes back to it
//   └──┴──┴──┴──┴──┴──┘
//
// Hot: `add`. Reading does not write: `sum` leaves out what has become too old without touching it.

import { assert, type Duration, type Instant } from '../base.ts';

export class RecentCount {
  readonly #slotLength: number;
  readonly #counts: Float64Array;
  /** Which slot of all time each place holds at present. */
  readonly #turns: Float64Array;

  constructor(options: { readonly window: Duration; readonly slots?: number }) {
    const slots = options.slots ?? 10;
    assert(options.window >= slots, 'a window is longer than its number of slots in nanoseconds');
    this.#slotLength = options.window / slots;
    this.#counts = new Float64Array(slots);
    this.#turns = new Float64Array(slots).fill(-Infinity);
  }

  add(amount: number, now: Instant): void {
    const turn = Math.floor(now / this.#slotLength);
    const place = turn % this.#counts.length;
    if (this.#turns[place] === turn) {
      this.#counts[place] = (this.#counts[place] ?? 0) + amount;
      return;
    }
    this.#turns[place] = turn;
    this.#counts[place] = amount;
  }

  sum(now: Instant): number {
    const oldest = Math.floor(now / this.#slotLength) - this.#counts.length + 1;
    let sum = 0;
    for (let place = 0; place < this.#counts.length; place++) {
      if ((this.#turns[place] ?? -Infinity) >= oldest) sum += this.#counts[place] ?? 0;
    }
    return sum;
  }
}
