// What a finished run or a diagnosis of files amounts to, as the same view for every way of showing it: text, JSON, and
// whatever comes later. Nothing is computed here; each number is the diagnosis's or the record's own.

import type { Diagnosis } from '../diagnose.ts';
import type { LedgerLine, RunRecord, SourceNote } from '../record.ts';

export interface ObjectiveOutcome {
  readonly metric: string;
  readonly expression: string;
  readonly observed: number | undefined;
  readonly met: boolean;
}

export interface Outcome {
  /** Undefined: the verdict is on files that tell nothing second by second. */
  readonly record: RunRecord | undefined;
  /** Foreign files that were read, and how much of each was understood. */
  readonly sources?: readonly SourceNote[];
  readonly diagnosis: Diagnosis;
  readonly objectives: readonly ObjectiveOutcome[];
  /** Limits of this machine that were reached while measuring. */
  readonly limits: readonly string[];
  /** Where the record lies, when it was written. */
  readonly file: string | undefined;
}

export function ledgersOf(record: RunRecord | undefined): readonly LedgerLine[] {
  return (record?.phases ?? []).flatMap((phase) => phase.ledgers);
}
