// Where the requests of one process get their processor time from: one after the other, as of an event loop, or all at once, as of
// threads. Both under the kernel's bandwidth control, where there is a quota: in each period of 100 ms the process may use
// `quota × 100 ms` of processor time, and whatever wants more stands still until the next period begins.
//
// A quota of a fifth is therefore not a processor five times slower: it runs at full speed for 20 ms and then waits for 80.
//
//   period  │▓▓▓▓░░░░░░░░░░░░│▓▓▓▓░░░░░░░░░░░░│      ▓ runs, ░ throttled

import type { Jobs } from './jobs.ts';

/** The kernel's usual period of bandwidth control, and when periods begin: every process's at the same instants. */
export const quotaPeriod = 100e6;

export interface Processor {
  /** Totals since the beginning, up to the last `settle`: time used by all cores, and time and periods that were throttled. */
  readonly usedNs: number;
  readonly throttledNs: number;
  readonly throttledPeriods: number;

  /** A job wants so much processor time. Returns when it will have had it; undefined where that hangs on who comes after it,
   * and `ProcessorDuties.computed` will tell. */
  begin(job: number, work: number, now: number): number | undefined;
  /** The job does not want the rest. False when it has had all, or was told when it will have. */
  leave(job: number, now: number): boolean;
  /** The instant has come that was asked for by `ProcessorDuties.wake`. */
  pass(now: number): void;
  /** The process stands still from now on: nobody gets anything. */
  stand(now: number): void;
  /** It goes on. What was to end has been put off by `late`. */
  goOn(now: number, late: number): void;
  /** It has ended, with all that wanted something. */
  clear(now: number): void;
  /** Brings the totals up to now. */
  settle(now: number): void;
}

/** What a processor needs of its station. */
export interface ProcessorDuties {
  readonly jobs: Jobs;
  /** A job has had the processor time that it wanted. */
  computed(job: number, now: number): void;
  /** `pass` wants to be called then. */
  wake(at: number): void;
}

export interface ProcessorKind {
  readonly scheduling: 'fifo' | 'shared';
  readonly cores: number;
  /** Cores; undefined: as many as there are. */
  readonly quota: number | undefined;
}
