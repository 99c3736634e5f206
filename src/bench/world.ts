// What a conductor needs of a world, real or imagined: say what is there, and play one arrangement after another, telling
// as it goes in lines of the record.

import type { ExperimentKind, RecordLine, TopologyLine } from '../record.ts';
import type { Arrangement } from '../scenario.ts';
import type { ObjectiveResult } from '../load.ts';

export interface World {
  readonly name: 'lab' | 'sim';
  /** Versions of the programs that take part, for the header. */
  readonly programs: Readonly<Record<string, string>>;
  /** Which experiments can be done here. */
  readonly available: readonly ExperimentKind[];
  topology(): Omit<TopologyLine, 'kind' | 'at_ns'>;
  /** Nanoseconds since the world began. */
  now(): number;
  /** Of imagined time: a hash of everything that has happened. */
  readonly digest?: () => string;
  /** Plays a phase to its end or until `stop` is aborted, whichever comes first. Calls `tell` for each event, tick,
   * histogram and ledger as it happens. */
  play(arrangement: Arrangement, tell: (line: RecordLine) => void, stop: AbortSignal): Promise<PhaseOutcome>;
  close(): Promise<void>;
}

export interface PhaseOutcome {
  readonly objectives: readonly ObjectiveResult[];
  /** Limits of this machine that were reached, in words. */
  readonly limits: readonly string[];
  /** Objectives that ended the phase before its time. Absent or empty: none did. */
  readonly broken?: readonly ObjectiveResult[];
}
