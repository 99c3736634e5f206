// The form of a home-made access log, learnt from one of its lines, as a program for fast reading: what stood between the
// values of that line stands between the values of the others.
//
//   2026-03-04T14:00:15.000Z host=inner "GET /x HTTP/1.1" 504 rt=15.001
//   iso time, until " host=" · service, until " \"" · request, until "\" " · status, until " rt=" · seconds
//
// A bare word has the place whose value the slow reader found in it. Whether the whole is right is not decided here: a program
// is held against the slow reader before it is used.

import { fieldOf } from './access-fields.ts';
import type { AccessRows } from './access-row.ts';
import { leadingInstant } from './instants.ts';
import { fieldPlaces, type Place, type Program, type Step } from './line-form.ts';
import type { RequestRow } from './request-table.ts';

/** A value of the line: where it stands, and its key when it has one. */
export interface PlacedWord {
  readonly begin: number;
  readonly end: number;
  readonly key: string | undefined;
}

/** The program of lines like this one; undefined when they cannot be read in one pass. `row`: what the slow reader made of it. */
export function learntProgram(
  line: string,
  words: readonly PlacedWord[],
  row: RequestRow,
  rows: AccessRows,
): Program | undefined {
  const steps: Step[] = [];
  const taken = new Set<Place>();
  let prefix: string | undefined;
  let before: (Omit<Step, 'before'> & { readonly end: number }) | undefined;
  let isUpstreams = false;
  const finish = (to: number): void => {
    if (before === undefined) return;
    const { end, ...step } = before;
    steps.push({ ...step, before: line.slice(end, to) });
  };
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) break;
    const text = line.slice(word.begin, word.end);
    // What may only have this one value is part of what stands between the others.
    if (word.key !== undefined && fieldOf(word.key)?.field === 'details') {
      if (text !== 'via_upstream') return undefined;
      isUpstreams = true;
      continue;
    }
    const place = word.key === undefined ? placeOfWord(text, row, taken) : placeOfKey(word.key, text, rows);
    if (place === undefined) return undefined;
    if (!place.startsWith('skip') && (taken.has(place) || taken.has(keyed[place] ?? place))) return undefined;
    taken.add(place);
    finish(word.begin);
    prefix ??= line.slice(0, word.begin);
    const unit = word.key === undefined ? 1 : (rows.unitOf(word.key) ?? 1);
    // A bare request is two words, unless it stands in quotes.
    if (place === 'bare-request' && !text.includes(' ')) index += 1;
    const end = words[index]?.end ?? word.end;
    const isQuoted = /^["\]]/.test(line.slice(end));
    before = { place, number: isQuoted ? 'tries' : 'decimal', perSecond: Math.round(1 / unit), quotable: true, end };
  }
  finish(line.length);
  if (prefix === undefined || steps.length === 0) return undefined;
  // Of few words an address may be who was asked.
  if (taken.has('bare-client') && words.filter(({ key }) => key === undefined).length <= 3) return undefined;
  return {
    prefix,
    steps,
    timesAreEnds: rows.timesAreStarts === false,
    statusIsUpstreams: isUpstreams ? 'always' : 'never',
    serviceMayAnswer: true,
  };
}

/** What says the same with a key, and then counts more. */
const keyed: Readonly<Partial<Record<Place, Place>>> = {
  'bare-status': 'status',
  'bare-seconds': 'seconds',
  'bare-client': 'client',
  'bare-request': 'request',
  status: 'bare-status',
  seconds: 'bare-seconds',
  client: 'bare-client',
  request: 'bare-request',
};

function placeOfKey(key: string, text: string, rows: AccessRows): Place | undefined {
  const field = fieldOf(key)?.field;
  if (field === undefined) return 'skip';
  if (field === 'time' || field === 'start') return instantPlace(text);
  if (field === 'request') return requestPlace(text);
  if (field === 'replica')
    return rows.program === 'nginx' && /^(?:ua|up|upstream|upstream_addr)$/.test(key) ? 'tried' : 'replica';
  return fieldPlaces[field];
}

/** The place of a word without a key: that whose value it is; undefined when it depends on more than its form. */
function placeOfWord(text: string, row: RequestRow, taken: ReadonlySet<Place>): Place | undefined {
  const instant = instantPlace(text);
  if (instant !== undefined && !taken.has(instant)) return instant;
  if (row.route !== undefined && !taken.has('request') && !taken.has('bare-request')) {
    const [method = ''] = row.route.split(' ');
    if (text === method || text.startsWith(`${method} `)) return requestPlace(text);
  }
  if (text === String(row.status) && !taken.has('bare-status')) return 'bare-status';
  if (/^\d+\.\d+$/.test(text) && Number(text) === row.seconds && !taken.has('bare-seconds')) return 'bare-seconds';
  if (text === row.replica) return undefined;
  if (text.replace(/:\d+$/, '') === row.client && !taken.has('bare-client')) return 'bare-client';
  return 'skip-mute';
}

function requestPlace(text: string): Place {
  return / HTTP\/[\d.]+$/.test(text) ? 'request' : 'bare-request';
}

function instantPlace(text: string): Place | undefined {
  const found = leadingInstant(text);
  if (found === undefined || found.end !== text.length) return undefined;
  if (/^\d{4}-/.test(text)) return 'iso-time';
  if (/^\d\d\/[A-Z][a-z]{2}\//.test(text)) return 'common-time';
  return /^\d{10}(?:\.\d+)?$|^\d{13}$/.test(text) ? 'epoch-time' : undefined;
}
