// The clock of this thread: nanoseconds since it began, never set back, whatever happens to the wall clock. What runs in
// imagined time never comes here; what acts reads it once a turn of its loop and hands the instant on.
//
// One read costs about 40 ns and successive reads differ by 50–100 ns on Linux: the cost is the resolution.

import { type Duration, type Instant, instantAt, ns } from '../base.ts';

/** Now, counted from the start of this thread (of the process, on its main thread). */
export function now(): Instant {
  return instantAt(performance.now() * 1e6);
}

/** The wall clock at an instant of this thread, as it was set when the thread began. For a record's header. */
export function wallClockAt(instant: Instant): Date {
  return new Date(performance.timeOrigin + instant / 1e6);
}

/** The least step that was seen between two reads in a row, out of `reads`: nothing shorter can be told apart. */
export function clockResolution(reads = 10_000): Duration {
  let least = Infinity;
  let previous = now();
  for (let read = 0; read < reads; read++) {
    const next = now();
    if (next > previous) least = Math.min(least, next - previous);
    previous = next;
  }
  return ns(least);
}
