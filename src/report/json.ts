// The outcome for machines. Fields are only ever added; the `schema` says which generation this is.

import type { LedgerLine } from '../record.ts';
import { ledgersOf, type Outcome } from './outcome.ts';

export const resultSchema = 'plimsoll.dev/result/v1';

/** Plain data for `JSON.stringify`. */
export function resultJson(outcome: Outcome): object {
  const { record, diagnosis } = outcome;
  return {
    schema: resultSchema,
    scenario: record?.header.scenario,
    world: record?.header.world,
    seed: record?.header.seed,
    digest: record?.end?.digest,
    record: outcome.file,
    complete: record?.complete,
    sources: outcome.sources,
    verdict: diagnosis.verdict,
    theories: diagnosis.theories,
    audit: diagnosis.audit,
    checks: diagnosis.checks,
    phases: diagnosis.phases,
    load_line: diagnosis.load_line,
    ledgers: ledgersOf(record).map(ledgerJson),
    objectives: outcome.objectives,
    limits: outcome.limits,
    environment: record?.header.environment,
  };
}

/** A ledger without what it needs only as a line of a record. */
function ledgerJson(ledger: LedgerLine): object {
  return Object.fromEntries(Object.entries(ledger).filter(([name]) => name !== 'kind' && name !== 'at_ns'));
}
