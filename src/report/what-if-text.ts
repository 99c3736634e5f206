// What would happen if, as text: whether the fit can be believed, then one row a change, the best first.

import { figureText, type IntervalFigure, intervalText } from './intervals-text.ts';
import type { Paint } from './paint.ts';
import { type Cell, type Column, table, wrap } from './table.ts';

export interface WhatIfView {
  readonly notes: readonly string[];
  readonly fitness: readonly FitnessView[];
  readonly certificate?: { readonly rows: readonly CertificateRowView[] } | string;
  readonly refusal?: string;
  readonly measure: {
    readonly figure: string;
    readonly unit: IntervalFigure['unit'];
    readonly because: string;
  };
  readonly replications: number;
  readonly alternatives: readonly AlternativeView[];
}

interface FitnessView {
  readonly figure: string;
  readonly unit: IntervalFigure['unit'];
  readonly observed: number;
  readonly predicted: IntervalFigure;
  readonly within: boolean;
}

interface CertificateRowView {
  readonly figure: string;
  readonly unit: IntervalFigure['unit'];
  /** Of a share in points of it, of all else as a part of what was seen. */
  readonly error: number;
  readonly within: boolean;
}

interface AlternativeView {
  readonly title: string;
  readonly figures: readonly IntervalFigure[];
  readonly judgement?: {
    readonly standing: 'helps' | 'changes nothing' | 'no effect seen' | 'makes it worse';
    readonly difference: IntervalFigure;
  };
  readonly problem?: string;
}

const right = { align: 'right' } as const;

export function whatIfText(view: WhatIfView, columns: number, paint: Paint): string[] {
  const faint = (text: string): string[] => wrap(text, columns).map((line) => paint.faint(line));
  return [
    ...view.notes.flatMap(faint),
    ...(view.notes.length === 0 ? [] : ['']),
    ...fitnessRows(view, paint),
    ...certificateLines(view, columns),
    ...refusalLines(view, columns, paint),
    ...alternativeRows(view, paint),
    '',
    ...(view.alternatives.length > 1 ? faint(explanation(view)) : []),
  ];
}

function fitnessRows({ fitness }: WhatIfView, paint: Paint): string[] {
  if (fitness.length === 0) return [];
  const rows = fitness.map((row): Cell[] => [
    row.figure,
    figureText(row.observed, row.unit),
    figureText(row.predicted.value, row.unit),
    intervalText(row.predicted),
    row.within ? { text: 'yes', paint: paint.good } : { text: 'no', paint: paint.bad },
  ]);
  const strays = fitness.filter(({ within }) => !within).map(({ figure }) => figure);
  return [
    ...table(
      [
        { title: 'the fleet as it was' },
        { title: 'observed', ...right },
        { title: 'fitted', ...right },
        { title: 'may lie' },
        { title: 'within' },
      ],
      rows,
      paint.faint,
    ),
    strays.length === 0
      ? `The fitted fleet does what was seen${isWide(fitness) ? ', among other things: one run of it is much unlike another' : ''}.`
      : `The fitted fleet strays in ${strays.join(', ')}: trust the direction of what follows more than its size.`,
    '',
  ];
}

/** Whether chance alone moves what is served by a quarter and more. */
const isWide = (fitness: readonly FitnessView[]): boolean =>
  fitness.some(({ figure, predicted: { value, low, high } }) => figure === 'throughput' && high - low > 0.5 * value);

function certificateLines({ certificate }: WhatIfView, columns: number): string[] {
  if (certificate === undefined) return [];
  const text =
    typeof certificate === 'string'
      ? `No backtest: ${certificate}.`
      : `Backtest: a fit of the first half alone was off in the second by ${certificate.rows.map(offText).join(', ')}.`;
  return [...wrap(text, columns), ''];
}

const offText = (row: CertificateRowView): string =>
  `${errorText(row)} in ${row.figure}${row.within ? '' : ' (more than chance)'}`;

function errorText({ error, unit }: CertificateRowView): string {
  const amount = `${error < 0 ? '−' : '+'}${(100 * Math.abs(error)).toFixed(1)}`;
  return unit === 'share' ? `${amount} points` : `${amount} %`;
}

function refusalLines({ refusal }: WhatIfView, columns: number, paint: Paint): string[] {
  if (refusal === undefined) return [];
  const text = `Nothing is predicted: ${refusal}. What the record leaves out matters here; with --anyway the changes are played all the same.`;
  return [...wrap(text, columns).map((line) => paint.bad(line)), ''];
}

function alternativeRows(view: WhatIfView, paint: Paint): string[] {
  const { alternatives, measure } = view;
  const error = certificateErrorOf(view);
  const isRecovery = alternatives.some(({ figures }) => figures.some(({ name }) => name === 'back after'));
  const plain = ['failed', 'throughput', 'p50', 'p99'].filter((name) => name !== measure.figure);
  const columns: Column[] = [
    { title: 'what if' },
    { title: measure.figure, ...right },
    ...(isRecovery ? [{ title: 'back after', ...right }] : []),
    ...plain.map((title) => ({ title, ...right })),
    { title: '' },
    { title: `${measure.figure}, difference` },
    ...(error === undefined ? [] : [{ title: 'backtest' }]),
  ];
  const rows = alternatives.map((alternative): Cell[] => {
    if (alternative.problem !== undefined) {
      const blanks = columns.slice(0, -2 - (error === undefined ? 0 : 1)).map(() => '');
      return [alternative.title, ...blanks, { text: `not played: ${alternative.problem}`, paint: paint.odd }];
    }
    const cell = (name: string): string => figureCell(alternative, name);
    return [
      alternative.title,
      cell(measure.figure),
      ...(isRecovery ? [backText(alternative, view.replications)] : []),
      ...plain.map(cell),
      standingCell(alternative, paint),
      alternative.judgement === undefined ? '' : differenceText(alternative.judgement.difference),
      ...(error === undefined ? [] : [alternative.judgement === undefined ? '' : `± ${error}`]),
    ];
  });
  return table(columns, rows, paint.faint);
}

/** Of the measure, or of what of it can be read off half a record. */
function certificateErrorOf({ certificate, measure }: WhatIfView): string | undefined {
  if (certificate === undefined || typeof certificate === 'string') return undefined;
  const name = measure.figure.startsWith('p') ? 'mean latency' : measure.figure;
  const row = certificate.rows.find(({ figure }) => figure === name);
  return row === undefined ? undefined : errorText({ ...row, error: Math.abs(row.error) }).slice(1);
}

function figureCell({ figures }: AlternativeView, name: string): string {
  const figure = figures.find((one) => one.name === name);
  return figure === undefined ? '' : figureText(figure.value, figure.unit);
}

/** How long it stayed down after its cause; of several runs, in how many it was back at all. */
function backText({ figures }: AlternativeView, replications: number): string {
  const after = figures.find(({ name }) => name === 'back after');
  const share = figures.find(({ name }) => name === 'is back')?.value;
  if (after === undefined || share === undefined) return '';
  const time = `${(after.value / 1e9).toFixed(1)} s`;
  if (share === 0) return `not in ${time}`;
  return share === 1 ? time : `${time}, ${Math.round(share * replications)} of ${replications}`;
}

function standingCell({ judgement }: AlternativeView, paint: Paint): Cell {
  const text = judgement?.standing ?? '';
  if (text === 'helps') return { text, paint: paint.good };
  return text === 'makes it worse' ? { text, paint: paint.bad } : text;
}

function differenceText({ value, low, high, unit }: IntervalFigure): string {
  const signed = (amount: number): string => {
    const text = unit === 'share' ? (100 * Math.abs(amount)).toFixed(1) : figureText(Math.abs(amount), unit);
    return `${amount < 0 ? '−' : '+'}${text}`;
  };
  return `${signed(value)}${unit === 'share' ? ' points' : ''} (${signed(low)} … ${signed(high)})`;
}

function explanation({ measure, replications, alternatives }: WhatIfView): string {
  const isRecovery = alternatives.some(({ figures }) => figures.some(({ name }) => name === 'back after'));
  return [
    `Judged by ${measure.figure}: ${measure.because}.`,
    `Each was played ${replications} times and met the same chance as the fleet as it is; the intervals of the differences hold together in 95 of 100 such tables.`,
    ...(isRecovery
      ? [
          'Back after: from the end of what went wrong to the end of the last second in which fewer than nine in ten were served.',
        ]
      : []),
  ].join(' ');
}
