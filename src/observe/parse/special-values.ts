// Values of a line that need more than to be noted, a function each: it is given where the value stands and says whether it can
// be read here. All of them are strict: what could mean something else to the slow reader is declined, and it reads that line.
// What is rare (a list of tries, a flag with its reason) may make a string, and asks the slow reader's own functions.

import { departure, lastOf, withReason } from './access-row.ts';
import { find, isDigit, repeated, textOf, Wording } from './byte-words.ts';
import type { Place } from './line-form.ts';
import { portBegin } from './line-numbers.ts';
import { columns, type LineValues } from './line-values.ts';
import { cells } from './request-table.ts';

/** `isNeeded`: a dash means that another place counts. */
export type ValueReader = (values: LineValues, bytes: DataView, from: number, to: number, isNeeded: boolean) => boolean;

const quote = 34;
const comma = 44;
const dash = 45;
const dot = 46;
const slash = 47;
const lessThan = 60;
const equals = 61;
const openBracket = 91;
const openBrace = 123;
const closeBrace = 125;
const blanks = repeated(32);
const quotes = repeated(quote);
const commas = repeated(comma);
const dots = repeated(dot);
const slashes = repeated(slash);
/** HAProxy's name for a server that was not chosen. */
const nobody = new Wording('<NOSRV>');
const socket = new Wording('unix:');

export const specialValues: Readonly<Partial<Record<Place, ValueReader>>> = {
  replica,
  server,
  tried,
  client,
  'client-with-port': clientWithPort,
  'bare-client': bareClient,
  'skip-mute': mute,
  'envoy-flag': envoyFlag,
  details,
  termination,
  'last-request': lastRequest,
  'bare-request': bareRequest,
};

/** Nothing, or the dash that stands for it. */
export function isDash(bytes: DataView, from: number, to: number): boolean {
  return to <= from || (to - from === 1 && bytes.getUint8(from) === dash);
}

function isCapital(byte: number): boolean {
  return byte >= 65 && byte <= 90;
}

function has(bytes: DataView, from: number, to: number, pattern: number): boolean {
  return find(bytes, from, to, pattern) < to;
}

/** A name without blanks; addresses of the web (`http://…`) and user agents have a slash, lists a comma. */
function replica(values: LineValues, bytes: DataView, from: number, to: number, isNeeded: boolean): boolean {
  if (isDash(bytes, from, to)) return !isNeeded;
  if (has(bytes, from, to, slashes) || has(bytes, from, to, commas) || has(bytes, from, to, blanks)) return false;
  values.note(columns.replica, from, to);
  return true;
}

/** Who was asked after all had gone is told by the retries, which come later. */
function server(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  values.noServer = bytes.getUint8(from) === lessThan;
  if (values.noServer) return to - from === nobody.length && nobody.standsAt(bytes, from);
  values.note(columns.replica, from, to);
  return true;
}

/** nginx's list of tries. What has no port is the name of a group: no server could be chosen. */
function tried(values: LineValues, bytes: DataView, from: number, to: number, isNeeded: boolean): boolean {
  if (isDash(bytes, from, to)) return !isNeeded;
  let last = from;
  let tries = 1;
  if (has(bytes, from, to, commas) || has(bytes, from, to, blanks)) {
    const list = textOf(bytes, from, to);
    const name = String(lastOf(list));
    if (!list.endsWith(name) || name.includes(' ')) return false;
    last = to - name.length;
    tries = list.split(/, ?| : /).length;
  }
  if (isDash(bytes, last, to) || has(bytes, last, to, slashes)) return false;
  values.numbers[cells.attempts] = tries;
  const isGroup = portBegin(bytes, last, to) === to && !socket.standsAt(bytes, last);
  if (!isGroup) values.note(columns.replica, last, to);
  else if (!values.has(columns.service)) values.note(columns.service, last, to);
  return true;
}

/** Proxies append to a list; the first is who asked. */
function client(values: LineValues, bytes: DataView, from: number, to: number, isNeeded: boolean): boolean {
  if (isDash(bytes, from, to)) return !isNeeded;
  if (values.has(columns.client)) return true;
  const own = find(bytes, from, to, commas);
  if (own === from || has(bytes, from, own, blanks)) return false;
  const hasPort = portBegin(bytes, from, own) < own && has(bytes, from, own, dots);
  if (hasPort || (bytes.getUint8(from) >= 97 && departure.test(textOf(bytes, from, own)))) return false;
  values.note(columns.client, from, own);
  return true;
}

function clientWithPort(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  if (isDash(bytes, from, to) || values.has(columns.client)) return true;
  const port = portBegin(bytes, from, to);
  if (port === to || port === from) return false;
  values.note(columns.client, from, port);
  return true;
}

/** `10.0.0.7`, with or without a port. */
function bareClient(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  const port = portBegin(bytes, from, to);
  let at = from;
  for (let octet = 0; octet < 4; octet++) {
    if (octet > 0 && bytes.getUint8(at++) !== dot) return false;
    const begin = at;
    while (isDigit(bytes.getUint8(at))) at += 1;
    if (at === begin || at - begin > 3) return false;
  }
  if (at !== port || values.has(columns.client)) return false;
  values.note(columns.client, from, port);
  return true;
}

/** Digits are mute where time and status are known; of letters only what cannot be a method or a pair. */
function mute(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  if (to === from) return true;
  const first = bytes.getUint8(from);
  const known = values.number(cells.status) >= 0 && !Number.isNaN(values.number(cells.startMs));
  const isNumber = isDigit(first);
  if (first === openBracket || (isNumber && !known)) return false;
  if (isCapital(first) && isCapital(bytes.getUint8(from + 1))) return false;
  for (let at = from; at < to; at++) {
    const byte = bytes.getUint8(at);
    if (byte === equals || byte === quote || (isNumber && !isDigit(byte))) return false;
  }
  return true;
}

/** Capital letters, then more letters, and commas between several. */
function envoyFlag(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  if (isDash(bytes, from, to)) return true;
  if (!isCapital(bytes.getUint8(from))) return false;
  for (let at = from + 1; at < to; at++) {
    const byte = bytes.getUint8(at);
    if (!isCapital(byte & 0xdf) && byte !== comma && byte !== 95) return false;
  }
  values.note(columns.flag, from, to);
  return true;
}

/** They may give the flag before them a reason. */
function details(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  const flag = values.text(bytes, columns.flag);
  return flag === undefined || withReason(flag, textOf(bytes, from, to)) === flag;
}

function termination(values: LineValues, _bytes: DataView, from: number, to: number): boolean {
  values.note(columns.flag, from, to);
  return to - from === 4;
}

/** HAProxy's captured headers stand in braces before the request, and may hold quotes. */
function lastRequest(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  let at = from;
  if (bytes.getUint8(at) === openBrace) {
    while (at < to && !endsCaptures(bytes, at)) at += 1;
    at += 2;
  }
  if (at >= to || bytes.getUint8(at) !== quote || bytes.getUint8(to - 1) !== quote) return false;
  return pathEnd(values, bytes, at + 1, to - 1) !== -1;
}

function endsCaptures(bytes: DataView, at: number): boolean {
  return bytes.getUint8(at) === closeBrace && bytes.getUint8(at + 1) === 32 && bytes.getUint8(at + 2) !== openBrace;
}

const methods = /^(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH|CONNECT|TRACE)$/;

function bareRequest(values: LineValues, bytes: DataView, from: number, to: number): boolean {
  const method = find(bytes, from, to, blanks);
  if (pathEnd(values, bytes, from, to) === -1) return false;
  if (has(bytes, method + 1, to, blanks) || has(bytes, method, to, quotes)) return false;
  return methods.test(textOf(bytes, from, method));
}

/** What bytes of a path are: it ends at some, and others leave it to the slow reader. */
const inPath = 0;
const endsPath = 1;
const oddInPath = 2;
const pathBytes = new Uint8Array(256);
for (const character of ' ?') pathBytes[character.charCodeAt(0)] = endsPath;
for (const character of '"\\#') pathBytes[character.charCodeAt(0)] = oddInPath;

/** Notes the route; where its path ends. −1 when no method and path begin here. */
export function pathEnd(values: LineValues, bytes: DataView, from: number, to: number): number {
  let at = from;
  while (isCapital(bytes.getUint8(at))) at += 1;
  const letters = at - from;
  if (letters < 3 || letters > 12 || bytes.getUint8(at) !== 32 || bytes.getUint8(at + 1) !== slash) return -1;
  for (at += 2; at < to; at++) {
    const kind = pathBytes[bytes.getUint8(at)] ?? inPath;
    if (kind === oddInPath) return -1;
    if (kind === endsPath) break;
  }
  if (at > to) return -1;
  values.note(columns.route, from, at);
  return at;
}
