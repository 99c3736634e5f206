// Figures with their intervals, as a table: what many runs of one scenario came to.

import type { Paint } from './paint.ts';
import { table } from './table.ts';

export interface IntervalFigure {
  readonly name: string;
  readonly unit: 'per-second' | 'share' | 'nanoseconds' | 'count';
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface IntervalsView {
  readonly scenario: string;
  readonly replications: number;
  /** What was cut off at the beginning, as a phrase. */
  readonly warmUp: string;
  /** What the widest of the intervals that were steered came to, and whose it is, where an error was to be reached. */
  readonly relativeError?: number;
  readonly widest?: string;
  readonly figures: readonly IntervalFigure[];
}

export function intervalsText(view: IntervalsView, paint: Paint): string[] {
  const rows = view.figures.map((figure) => [figure.name, figureText(figure.value, figure.unit), intervalText(figure)]);
  return [
    `${paint.strong(view.scenario)}: ${view.replications} replications in imagined time`,
    paint.faint(`warm-up: ${view.warmUp}`),
    ...errorLines(view, paint),
    '',
    ...table([{ title: 'figure' }, { title: 'mean', align: 'right' }, { title: '95 % interval' }], rows, paint.faint),
  ];
}

function errorLines({ relativeError, widest }: IntervalsView, paint: Paint): string[] {
  if (relativeError === undefined || widest === undefined) return [];
  return [
    paint.faint(`widest interval of throughput and quantiles: ± ${(100 * relativeError).toFixed(2)} %, of ${widest}`),
  ];
}

export function intervalText({ low, high, unit }: IntervalFigure): string {
  // A share or a time below zero is no possibility, only arithmetic.
  return `${figureText(Math.max(0, low), unit)} … ${figureText(high, unit)}`;
}

export function figureText(value: number, unit: IntervalFigure['unit']): string {
  switch (unit) {
    case 'per-second':
      return `${value.toFixed(1)}/s`;
    case 'share':
      return `${(value * 100).toFixed(1)} %`;
    case 'nanoseconds':
      return `${(value / 1e6).toFixed(1)} ms`;
    case 'count':
      return value.toFixed(2);
  }
}
