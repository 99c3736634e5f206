// What would happen if, as text: whether the fit can be believed, then one row a change.

import { figureText, type IntervalFigure, intervalText } from './intervals-text.ts';
import type { Paint } from './paint.ts';
import { type Cell, table } from './table.ts';

export interface WhatIfView {
  readonly notes: readonly string[];
  readonly fitness: readonly {
    readonly figure: string;
    readonly unit: IntervalFigure['unit'];
    readonly observed: number;
    readonly predicted: IntervalFigure;
    readonly within: boolean;
  }[];
  readonly alternatives: readonly {
    readonly title: string;
    readonly figures: readonly IntervalFigure[];
    readonly differences?: readonly IntervalFigure[];
    readonly problem?: string;
  }[];
}

const right = { align: 'right' } as const;

export function whatIfText(view: WhatIfView, paint: Paint): string[] {
  return [
    ...view.notes.map((note) => paint.faint(note)),
    ...(view.notes.length === 0 ? [] : ['']),
    ...fitnessRows(view, paint),
    ...alternativeRows(view, paint),
    '',
    paint.faint(
      'Intervals: where one run of this length lies in 95 of 100 cases. Differences: the mean of runs that met the same chance, 95 %.',
    ),
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
        { title: 'interval' },
        { title: 'within' },
      ],
      rows,
      paint.faint,
    ),
    strays.length === 0
      ? 'The fitted fleet does what was seen.'
      : `The fitted fleet strays in ${strays.join(', ')}: trust the direction of what follows more than its size.`,
    '',
  ];
}

function alternativeRows({ alternatives }: WhatIfView, paint: Paint): string[] {
  const names = ['throughput', 'failed', 'p50', 'p99'];
  const rows = alternatives.flatMap((alternative): Cell[][] => {
    if (alternative.problem !== undefined)
      return [[alternative.title, { text: alternative.problem, paint: paint.odd }]];
    const of = (figures: readonly IntervalFigure[] | undefined, name: string): IntervalFigure | undefined =>
      figures?.find((figure) => figure.name === name);
    const values = names.map((name): Cell => {
      const figure = of(alternative.figures, name);
      return figure === undefined ? '' : figureText(figure.value, figure.unit);
    });
    const throughput = of(alternative.figures, 'throughput');
    const difference = of(alternative.differences, 'throughput');
    return [
      [
        alternative.title,
        ...values,
        throughput === undefined ? '' : intervalText(throughput),
        difference === undefined ? '' : differenceCell(difference, paint),
      ],
    ];
  });
  return table(
    [
      { title: 'what if' },
      ...names.map((title) => ({ title, ...right })),
      { title: 'throughput, interval' },
      { title: 'difference' },
    ],
    rows.map((row) => [...row, ...Array.from({ length: Math.max(0, 7 - row.length) }, () => '')]),
    paint.faint,
  );
}

function differenceCell({ value, low, high, unit }: IntervalFigure, paint: Paint): Cell {
  const signed = (amount: number): string => `${amount < 0 ? '−' : '+'}${figureText(Math.abs(amount), unit)}`;
  const text = `${signed(value)} (${signed(low)} … ${signed(high)})`;
  if (low > 0) return { text, paint: paint.good };
  return high < 0 ? { text, paint: paint.bad } : text;
}
