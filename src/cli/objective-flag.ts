// `--objective "http_req_duration: p(95)<200"`: metric and expression in one flag.

import { type Objective, parseObjective } from '../scenario.ts';

/** The objective, or the sentence that says what is wrong with it. */
export function objectiveOf(line: string): Objective | string {
  // A colon within braces belongs to the filter: http_req_duration{replica:api-2}: p(95)<200.
  const colon = /:(?![^{]*\})/.exec(line)?.index ?? -1;
  return colon === -1
    ? 'expected a metric and an expression such as "http_req_duration: p(95)<200"'
    : parseObjective(line.slice(0, colon).trim(), line.slice(colon + 1));
}
