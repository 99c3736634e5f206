// What a shape cannot say of a line: that its numbers agree with each other. Checked when a line is written, where it is an
// assertion, and when one is read, where it is a problem of the file.

import { Histogram, histogramOfFields } from '../stats.ts';
import type { LedgerLine, RecordLine } from './lines.ts';

/** What does not add up in a line of the right shape, in a sentence. */
export function contradiction(line: RecordLine): string | undefined {
  if (line.kind === 'ledger') return ledgerContradiction(line);
  if (line.kind !== 'histogram') return undefined;
  const histogram = histogramOfFields(line);
  return histogram instanceof Histogram ? undefined : histogram.problem;
}

/** Every planned request ends in exactly one place, so the places sum to the plan. */
function ledgerContradiction(line: LedgerLine): string | undefined {
  const ends = [line.answered, line.failed, line.timed_out, line.refused, line.in_flight_at_end, line.never_sent];
  const sum = ends.reduce((total, end) => total + end, 0);
  return sum === line.planned ? undefined : `planned is ${line.planned}, but the ledger accounts for ${sum}`;
}
