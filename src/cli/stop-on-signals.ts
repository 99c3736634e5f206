// Ctrl-C, kindly: the first signal ends what is going on and keeps what there is, the second ends everything at once.

import { exit, type ExitCode } from './exit.ts';
import type { LiveRegion } from './live-region.ts';

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

/** Does something long and writes what it found to standard output, also where a signal has ended it early. `announce` is said when one
 * does. */
export async function tellEvenIfStopped(
  live: LiveRegion | undefined,
  announce: string,
  work: (stop: AbortSignal) => Promise<string>,
): Promise<ExitCode> {
  const stopping = stopOnSignals(() => live?.say(announce));
  try {
    const found = await work(stopping.signal);
    live?.clear();
    process.stdout.write(`${found}\n`);
    return stopping.by() ?? exit.ok;
  } catch (error) {
    live?.clear();
    // Stopped before there was anything to tell.
    if (stopping.signal.aborted) return stopping.by() ?? exit.interrupted;
    throw error;
  } finally {
    stopping.release();
  }
}
