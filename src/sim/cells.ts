// The numbers of every station that change at each of its events, side by side in one array. As fields of ten thousand objects
// they lie all over the heap, and each event waits for memory a dozen times; here it waits twice, once for each row of eight.
//
//   values   │ settledAt … waiting queue │ serviceSum … │ settledAt …        sixteen numbers a station
//
// Areas and sums are totals since the beginning, in nanoseconds: whoever reads takes differences. `values` is replaced when
// stations are added: read it anew each time.

const firstCapacity = 64;

/** How many numbers a station has. */
export const cellsEach = 16;

export const cell = {
  /** Up to when the areas are right. */
  settledAt: 0,
  inFlightArea: 1,
  busyArea: 2,
  waitingArea: 3,
  inFlight: 4,
  busy: 5,
  waiting: 6,
  /** The last job of the queue; −1 when it is empty. */
  queue: 7,
  /** Time of workers on what has ended. */
  serviceSum: 8,
  /** Sum of the sojourns of what has left. */
  sojournSum: 9,
  /** Sum of the arrival times of what is here. */
  arrivalSum: 10,
  started: 11,
  serviceCount: 12,
  cpuSum: 13,
  throttledNs: 14,
  throttledPeriods: 15,
} as const;

export class Cells {
  values = new Float64Array(cellsEach * firstCapacity);
  #stations = 0;

  /** Room for one more station. Returns where its numbers begin. */
  add(): number {
    const at = cellsEach * this.#stations++;
    if (at === this.values.length) {
      const grown = new Float64Array(2 * at);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[at + cell.queue] = -1;
    return at;
  }

  /** Everything as it is now, written over `into` where that is long enough. */
  copy(into: Float64Array = new Float64Array(0)): Float64Array {
    const now = this.values.subarray(0, cellsEach * this.#stations);
    if (into.length !== now.length) return now.slice();
    into.set(now);
    return into;
  }
}
