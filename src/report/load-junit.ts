// A load run as JUnit XML: a case for each objective, and one for the ruler itself. Where the generator was the limit an objective
// that is not met is an error and no failure: nothing is proved against the service.

import { type JunitCase, junitText } from './junit.ts';
import { type LoadFigures, loadText } from './load-text.ts';
import { plain } from './paint.ts';
import type { ObjectiveOutcome } from './outcome.ts';

/** `where`: what was loaded. */
export function loadJunit(where: string, figures: LoadFigures, objectives: readonly ObjectiveOutcome[]): string {
  const limited = figures.limits.length > 0;
  return junitText({
    name: `plimsoll load ${where}`,
    className: 'plimsoll.load',
    seconds: figures.span_ns / 1e9,
    cases: [...objectives.map((objective) => objectiveCase(objective, limited)), rulerCase(figures.limits)],
    output: loadText(figures, { spectrum: false, uncorrected: false }, plain).join('\n'),
  });
}

function objectiveCase({ metric, expression, observed, met }: ObjectiveOutcome, limited: boolean): JunitCase {
  const name = `${metric} ${expression}`;
  if (met) return { name };
  const why = `${metric} ${expression} does not hold: ${observed === undefined ? 'nothing was observed' : `observed ${observed.toPrecision(4)}`}`;
  return limited
    ? {
        name,
        end: { kind: 'error', why: `${why}; the generator was the limit, which proves nothing against the service` },
      }
    : { name, end: { kind: 'failure', why } };
}

const rulerCase = (limits: readonly string[]): JunitCase => ({
  name: 'the generator was not the limit',
  ...(limits.length === 0 ? {} : { end: { kind: 'error', why: limits.join('\n') } }),
});
