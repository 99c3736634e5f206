// The outcome as the document that is written after an incident: what happened and why one believes it, what was ruled out, what
// remains open, and which files it rests on. Every number in it is the audit's.

import type { AuditRow, Diagnosis, TheorySummary } from '../diagnose.ts';
import { hullLines, hullOfFacts, safeLoadSentence } from './load-line-text.ts';
import type { Outcome } from './outcome.ts';
import { plain } from './paint.ts';

/** Lines of Markdown. */
export function resultMarkdown(outcome: Outcome): string[] {
  const { diagnosis } = outcome;
  return [
    ...headLines(diagnosis),
    ...evidenceLines(diagnosis),
    ...refutedLines(diagnosis),
    ...openLines(diagnosis),
    ...sourceLines(outcome),
  ];
}

function headLines({ verdict, load_line: line }: Diagnosis): string[] {
  const { pattern, culprit, confidence, basis, sentence, arithmetic, fix, missing, simultaneous = [] } = verdict;
  return [
    `# ${culprit === undefined ? pattern : `${pattern}: ${culprit}`}`,
    '',
    sentence,
    '',
    `- **Pattern:** \`${pattern}\``,
    ...(culprit === undefined ? [] : [`- **Culprit:** ${culprit}`]),
    `- **Confidence:** ${confidence.toFixed(2)}${basis === 'configured' ? ' (from the settings alone; no harm was seen)' : ''}`,
    ...(missing === undefined ? [] : [`- **Would decide:** ${missing}`]),
    ...simultaneous.map((other) => `- **Besides:** \`${other.pattern}\`: ${other.sentence}`),
    ...(line === undefined ? [] : [`- **Load line:** ${safeLoadSentence(line)}`]),
    ...(line?.kind === 'line' ? ['', '```text', ...hullLines(hullOfFacts(line), plain), '```'] : []),
    '',
    '## What to do',
    '',
    fix,
    ...(arithmetic.length === 0 ? [] : ['', '## The arithmetic', '', ...arithmetic.map((one) => `- ${escaped(one)}`)]),
  ];
}

function evidenceLines(diagnosis: Diagnosis): string[] {
  const { verdict, theories, audit } = diagnosis;
  const own = theories.filter(({ standing }) => standing === 'established');
  return own
    .toSorted((one, other) => Number(other.theory === verdict.pattern) - Number(one.theory === verdict.pattern))
    .flatMap((theory) => [
      '',
      `## Evidence: ${theory.title}`,
      '',
      ...tableOf(audit.filter((row) => row.theory === theory.theory)),
    ]);
}

function tableOf(rows: readonly AuditRow[]): string[] {
  return [
    '| claim | predicted | observed | result | where |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map((row) => {
      const seen = row.observed?.text ?? (row.missing === undefined ? '' : `needs ${row.missing}`);
      const cells = [`${row.claim} *(${row.bearing})*`, row.predicted?.text ?? '', seen, row.result, whereOf(row)];
      return `| ${cells.map(escaped).join(' | ')} |`;
    }),
  ];
}

function whereOf({ origins = [] }: AuditRow): string {
  return origins
    .slice(0, 2)
    .map(({ file, line }) => (line === undefined ? file : `${file}:${line}`))
    .join(', ');
}

function refutedLines({ theories }: Diagnosis): string[] {
  return section(
    'Ruled out',
    theories.filter(({ standing }) => standing === 'refuted'),
  );
}

function openLines({ theories }: Diagnosis): string[] {
  return section(
    'Left open',
    theories.filter(({ standing }) => standing === 'possible'),
  );
}

function section(title: string, theories: readonly TheorySummary[]): string[] {
  if (theories.length === 0) return [];
  return ['', `## ${title}`, '', ...theories.map((one) => `- **${escaped(one.title)}.** ${escaped(one.reason)}`)];
}

function sourceLines({ sources = [], file }: Outcome): string[] {
  const files = [
    ...(file === undefined ? [] : [`- ${file}`]),
    ...sources.map((one) => `- ${one.file}: ${one.format}, ${one.understood} of ${one.lines} lines understood`),
  ];
  return files.length === 0 ? [] : ['', '## What it rests on', '', ...files];
}

/** A bar would end a cell. */
function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
