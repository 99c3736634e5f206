// What the dossier knows of a load generator: whether there was one, how it asked, what it reached.

import type { LoadResultFact } from '../../record.ts';
import { spreadOf, type Spread } from './spread.ts';
import type { View } from './view.ts';

const knownTool = /\b(?:jmeter|gatling|locust|k6|vegeta|wrk2?|autocannon|artillery|tsung|fortio|h2load)\b/i;

/** `vegeta`, `k6`; `load generator` where its name is not known; undefined when nothing speaks of one. */
export function loadTool(view: View): string | undefined {
  const [result] = view.results;
  const named = view.text('load.tool');
  if (result !== undefined) return result.tool;
  if (named !== undefined) return named;
  // A file of one, such as `jmeter.properties`.
  const own = view.dossier.settings.map(({ scope }) => knownTool.exec(scope)?.[0]?.toLowerCase());
  const known = own.find((tool) => tool !== undefined);
  if (known !== undefined) return known;
  return view.settings('load.users', 'load.rate', 'load.connections', 'load.model').length > 0
    ? 'load generator'
    : undefined;
}

/** Requests that the generator says it made: by its result, or as planned. */
export function loadRequests(view: View): number | undefined {
  const results = view.results.flatMap(({ requests }) => requests ?? []);
  if (results.length > 0) return Math.max(...results);
  const rate = view.number('load.rate');
  const seconds = view.number('load.seconds');
  // What is counted of one of several replicas is not what was made.
  const counted = view.gauge(
    (name, labels) =>
      /^(?:load_)?requests(?:_total)?$/.test(name) &&
      Object.keys(labels).every((label) => /^(?:run|tool|scenario|row|job|test)$/.test(label)),
  )?.value;
  return counted ?? (rate !== undefined && seconds !== undefined ? rate * seconds : undefined);
}

/** Connections that the generator opened: as it was told, or as it reports. */
export function loadConnections(view: View): number | undefined {
  const told = view.number('load.connections') ?? view.number('load.users');
  const [reported] = view.results.flatMap(({ connections, users }) => connections ?? users ?? []);
  return told ?? reported;
}

/** Whether these are the very connections of the generator: as many as it opened, within a tenth. Undefined: not known. */
export function isReachedByGenerator(view: View, { fleet, hot }: Spread): boolean | undefined {
  const opened = loadConnections(view);
  const connections = spreadOf(fleet, 'connections');
  const surely = view.number('load.connections') !== undefined;
  if (opened === undefined || (opened < 2 && !surely) || connections === undefined || hot.connections === undefined)
    return undefined;
  return Math.abs(hot.connections / opened - 1) <= 0.1;
}

/** Requests a second that were answered. */
export function rateOf(result: LoadResultFact): number | undefined {
  if (result.ratePerSecond !== undefined) return result.ratePerSecond;
  return result.requests !== undefined && result.seconds !== undefined ? result.requests / result.seconds : undefined;
}
