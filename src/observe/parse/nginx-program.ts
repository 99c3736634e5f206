// A `log_format` of nginx as a program for fast reading. The variables say what stands at each place; what stands between
// them says where it ends. Of two variables for one column the more telling one counts, as for the slow reader.

import { fieldOf, type FieldMeaning } from './access-fields.ts';
import { fieldPlaces, type Place, type Program, type Step } from './line-form.ts';

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
    // A number that ends within a word could be any part of that word.
    if (isNumber(place) && before !== '' && !/^["\]]| /.test(before)) return undefined;
    const mayBeList = /^["\]]/.test(before) || match[1]?.startsWith('upstream_') === true;
    steps.push({ place, before, number: mayBeList ? 'tries' : 'decimal', needed: isRivalled(meanings, index) });
  }
  if (steps.length === 0 || !/^[ -~]*$/.test(format)) return undefined;
  return {
    prefix: format.slice(0, found[0]?.index ?? 0),
    steps,
    timesAreEnds: true,
    statusIsUpstreams: 'never',
    serviceMayAnswer: true,
  };
}

function placeOf(variable: string, meanings: readonly (FieldMeaning | undefined)[], index: number): Place | undefined {
  const meaning = meanings[index];
  const skipped = variable.startsWith('upstream_') ? 'skip-list' : 'skip';
  if (meaning === undefined) return skipped;
  const rivals = meanings.filter((other) => other?.field === meaning.field);
  const isFirst = rivals.every((other) => other === meaning || meaning.rank < (other?.rank ?? 0));
  if (!isFirst) return skipped;
  return meaning.field === 'time'
    ? times[variable]
    : variable === 'upstream_addr'
      ? 'tried'
      : fieldPlaces[meaning.field];
}

const times: Readonly<Record<string, Place>> = {
  time_local: 'common-time',
  time_iso8601: 'iso-time',
  msec: 'epoch-time',
};

function isNumber(place: Place): boolean {
  return place.endsWith('seconds') || place.endsWith('status');
}

/** Whether another variable would count if this one were a dash. */
function isRivalled(meanings: readonly (FieldMeaning | undefined)[], index: number): boolean {
  const meaning = meanings[index];
  return meaning !== undefined && meanings.some((other, at) => at !== index && other?.field === meaning.field);
}
