// The form of a home-made access log, learnt from one of its lines, as a program for fast reading: what stood between the
// values of that line stands between the values of the others.
//
//   2026-03-04T14:00:15.000Z host=inner "GET /x HTTP/1.1" 504 rt=15.001
//   iso time, until " host=" · service, until " \"" · request, until "\" " · status, until " rt=" · seconds
//
// A bare word has the place whose value the slow reader found in it. Whether the whole is right is not decided here: a program
// is held against the slow reader before it is used.

import { type AccessField, fieldOf } from './access-fields.ts';
import type { AccessRows } from './access-row.ts';
import { leadingInstant } from './instants.ts';
import type { Place, Program, Step } from './line-program.ts';
import type { RequestRow } from './request-table.ts';

/** A value of the line: where it stands, and its key when it has one. */
export interface PlacedWord {
  readonly begin: number;
  readonly end: number;
  readonly key: string | undefined;
}

const places: Readonly<Partial<Record<AccessField, Place>>> = {
  request: 'request',
  seconds: 'seconds',
  upstreamSeconds: 'upstream-seconds',
  headerSeconds: 'header-seconds',
  connectSeconds: 'connect-seconds',
  queueSeconds: 'queue-seconds',
  status: 'status',
  upstreamStatus: 'upstream-status',
  client: 'client',
  flag: 'flag',
  service: 'service',
  worker: 'worker',
};

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
  let before: { place: Place; perSecond: number; begin: number; end: number } | undefined;
  const finish = (to: number): void => {
    if (before === undefined) return;
    const { place, perSecond, end } = before;
    steps.push({ place, before: line.slice(end, to), ...(perSecond === 1 ? {} : { perSecond }) });
  };
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) break;
    const text = line.slice(word.begin, word.end);
    // What may only have this one value is part of what stands between the others.
    if (word.key !== undefined && fieldOf(word.key)?.field === 'details') continue;
    const place = word.key === undefined ? placeOfWord(line, word, row, taken) : placeOfKey(word.key, text, rows);
    if (place === undefined) return undefined;
    if (!place.startsWith('skip') && taken.has(place)) return undefined;
    taken.add(place);
    finish(word.begin);
    prefix ??= line.slice(0, word.begin);
    const unit = word.key === undefined ? 1 : (rows.unitOf(word.key) ?? 1);
    let { end } = word;
    if (place === 'bare-request') {
      end = words[index + 1]?.end ?? end;
      index += 1;
    }
    before = { place, perSecond: Math.round(1 / unit), begin: word.begin, end };
  }
  finish(line.length);
  if (prefix === undefined || steps.length === 0) return undefined;
  return {
    prefix,
    steps,
    rest: 'nothing',
    timesAreEnds: rows.timesAreStarts === false,
    statusIsUpstreams: rows.program === 'envoy',
  };
}

function placeOfKey(key: string, text: string, rows: AccessRows): Place | undefined {
  const field = fieldOf(key)?.field;
  if (field === undefined) return 'skip-list';
  if (field === 'time' || field === 'start') return instantPlace(text);
  if (field === 'replica')
    return rows.program === 'nginx' && /^(?:ua|up|upstream|upstream_addr)$/.test(key) ? 'tried' : 'replica';
  return places[field];
}

/** The place of a word without a key: that whose value it is. The method of a bare request stands before its path. */
function placeOfWord(line: string, word: PlacedWord, row: RequestRow, taken: ReadonlySet<Place>): Place | undefined {
  const text = line.slice(word.begin, word.end);
  const instant = instantPlace(text);
  if (instant !== undefined && !taken.has(instant)) return instant;
  if (row.route !== undefined && !taken.has('request') && !taken.has('bare-request')) {
    const [method = ''] = row.route.split(' ');
    if (text === method) return 'bare-request';
    if (text.startsWith(`${method} `)) return 'request';
  }
  if (text === String(row.status) && !taken.has('status')) return 'status';
  if (/^\d+\.\d+$/.test(text) && Number(text) === row.seconds && !taken.has('bare-seconds')) return 'bare-seconds';
  if (text === row.replica) return 'replica';
  if (row.client !== undefined && !taken.has('client') && !taken.has('client-with-port')) {
    if (text === row.client) return 'client';
    if (text.replace(/:\d+$/, '') === row.client) return 'client-with-port';
  }
  return 'skip';
}

function instantPlace(text: string): Place | undefined {
  const found = leadingInstant(text);
  if (found === undefined || found.end !== text.length) return undefined;
  if (/^\d{4}-/.test(text)) return 'iso-time';
  if (/^\d\d\/[A-Z][a-z]{2}\//.test(text)) return 'common-time';
  return /^\d{10}(?:\.\d+)?$|^\d{13}$/.test(text) ? 'epoch-time' : undefined;
}
