// What can be drawn from a stream of chance. Whoever draws asks for this and knows no generator.

export interface Dice {
  /** Uniform on [0, 1), 32 bits of it. */
  next(): number;
  /** Uniform on 0 … bound − 1, but for one part in 2^32 / bound. `bound` is a whole number from 1 to 2^32. */
  below(bound: number): number;
  /** Exponential with the given mean (any unit; the result has the same). */
  exponential(mean: number): number;
  /** Normal with mean 0 and deviation 1 (Box–Muller, one of the pair). */
  normal(): number;
}
