// The outcome for a tired person. It ends with the verdict, because the end is what a terminal shows; above it stands what the
// verdict rests on: the phases in numbers, then theory by theory what was predicted and what was seen.

import type { AuditRow, Diagnosis, PhaseSummary, TheorySummary } from '../diagnose.ts';
import type { RunRecord } from '../record.ts';
import type { ObjectiveOutcome, Outcome } from './outcome.ts';
import { ledgersOf } from './outcome.ts';
import { safeLoadLines } from './load-line-text.ts';
import type { Paint } from './paint.ts';
import { phaseFigures, replicaCells, replicaTitles } from './phase-figures.ts';
import { type Cell, table, wrap } from './table.ts';

/** The whole report, line by line. `columns`: how wide a line may be. */
export function resultText(outcome: Outcome, columns: number, paint: Paint): string[] {
  const width = Math.min(columns, 140);
  const { diagnosis } = outcome;
  return [
    ...phaseLines(diagnosis.phases, paint),
    ...auditLines(diagnosis, width, paint),
    ...ledgerLines(outcome.record, paint),
    ...objectiveLines(outcome.objectives, paint),
    '',
    ...limitLines(outcome.limits, width, paint),
    ...verdictLines(diagnosis, width, paint),
    ...(diagnosis.load_line === undefined ? [] : safeLoadLines(diagnosis.load_line, paint)),
    ...(outcome.file === undefined ? [] : [paint.faint(`record: ${outcome.file}`)]),
    ...digestLines(outcome.record, paint),
  ];
}

/** Only imagined time can be had again. */
function digestLines(record: RunRecord | undefined, paint: Paint): string[] {
  const digest = record?.end?.digest;
  return record === undefined || digest === undefined
    ? []
    : [paint.faint(`seed ${record.header.seed}, digest ${digest}: with the same seed all of it happens again`)];
}

function verdictLines({ verdict }: Diagnosis, width: number, paint: Paint): string[] {
  const colour = verdict.pattern === 'healthy' ? paint.good : verdict.pattern === 'undecided' ? paint.odd : paint.bad;
  const who = verdict.culprit === undefined ? '' : `: ${verdict.culprit}`;
  return [
    `${paint.strong(colour(`${verdict.pattern}${who}`))}  ${paint.faint(`confidence ${verdict.confidence.toFixed(2)}`)}`,
    ...(verdict.basis === 'configured' ? [paint.faint('from the settings alone: no harm was seen')] : []),
    ...wrap(verdict.sentence, width),
    ...verdict.arithmetic.flatMap((line) => wrap(line, width - 4)).map((line) => `    ${line}`),
    ...labelled('fix', verdict.fix, width, paint),
    ...(verdict.missing === undefined ? [] : labelled('would decide', verdict.missing, width, paint)),
    ...(verdict.simultaneous ?? []).flatMap((other) => labelled(`also ${other.pattern}`, other.sentence, width, paint)),
  ];
}

function labelled(label: string, text: string, width: number, paint: Paint): string[] {
  const [first = '', ...rest] = wrap(text, width - label.length - 2);
  return [`${paint.strong(`${label}:`)} ${first}`, ...rest.map((line) => ' '.repeat(label.length + 2) + line)];
}

/** One block a phase: the three vectors whose skew tells the patterns apart (rate, in flight, time), side by side. */
export function phaseLines(phases: readonly PhaseSummary[], paint: Paint): string[] {
  return phases.flatMap((phase) => {
    const head = `${paint.strong(phase.phase)}  ${phaseFigures(phase)}`;
    const rows = phase.replicas.map((replica): Cell[] => indented(replicaCells(replica)));
    const did = phase.experiment === undefined ? [] : [paint.faint(`  ${phase.experiment}`)];
    return [
      head,
      ...did,
      ...table(
        indented(replicaTitles).map((title, index) => (index === 0 ? { title } : { title, align: 'right' })),
        rows,
        paint.faint,
      ),
      '',
    ];
  });
}

/**
 * Theory by theory, the standing one first: what it predicted, what was seen, what that does to it. Of a refuted theory only
 * the claims that failed are printed: one is enough, and the rest is in the JSON.
 */
function auditLines({ audit, theories }: Diagnosis, width: number, paint: Paint): string[] {
  if (audit.length === 0) return [];
  const order: readonly TheorySummary['standing'][] = ['established', 'possible', 'refuted', 'untestable'];
  const sorted = theories.toSorted((one, other) => order.indexOf(one.standing) - order.indexOf(other.standing));
  const claimWidth = Math.max(24, Math.floor((width - 24) * 0.4));
  const valueWidth = Math.max(14, Math.floor((width - 24) * 0.27));
  const lines = [paint.strong('audit'), paint.faint('each theory said beforehand what it would see')];
  for (const theory of sorted) {
    const own = audit.filter((row) => row.theory === theory.theory);
    const rows = theory.standing === 'refuted' ? own.filter((row) => row.result === 'contradicts') : own;
    lines.push('', `${paint.strong(theory.title)}  ${standingPaint(theory.standing, paint)(theory.standing)}`);
    lines.push(
      ...table(
        [
          { title: '  claim', width: claimWidth },
          { title: 'predicted', width: valueWidth },
          { title: 'observed', width: valueWidth },
          { title: 'verdict' },
        ],
        rows.map((row) => auditRow(row, paint)),
        paint.faint,
      ),
    );
  }
  return lines;
}

function auditRow(row: AuditRow, paint: Paint): Cell[] {
  const where = row.phase === 'baseline' || row.phase === 'incident' ? '' : ` [${row.phase}]`;
  return [
    `  ${row.claim}${where}`,
    row.predicted?.text ?? '',
    row.observed?.text ?? (row.missing === undefined ? '' : `needs ${row.missing}`),
    { text: row.result, paint: resultPaint(row.result, paint) },
  ];
}

function resultPaint(result: AuditRow['result'], paint: Paint): (text: string) => string {
  if (result === 'supports') return paint.good;
  return result === 'contradicts' ? paint.bad : paint.faint;
}

function standingPaint(standing: TheorySummary['standing'], paint: Paint): (text: string) => string {
  if (standing === 'established') return paint.good;
  return standing === 'refuted' ? paint.bad : paint.odd;
}

/** A row for each objective: what was wanted, what was seen, and whether that will do. */
export function objectiveLines(objectives: readonly ObjectiveOutcome[], paint: Paint): string[] {
  if (objectives.length === 0) return [];
  const rows = objectives.map((one): Cell[] => [
    `  ${one.metric}`,
    one.expression,
    one.observed === undefined ? 'not observed' : one.observed.toPrecision(4),
    { text: one.met ? 'met' : 'not met', paint: one.met ? paint.good : paint.bad },
  ]);
  const columns = [{ title: '  objective' }, { title: 'wanted' }, { title: 'observed' }, { title: '' }];
  return ['', ...table(columns, rows, paint.faint)];
}

function limitLines(limits: readonly string[], width: number, paint: Paint): string[] {
  return limits.flatMap((limit) => labelled('limit of this machine', limit, width, paint));
}

/** A terminal is no place for two thousand rows. */
const ledgersMax = 40;

/** Where every planned request went. One line a phase and group, so that a lost request would show. */
export function ledgerLines(record: RunRecord | undefined, paint: Paint): string[] {
  const ledgers = ledgersOf(record);
  if (ledgers.length === 0) return [];
  const right = { align: 'right' } as const;
  const names = ['planned', 'answered', 'failed', 'timed_out', 'refused', 'in_flight_at_end', 'never_sent'] as const;
  const rows = ledgers
    .slice(0, ledgersMax)
    .map((ledger): Cell[] => [`  ${ledger.phase}`, ledger.group, ...names.map((name) => String(ledger[name]))]);
  const columns = [
    { title: '  phase' },
    { title: 'clients' },
    ...names.map((name) => ({ title: name.replaceAll('_', ' '), ...right })),
  ];
  const left = ledgers.length - ledgersMax;
  const more = left > 0 ? [paint.faint(`  and ${left} more in the record`)] : [];
  return ['', paint.strong('ledger'), ...table(columns, rows, paint.faint), ...more];
}

const indented = ([first = '', ...rest]: readonly string[]): string[] => [`  ${first}`, ...rest];
