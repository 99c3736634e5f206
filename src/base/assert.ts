// The program's own mistakes stop the program. What the world does wrong is a value, never an assertion.

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** States what must hold, positively. Throws `AssertionError` with `message` when it does not. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Closes a switch over a union: the compiler complains when a case is missing, and so does the running program. */
export function unreachable(value: never, message: string): never {
  throw new AssertionError(`${message}: ${String(value)}`);
}
