// A number that goes up and down, with the area under it and how far it went: the mean over a span is exact, not sampled.

export class Level {
  value = 0;
  min = 0;
  max = 0;
  /** Since the last `cut`, in units times nanoseconds. */
  #area = 0;
  #settledAt: number;
  #from: number;

  constructor(now: number) {
    this.#settledAt = now;
    this.#from = now;
  }

  up(now: number): void {
    this.#settle(now);
    this.value += 1;
    if (this.value > this.max) this.max = this.value;
  }

  down(now: number): void {
    this.#settle(now);
    this.value -= 1;
    if (this.value < this.min) this.min = this.value;
  }

  /** Mean, least and greatest since the last cut; the next span begins. */
  cut(now: number): { readonly mean: number; readonly min: number; readonly max: number } {
    this.#settle(now);
    const span = now - this.#from;
    const found = { mean: span > 0 ? this.#area / span : this.value, min: this.min, max: this.max };
    this.#area = 0;
    this.#from = now;
    this.min = this.value;
    this.max = this.value;
    return found;
  }

  #settle(now: number): void {
    this.#area += this.value * (now - this.#settledAt);
    this.#settledAt = now;
  }
}
