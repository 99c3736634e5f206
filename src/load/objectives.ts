// Objectives against what was measured: each expression, the value it was compared with, and whether it holds.
//
//   http_req_duration   milliseconds from due time to the whole answer; what had not ended counts as a lower bound
//   http_req_failed     share of what was planned that did not end in a good answer
//   http_reqs           requests sent: `count`, or `rate` a second
//
// An objective that cannot be observed (nothing was answered) is not met: silence proves nothing. Of one replica only what it
// answered is known, and what failed on the way to it where its address is the target's.

import { type Duration, inMs, inSeconds, ns } from '../base.ts';
import type { Objective, ObjectiveFilter } from '../scenario.ts';
import { Histogram } from '../stats.ts';
import type { ObjectiveResult } from './contract.ts';
import type { ReplicaTally, Tally } from './tally.ts';

/** What an objective is about: requests of a stretch of time, narrowed to its filter. */
export class Subject {
  span: Duration = ns(0);
  planned = 0;
  sent = 0;
  answered = 0;
  readonly latency = new Histogram();

  add(other: Outcome & { readonly span: Duration }): void {
    this.span = ns(this.span + other.span);
    this.planned += other.planned;
    this.sent += other.sent;
    this.answered += other.answered;
    this.latency.add(other.latency);
  }
}

/** Tallies by group, and names for both kinds of filter. */
export interface Measured {
  readonly span: Duration;
  readonly tallies: readonly Tally[];
  readonly groupNames: readonly string[];
  readonly replicaName: (index: number) => string;
}

export function subjectOf({ filters = [] }: Objective, measured: Measured): Subject {
  const subject = new Subject();
  const group = filters.find(({ key }) => key === 'group')?.value;
  const replica = filters.find(({ key }) => key === 'replica')?.value;
  measured.tallies.forEach((tally, index) => {
    if (group !== undefined && measured.groupNames[index] !== group) return;
    if (replica === undefined) addTally(subject, tally);
    else addReplicas(subject, tally, (one) => measured.replicaName(one) === replica);
  });
  subject.span = measured.span;
  return subject;
}

function addTally(subject: Subject, tally: Tally): void {
  subject.planned += tally.planned;
  subject.sent += tally.sent;
  subject.answered += tally.answered;
  subject.latency.add(tally.latency);
}

function addReplicas(subject: Subject, tally: Tally, isWanted: (replica: number) => boolean): void {
  tally.replicas.forEach((replica, index) => {
    if (replica === undefined || !isWanted(index)) return;
    const { withStatus, without } = failuresOf(replica);
    subject.planned += replica.finished + without;
    subject.sent += replica.finished + without;
    subject.answered += replica.finished - withStatus;
    subject.latency.add(replica.latency);
  });
}

function failuresOf(replica: ReplicaTally): { readonly withStatus: number; readonly without: number } {
  let withStatus = 0;
  let without = 0;
  for (const [kind, count] of replica.errors) {
    if (kind.startsWith('status-')) withStatus += count;
    else without += count;
  }
  return { withStatus, without };
}

/** What an objective can be about where there is no more than this to know. */
export type Outcome = Pick<Tally, 'planned' | 'sent' | 'answered' | 'latency'>;

/** Objectives against what a stretch that lasted `span` came to. `outcomeOf` knows the requests that an objective is narrowed to; where
 * it knows none nothing is observed. Windows are the whole stretch. */
export function evaluate(
  objectives: readonly Objective[],
  outcomeOf: (filters: readonly ObjectiveFilter[]) => Outcome | undefined,
  span: Duration,
): readonly ObjectiveResult[] {
  return objectives.map((objective) => {
    const subject = new Subject();
    const outcome = outcomeOf(objective.filters ?? []);
    if (outcome !== undefined) subject.add({ ...outcome, span });
    return judge(objective, subject);
  });
}

/** One objective against one subject. */
export function judge(objective: Objective, subject: Subject): ObjectiveResult {
  const observed = observe(objective, subject);
  return {
    metric: nameOf(objective),
    expression: objective.expression,
    observed: observed?.value,
    met: observed !== undefined && isMet(objective, observed),
  };
}

/** As it was written: `http_req_duration{replica:api-2}`. */
export const nameOf = ({ metric, filters }: Objective): string =>
  filters === undefined ? metric : `${metric}{${filters.map(({ key, value }) => `${key}:${value}`).join()}}`;

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

function observe(objective: Objective, subject: Subject): Observed | undefined {
  switch (objective.metric) {
    case 'http_req_duration':
      return latency(objective, subject.latency);
    case 'http_req_failed':
      return subject.planned === 0 ? undefined : exactly(1 - subject.answered / subject.planned);
    case 'http_reqs':
      if (objective.aggregate === 'count') return exactly(subject.sent);
      return subject.span > 0 ? exactly(subject.sent / inSeconds(subject.span)) : undefined;
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
