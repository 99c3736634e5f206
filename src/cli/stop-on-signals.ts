// Ctrl-C, kindly: the first signal ends what is going on and keeps what there is, the second ends everything at once.

import { exit, type ExitCode } from './exit.ts';

export interface Stopping {
  readonly signal: AbortSignal;
  /** The exit code of the signal that came; undefined when none did. */
  by(): ExitCode | undefined;
  /** Signals act as usual again. */
  release(): void;
}

/** `announce` is told the first time, to say what becomes of what there is. */
export function stopOnSignals(announce: () => void): Stopping {
  const controller = new AbortController();
  let by: ExitCode | undefined;
  const onInterrupt = (): void => stop(exit.interrupted);
  const onTerminate = (): void => stop(exit.terminated);
  function stop(code: ExitCode): void {
    if (controller.signal.aborted) process.exit(code);
    by = code;
    announce();
    controller.abort();
  }
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    by: () => by,
    release: () => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    },
  };
}
