// How many connections each address has, where that is bounded: one client that opens sockets without end takes its own share of
// them and nobody else's. Only addresses that have connections now are kept.

export class Crowd {
  readonly #byAddress = new Map<string, number>();
  readonly #max: () => number | undefined;

  /** `max` is asked at each entrance: it may change while the gateway runs. */
  constructor(max: () => number | undefined) {
    this.#max = max;
  }

  /** False: there are as many as may be. Whoever gets true says `leave` once. */
  enter(address: string): boolean {
    const count = this.#byAddress.get(address) ?? 0;
    if (count >= (this.#max() ?? Infinity)) return false;
    this.#byAddress.set(address, count + 1);
    return true;
  }

  leave(address: string): void {
    const count = this.#byAddress.get(address) ?? 0;
    if (count <= 1) this.#byAddress.delete(address);
    else this.#byAddress.set(address, count - 1);
  }

  get addresses(): number {
    return this.#byAddress.size;
  }
}
