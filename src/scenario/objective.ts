// Objectives in the grammar of k6's thresholds, so that people can bring what they have:
//
//   http_req_duration: ['p(95)<200', 'avg<50']    trend, milliseconds
//   http_req_failed:   ['rate<0.01']              rate, a share of all requests
//   http_reqs:         ['count>1000', 'rate>90']  counter: all requests, and requests a second
//
// and with what it lacks:
//
//   http_req_duration{replica:api-2}: ['p(95)<200']      only what this replica answered; or {group:shop}, or both
//   http_req_duration: ['p(95)<200 over 10s']            over every ten seconds, and not only over the whole
//   http_req_failed:   ['rate<0.5 over 5s or abort']     the load ends as soon as it does not hold
//   http_req_failed:   ['rate<0.5 or abort after 30s']   but not in the first thirty seconds
//
// The long form that k6 has for the last two is taken too: {threshold: 'rate<0.5', abortOnFail: true, delayAbortEval: '30s'}.

import { parseDuration, seconds } from '../base.ts';
import { didYouMean } from './nearest.ts';
import type { Objective, ObjectiveFilter } from './model.ts';

type Kind = 'trend' | 'rate' | 'counter';

const metrics: Readonly<Record<string, Kind>> = {
  http_req_duration: 'trend',
  http_req_failed: 'rate',
  http_reqs: 'counter',
};

const aggregates: Readonly<Record<Kind, readonly string[]>> = {
  trend: ['avg', 'min', 'med', 'max', 'p'],
  rate: ['rate'],
  counter: ['count', 'rate'],
};

/** One threshold, or the sentence that says what is wrong with it. */
export function parseObjective(metricAndFilter: string, expression: string): Objective | string {
  const named = metricOf(metricAndFilter);
  if (typeof named === 'string') return named;
  const { metric, filters } = named;
  const kind = metrics[metric];
  if (kind === undefined) {
    const known = Object.keys(metrics);
    return `unknown metric '${metric}': expected one of ${known.join(', ')}.${didYouMean(metric, known)}`;
  }
  const [, condition = '', over, orAbort, afterText] =
    /^(.*?)(?:\s+over\s+(\S+))?(\s+or\s+abort(?:\s+after\s+(\S+))?)?\s*$/s.exec(expression) ?? [];
  const window = over === undefined ? undefined : parseDuration(over);
  if (over !== undefined && (window === undefined || window < seconds(1))) {
    return `expected a window of a second or more such as 10s, found '${over}'`;
  }
  const abortAfter = orAbort === undefined ? undefined : parseDuration(afterText ?? '0s');
  if (orAbort !== undefined && abortAfter === undefined) {
    return `expected a duration such as 30s after 'or abort after', found '${afterText}'`;
  }
  const match = /^\s*([a-z]+)\s*(?:\(\s*(\d+(?:\.\d+)?)\s*\))?\s*(<=|>=|==|!=|<|>)\s*(-?\d+(?:\.\d+)?)\s*$/.exec(
    condition,
  );
  if (match === null) return `expected an expression such as ${example(kind)}, found '${expression}'`;
  const [, aggregate = '', inside, operator = '', bound] = match;
  if (!isAggregate(aggregate) || !aggregates[kind].includes(aggregate)) {
    const known = aggregates[kind].map((each) => (each === 'p' ? 'p(…)' : each)).join(', ');
    return `${metric} has no '${aggregate}': expected one of ${known}, as in ${example(kind)}`;
  }
  if ((aggregate === 'p') !== (inside !== undefined)) {
    return aggregate === 'p'
      ? `p needs its percentile: expected an expression such as ${example(kind)}, found '${expression}'`
      : `${aggregate} takes no argument: expected an expression such as ${aggregate}<200, found '${expression}'`;
  }
  const percentile = inside === undefined ? undefined : Number(inside);
  if (percentile !== undefined && percentile > 100) return `expected a percentile from 0 to 100, found ${percentile}`;
  if (!isOperator(operator)) return `expected an operator, found '${operator}'`;
  return {
    metric,
    expression: expression.trim(),
    aggregate,
    percentile,
    operator,
    bound: Number(bound),
    ...(filters.length === 0 ? {} : { filters }),
    ...(window === undefined ? {} : { window }),
    ...(abortAfter === undefined ? {} : { abortAfter }),
  };
}

/** `http_req_duration{replica:api-2}`: the metric and what it is narrowed to. */
function metricOf(text: string): { readonly metric: string; readonly filters: readonly ObjectiveFilter[] } | string {
  const [, metric = '', , inside] = /^([^{]*?)\s*(\{([^}]*)\})?$/.exec(text.trim()) ?? [];
  if (metric === '') return `expected a metric such as http_req_duration{replica:api-2}, found '${text}'`;
  if (inside === undefined) return { metric, filters: [] };
  const filters: ObjectiveFilter[] = [];
  for (const tag of inside.split(',')) {
    const [, key = '', value = ''] = /^\s*([^:]*?)\s*(?::\s*(.*?)\s*)?$/s.exec(tag) ?? [];
    if (key !== 'replica' && key !== 'group') {
      return `${metric} cannot be narrowed to a '${key}': expected replica or group, as in ${metric}{replica:api-2}`;
    }
    if (value === '') return `expected the name of a ${key}, as in ${metric}{${key}:api-2}`;
    if (filters.some((filter) => filter.key === key))
      return `${metric} is narrowed to two of the kind ${key}: expected one`;
    filters.push({ key, value });
  }
  return { metric, filters };
}

const example = (kind: Kind): string => (kind === 'trend' ? 'p(95)<200' : kind === 'rate' ? 'rate<0.01' : 'count>1000');

const isAggregate = (text: string): text is Objective['aggregate'] =>
  ['p', 'avg', 'min', 'med', 'max', 'rate', 'count'].includes(text);

const isOperator = (text: string): text is Objective['operator'] => ['<', '<=', '>', '>=', '==', '!='].includes(text);
