// What the static check found, for a terminal: where, by which arithmetic, and what would be right.

import type { Finding, Preflight } from '../diagnose.ts';
import type { Paint } from './paint.ts';
import { wrap } from './table.ts';

export function preflightText(result: Preflight, columns: number, paint: Paint): string[] {
  const width = Math.min(columns, 140) - 4;
  const { findings, unchecked } = result;
  const count = (severity: Finding['severity']): number => findings.filter((one) => one.severity === severity).length;
  const counted = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const number = count(severity);
    return number === 0 ? [] : [`${number} ${severity}${number === 1 ? '' : 's'}`];
  });
  return [
    ...findings.flatMap((finding) => findingLines(finding, width, paint)),
    ...unchecked.flatMap(({ rule, missing }) =>
      indented(`not checked further: ${rule} needs ${missing}`, width + 4, '').map((line) => paint.faint(line)),
    ),
    ...(findings.length + unchecked.length === 0 ? [] : ['']),
    counted.length === 0 ? paint.good('nothing found') : counted.join(', '),
  ];
}

function findingLines(
  { rule, severity, where, also, because, instead }: Finding,
  width: number,
  paint: Paint,
): string[] {
  const colour = { error: paint.bad, warning: paint.odd, note: paint.faint }[severity];
  return [
    `${placeOf(where)}: ${colour(severity)}: ${paint.strong(rule)}`,
    ...indented(because, width, '    '),
    ...indented(`right would be: ${instead}`, width, '    '),
    ...(also.length === 0 ? [] : [`    ${paint.faint(`see ${also.map(placeOf).join(', ')}`)}`]),
  ];
}

function placeOf({ file, line }: Finding['where']): string {
  return line === undefined ? file : `${file}:${line}`;
}

function indented(text: string, width: number, by: string): string[] {
  return wrap(text, width).map((line) => `${by}${line}`);
}
