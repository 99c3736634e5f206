// A `log_format` of nginx as a program for fast reading. The variables say what stands at each place; what stands between
// them says where it ends. Of two variables for one column the more telling one counts, as for the slow reader.

import { type AccessField, fieldOf, type FieldMeaning } from './access-fields.ts';
import type { Place, Program, Step } from './line-program.ts';

/** Places of fields; a form with a field that has none is left to the slow reader. */
const places: Readonly<Partial<Record<AccessField, Place>>> = {
  request: 'request',
  seconds: 'seconds',
  upstreamSeconds: 'upstream-seconds',
  headerSeconds: 'header-seconds',
  connectSeconds: 'connect-seconds',
  queueSeconds: 'queue-seconds',
  status: 'status',
  upstreamStatus: 'upstream-status',
  replica: 'tried',
  client: 'client',
  service: 'service',
  worker: 'worker',
};

/** The program of this format; undefined when its lines cannot be read in one pass. */
export function nginxProgram(format: string): Program | undefined {
  const found = [...format.matchAll(/\$\{?([a-z0-9_]+)\}?/g)];
  const steps: Step[] = [];
  const meanings = found.map((match) => fieldOf(match[1] ?? ''));
  for (const [index, match] of found.entries()) {
    const next = found[index + 1];
    const after = match.index + match[0].length;
    const before = format.slice(after, next?.index ?? format.length);
    // Two values with nothing between them cannot be told apart.
    if (before === '' && next !== undefined) return undefined;
    const place = placeOf(match[1] ?? '', meanings, index);
    if (place === undefined) return undefined;
    steps.push({ place, before, ...(isRivalled(meanings, index) ? { needed: true } : {}) });
  }
  if (steps.length === 0 || !/^[ -~]*$/.test(format)) return undefined;
  return {
    prefix: format.slice(0, found[0]?.index ?? 0),
    steps,
    rest: 'nothing',
    timesAreEnds: true,
    statusIsUpstreams: false,
  };
}

function placeOf(variable: string, meanings: readonly (FieldMeaning | undefined)[], index: number): Place | undefined {
  if (variable === 'time_local') return 'common-time';
  if (variable === 'time_iso8601') return 'iso-time';
  if (variable === 'msec') return 'epoch-time';
  const meaning = meanings[index];
  const skipped = variable.startsWith('upstream_') ? 'skip-list' : 'skip';
  if (meaning === undefined) return skipped;
  const rivals = meanings.filter((other) => other?.field === meaning.field);
  const first = rivals.every((other) => other === meaning || meaning.rank < (other?.rank ?? 0));
  return first ? places[meaning.field] : skipped;
}

/** Whether another variable would count if this one were a dash. */
function isRivalled(meanings: readonly (FieldMeaning | undefined)[], index: number): boolean {
  const meaning = meanings[index];
  return meaning !== undefined && meanings.some((other, at) => at !== index && other?.field === meaning.field);
}
