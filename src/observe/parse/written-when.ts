// Whether the time on an access-log line is when the request began or when it was over, found from the lines themselves.
//
// Most programs write a line when they are done and put that moment on it. Two signs speak for the beginning:
//
//   - lines stand in the order of time + duration rather than of time: written at the end, stamped with the beginning;
//   - the times tick like a clock while the durations differ: a generator sent them evenly. Ends would not be even.

const linesMax = 5000;

export class WrittenWhen {
  #count = 0;
  #lastTime = Number.NEGATIVE_INFINITY;
  #lastEnd = Number.NEGATIVE_INFINITY;
  #timesFall = 0;
  #endsFall = 0;
  readonly #gaps: number[] = [];
  readonly #durations: number[] = [];

  /** One line: the time on it and how long the request took. */
  observe(timeMs: number, seconds: number): void {
    if (this.#count >= linesMax || Number.isNaN(timeMs) || Number.isNaN(seconds)) return;
    const end = timeMs + seconds * 1000;
    if (this.#count > 0) {
      if (timeMs < this.#lastTime) this.#timesFall += 1;
      if (end < this.#lastEnd) this.#endsFall += 1;
      this.#gaps.push(timeMs - this.#lastTime);
    }
    this.#durations.push(seconds * 1000);
    this.#lastTime = timeMs;
    this.#lastEnd = end;
    this.#count += 1;
  }

  get isStart(): boolean {
    if (this.#count < 5) return false;
    if (this.#timesFall > 0 && this.#endsFall < this.#timesFall) return true;
    const gap = mean(this.#gaps);
    return gap > 0 && spread(this.#gaps) < 0.02 * gap && spread(this.#durations) > 0.1 * gap;
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function spread(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}
