// What the process says when it ends, for scripts and pipelines.

export const exit = {
  /** Healthy, or the verdict that the scenario expects. */
  ok: 0,
  /** Our own fault. */
  internal: 1,
  /** Checked: settings that would go wrong. Its own command, so that it shares a number with our own fault. */
  findings: 1,
  /** The command line or a file of the user is wrong. */
  usage: 2,
  /** A fault was found that nobody had announced. */
  fault: 10,
  /** Compared: something is open before the candidate may be released. */
  conditional: 20,
  /** Compared: the candidate must not be released. */
  rejected: 21,
  /** An objective was not met. */
  objective: 99,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/** A mistake of the person at the keyboard: shown as it is, without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
