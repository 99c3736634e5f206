// A buffer that is lent out again and again, always from its beginning: one view for each length, made when first asked for.
// Making a view costs some 50 ns and a small object for the collector; messages of one kind have few lengths.

/** Longer views are made each time: they are rare, and each kept view costs memory. */
const keptLengthMax = 4096;

export class LentViews {
  readonly buffer: Buffer;
  readonly #views: (Buffer | undefined)[] = [];

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafeSlow(size);
  }

  view(length: number): Buffer {
    if (length > keptLengthMax) return this.buffer.subarray(0, length);
    return (this.#views[length] ??= this.buffer.subarray(0, length));
  }
}
