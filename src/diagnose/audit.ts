// The audit: each theory's claims, made beforehand, held against what was seen. One row a claim.
//
//   necessary and sufficient claims are read by their intervals:
//
//     predicted   ├───────────┤
//     observed       ├──●──┤              supports
//                          ├──●──┤        supports a necessary claim, since the value lies inside; proves nothing yet
//                           ├──●──┤       neither: the measurement is too coarse to tell
//                               ├──●──┤   contradicts
//
// A theory with a contradicted necessary claim is refuted. One with a sufficient claim that held is established.

import type { Origin } from '../record.ts';
import type { Evidence } from './evidence.ts';
import type { PhaseEvidence } from './phase-evidence.ts';
import { theories } from './theories.ts';
import {
  type Bearing,
  type Claim,
  isMissing,
  type Predicted,
  type Reading,
  type Theory,
  type TheorySlug,
} from './theory.ts';
import { say, sayInterval, sayRange, type Unit } from './wording.ts';

/** Plain data: survives JSON. */
export interface AuditRow {
  readonly theory: TheorySlug;
  /** A phase of the record; `incident` where there is no record but what was left behind. */
  readonly phase: string;
  readonly claim: string;
  /** `text` says it; the numbers are there when it is one number with a unit. */
  readonly predicted?: { readonly low?: number; readonly high?: number; readonly unit?: Unit; readonly text: string };
  readonly observed?: {
    readonly value?: number;
    readonly low?: number;
    readonly high?: number;
    readonly unit?: Unit;
    readonly text: string;
  };
  /** What would refute the claim. */
  readonly refutes: string;
  readonly bearing: Bearing;
  readonly result: Result;
  /** For what could not be tested: what would be needed. */
  readonly missing?: string;
  /** Where in the files it was seen. */
  readonly origins?: readonly Origin[];
}

export type Result = 'supports' | 'contradicts' | 'untestable';

export interface TheorySummary {
  readonly theory: TheorySlug;
  readonly title: string;
  readonly standing: Standing;
  readonly reason: string;
}

export type Standing = 'established' | 'possible' | 'refuted' | 'untestable';

export interface Audit {
  readonly rows: readonly AuditRow[];
  /** In the order of the table of theories. */
  readonly summaries: readonly TheorySummary[];
}

export function auditOf(evidence: Evidence): Audit {
  const rows: AuditRow[] = [];
  const summaries: TheorySummary[] = [];
  for (const theory of theories) {
    const own = rowsOf(theory, evidence);
    rows.push(...own);
    summaries.push({ theory: theory.slug, title: theory.title, ...standingOf(own) });
  }
  return { rows, summaries };
}

function rowsOf(theory: Theory, evidence: Evidence): AuditRow[] {
  const baseline = theory.predict(evidence).map((claim) => rowOf(theory.slug, claim, evidence, evidence.baseline));
  const experiments = evidence.experiments.flatMap((phase) =>
    phase.experiment === undefined
      ? []
      : theory.foresee(evidence, phase.experiment).map((claim) => rowOf(theory.slug, claim, evidence, phase)),
  );
  return [...baseline, ...experiments];
}

function rowOf(theory: TheorySlug, claim: Claim, evidence: Evidence, phase: PhaseEvidence): AuditRow {
  const { predicted, says, refutes, bearing } = claim;
  const row = { theory, phase: phase.name, claim: says, refutes, bearing };
  const seen = claim.measure(evidence, phase);
  if (isMissing(predicted)) {
    return { ...row, result: 'untestable', missing: predicted.missing };
  }
  const expectation = { ...predicted, text: sayRange(predicted.low, predicted.high, predicted.unit) };
  if (isMissing(seen)) return { ...row, predicted: expectation, result: 'untestable', missing: seen.missing };
  const result = compare(predicted, seen, bearing);
  return {
    ...row,
    predicted: expectation,
    observed: {
      value: seen.value,
      low: seen.low,
      high: seen.high,
      unit: predicted.unit,
      text: textOf(seen, predicted.unit),
    },
    result,
    ...(result === 'untestable' ? { missing: 'a longer measurement: the interval is too wide to tell' } : {}),
  };
}

export function compare(predicted: Predicted, seen: Reading, bearing: Bearing): Result {
  const from = predicted.low ?? Number.NEGATIVE_INFINITY;
  const to = predicted.high ?? Number.POSITIVE_INFINITY;
  if (seen.high < from || seen.low > to) return 'contradicts';
  const inside = seen.value >= from && seen.value <= to;
  const wholly = seen.low >= from && seen.high <= to;
  return (bearing === 'sufficient' ? wholly : inside) ? 'supports' : 'untestable';
}

function textOf(seen: Reading, unit: Unit): string {
  if (seen.text !== undefined) return seen.text;
  const half = (seen.high - seen.low) / 2;
  return half > 0 && half >= Math.abs(seen.value) * 0.001
    ? sayInterval(seen.value, seen.low, seen.high, unit)
    : say(seen.value, unit);
}

function standingOf(rows: readonly AuditRow[]): { standing: Standing; reason: string } {
  const failed = rows.find((row) => row.bearing === 'necessary' && row.result === 'contradicts');
  if (failed !== undefined) return { standing: 'refuted', reason: because(failed) };
  const proof = rows.find((row) => row.bearing === 'sufficient' && row.result === 'supports');
  if (proof !== undefined) return { standing: 'established', reason: because(proof) };
  const tested = rows.some((row) => row.bearing !== 'supporting' && row.result !== 'untestable');
  if (!tested) {
    return {
      standing: 'untestable',
      reason: `Needs ${rows.find((row) => row.missing !== undefined)?.missing ?? 'more data'}.`,
    };
  }
  const open = rows.find((row) => row.bearing === 'sufficient' && row.missing !== undefined);
  return {
    standing: 'possible',
    reason:
      open?.missing === undefined
        ? 'Nothing speaks against it, and nothing proves it.'
        : `Not proved: needs ${open.missing}.`,
  };
}

function because(row: AuditRow): string {
  const observed = row.observed?.text ?? '';
  const predicted = row.predicted?.text ?? '';
  return `${row.claim} Predicted ${predicted}; observed ${observed} (${row.phase}).`;
}
