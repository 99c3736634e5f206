// What a finished run or a diagnosis of files amounts to, as the same view for every way of showing it: text, JSON, and
// whatever comes later. Nothing is computed here; each number is the diagnosis's or the record's own.

import type { Diagnosis } from '../diagnose.ts';
import type { LedgerLine, RunRecord } from '../record.ts';

export interface ObjectiveOutcome {
  readonly metric: string;
  readonly expression: string;
  readonly observed: number | undefined;
  readonly met: boolean;
}

export interface Outcome {
  readonly record: RunRecord;
  readonly diagnosis: Diagnosis;
  readonly objectives: readonly ObjectiveOutcome[];
  /** Limits of this machine that were reached while measuring. */
  readonly limits: readonly string[];
  /** Where the record lies, when it was written. */
  readonly file: string | undefined;
}

export function ledgersOf(record: RunRecord): readonly LedgerLine[] {
  return record.phases.flatMap((phase) => phase.ledgers);
}
