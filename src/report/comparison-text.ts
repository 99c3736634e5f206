// Two sets of runs beside each other, for a tired person: the figures, the objectives, and at the end the answer with its reasons.

import type { Comparison, Effect, ReleaseVerdict } from '../diagnose.ts';
import { figureText } from './intervals-text.ts';
import type { Paint } from './paint.ts';
import { type Cell, table, wrap } from './table.ts';

export function comparisonText(comparison: Comparison, columns: number, paint: Paint): string[] {
  const width = Math.min(columns, 140);
  const { runs, effects, objectives, mechanism } = comparison;
  return [
    `${paint.strong('base')} ${runs.base} ${runs.base === 1 ? 'run' : 'runs'}, ${mechanism.base.pattern}    ${paint.strong('candidate')} ${runs.candidate}, ${mechanism.candidate.pattern}`,
    '',
    ...effectTable(effects, paint),
    ...(objectives.length === 0
      ? []
      : [
          '',
          ...table(
            [{ title: 'objective' }, { title: 'base' }, { title: 'candidate' }, { title: '' }],
            objectives.map((one): Cell[] => [
              one.name,
              one.base,
              one.candidate,
              { text: one.finding, paint: one.finding === 'met' ? paint.good : paint.bad },
            ]),
            paint.faint,
          ),
        ]),
    '',
    verdictPaint(comparison.verdict, paint)(comparison.verdict),
    ...wrap(comparison.sentence, width),
    ...items('', comparison.reasons, width),
    ...items(comparison.verdict === 'reject' ? 'besides:' : 'open:', comparison.conditions, width),
  ];
}

function effectTable(effects: readonly Effect[], paint: Paint): string[] {
  const right = { align: 'right' } as const;
  return table(
    [
      { title: 'figure' },
      { title: 'base', ...right },
      { title: 'candidate', ...right },
      { title: 'change', ...right },
      { title: '95 % interval', ...right },
      { title: 'matters from', ...right },
      { title: '' },
    ],
    effects.map((effect): Cell[] => [
      effect.name,
      figureText(effect.base, effect.unit),
      figureText(effect.candidate, effect.unit),
      changeText(effect, effect.change),
      `${changeText(effect, effect.low)} … ${changeText(effect, effect.high)}`,
      changeText(effect, effect.smallest).replace('+', ''),
      { text: effect.finding, paint: findingPaint(effect, paint) },
    ]),
    paint.faint,
  );
}

/** `+3.1 %`; of shares in percentage points: `+3.1 pp`. */
export function changeText({ scale }: Effect, change: number): string {
  const sign = change < 0 ? '−' : '+';
  return `${sign}${Math.abs(change * 100).toFixed(1)} ${scale === 'difference' ? 'pp' : '%'}`;
}

function findingPaint({ finding, role }: Effect, paint: Paint): (text: string) => string {
  if (finding === 'worse') return role === 'gate' ? paint.bad : paint.odd;
  return finding === 'unsettled' ? paint.odd : paint.good;
}

function verdictPaint(verdict: ReleaseVerdict, paint: Paint): (text: string) => string {
  const colour = { reject: paint.bad, conditional: paint.odd, 'sign off': paint.good }[verdict];
  return (text) => paint.strong(colour(text));
}

function items(title: string, texts: readonly string[], width: number): string[] {
  if (texts.length === 0) return [];
  return [
    ...(title === '' ? [] : [title]),
    ...texts.flatMap((text) => wrap(text, width - 4).map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`)),
  ];
}
