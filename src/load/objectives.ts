// Objectives against what was measured: each expression, the value it was compared with, and whether it holds.
//
//   http_req_duration   milliseconds from due time to the whole answer; what had not ended counts as a lower bound
//   http_req_failed     share of what was planned that did not end in a good answer
//   http_reqs           requests sent: `count`, or `rate` a second
//
// An objective that cannot be observed (nothing was answered) is not met: silence proves nothing.

import { type Duration, inMs, inSeconds } from '../base.ts';
import type { Objective } from '../scenario.ts';
import type { Histogram } from '../stats.ts';
import type { ObjectiveResult } from './contract.ts';
import type { Tally } from './tally.ts';

/** What an objective can be about. */
export type Outcome = Pick<Tally, 'planned' | 'sent' | 'answered' | 'latency'>;

/** What all groups together did in the measured stretch, which lasted `span`. */
export function evaluate(objectives: readonly Objective[], tally: Outcome, span: Duration): readonly ObjectiveResult[] {
  return objectives.map((objective) => {
    const observed = observe(objective, tally, span);
    return {
      metric: objective.metric,
      expression: objective.expression,
      observed: observed?.value,
      met: observed !== undefined && isMet(objective, observed),
    };
  });
}

interface Observed {
  readonly value: number;
  /** The true value is this or more. */
  readonly atLeast: boolean;
}

/** That something is at least 150 ms does not show that it is below 200 ms. */
function isMet(objective: Objective, observed: Observed): boolean {
  const boundedAbove = objective.operator !== '>' && objective.operator !== '>=';
  return holds(observed.value, objective.operator, objective.bound) && !(observed.atLeast && boundedAbove);
}

function observe(objective: Objective, tally: Outcome, span: Duration): Observed | undefined {
  switch (objective.metric) {
    case 'http_req_duration':
      return latency(objective, tally.latency);
    case 'http_req_failed':
      return tally.planned === 0 ? undefined : exactly(1 - tally.answered / tally.planned);
    case 'http_reqs':
      if (objective.aggregate === 'count') return exactly(tally.sent);
      return span > 0 ? exactly(tally.sent / inSeconds(span)) : undefined;
    default:
      return undefined;
  }
}

function latency(objective: Objective, histogram: Histogram): Observed | undefined {
  switch (objective.aggregate) {
    case 'avg':
      return of(histogram.mean, histogram.unfinishedCount > 0);
    case 'min':
      return of(histogram.min, false);
    case 'med':
      return at(histogram, 0.5);
    case 'max':
      return at(histogram, 1);
    case 'p':
      return at(histogram, (objective.percentile ?? 50) / 100);
    default:
      return undefined;
  }
}

const exactly = (value: number): Observed => ({ value, atLeast: false });

const of = (value: Duration | undefined, atLeast: boolean): Observed | undefined =>
  value === undefined ? undefined : { value: inMs(value), atLeast };

function at(histogram: Histogram, q: number): Observed | undefined {
  const quantile = histogram.quantile(q);
  return of(quantile?.value, quantile?.atLeast ?? false);
}

function holds(observed: number, operator: Objective['operator'], bound: number): boolean {
  switch (operator) {
    case '<':
      return observed < bound;
    case '<=':
      return observed <= bound;
    case '>':
      return observed > bound;
    case '>=':
      return observed >= bound;
    case '==':
      return observed === bound;
    case '!=':
      return observed !== bound;
  }
}
