// HAProxy's log as facts: requests of the HTTP and the TCP form, and between them the notices about servers.
//
// Syslog writes no year before a notice; it is taken from the requests around it. Timers of −1 were never reached, so the
// columns say nothing there: a server that was never connected to has no response time.

import { find, lineBytes, repeated } from './byte-words.ts';
import { FastLines } from './fast-lines.ts';
import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { parseHaproxyLine } from './haproxy-log.ts';
import { parseHaproxyNotice } from './haproxy-notices.ts';
import { leadingInstant, someInstant } from './instants.ts';
import type { Program } from './line-form.ts';
import { blankRow, clearRow, type RequestRow } from './request-table.ts';
import type { Sink } from './sink.ts';

const program = 'haproxy';

/** `client [date] frontend backend/server Tw/Tc/Tt bytes termination actconn/feconn/beconn/srv_conn/retries queues`. */
const tcpLine =
  /(?:^|\s)(\S+?):(\d+) \[([^\]]+)\] (\S+) ([^\s/]+)\/(\S+) (-?\d+)\/(-?\d+)\/(\+?-?\d+) \+?(\d+) (\S{2}) (\d+)\/(\d+)\/(\d+)\/(\d+)\/(\+?\d+) (\d+)\/(\d+)/;
const header = /\bhaproxy(?:\[\d+\])?: |^(?:<\d+>)?haproxy\b|^\[(?:WARNING|ALERT|NOTICE)\]/;

export const haproxyLog: LineFormat = {
  kind: 'lines',
  name: 'HAProxy log',
  recognise(head) {
    const requests = shareOfLines(head, (line) => parseHaproxyLine(line) !== undefined || tcpLine.test(line));
    const notices = shareOfLines(head, (line) => header.test(line) && parseHaproxyNotice(line) !== undefined);
    const ours = requests + notices;
    return ours === 0 ? 0 : Math.min(1, 0.5 + ours / 2);
  },
  open: haproxyLogReader,
};

/** The HTTP form from the client on; what stands before is syslog's. */
const httpForm: Program = {
  prefix: '',
  steps: [
    { place: 'client-with-port', before: ' [' },
    { place: 'local-time', before: '] ' },
    { place: 'skip', before: ' ' },
    { place: 'service', before: '/', needed: true },
    { place: 'server', before: ' ' },
    { place: 'skip-number', number: 'integer', before: '/' },
    { place: 'queue-seconds', number: 'integer', before: '/', perSecond: 1000 },
    { place: 'connect-seconds', number: 'integer', before: '/', perSecond: 1000 },
    { place: 'upstream-seconds', number: 'integer', before: '/', perSecond: 1000 },
    { place: 'seconds', number: 'integer', before: ' ', perSecond: 1000 },
    { place: 'status', number: 'integer', before: ' ' },
    { place: 'skip-number', number: 'count', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'termination', before: ' ' },
    { place: 'skip-number', number: 'count', before: '/' },
    { place: 'skip-number', number: 'count', before: '/' },
    { place: 'skip-number', number: 'count', before: '/' },
    { place: 'skip-number', number: 'count', before: '/' },
    { place: 'retries', number: 'count', before: ' ' },
    { place: 'skip-number', number: 'count', before: '/' },
    { place: 'skip-number', number: 'count', before: ' ' },
    { place: 'last-request', before: '' },
  ],
  timesAreEnds: false,
  statusIsUpstreams: 'when-timed',
  serviceMayAnswer: false,
};

function haproxyLogReader(sink: Sink, head: string): LineReader {
  const table = sink.requests(program);
  const row = blankRow();
  const heads = head
    .split('\n')
    .map((line) => line.slice(clientIn(lineBytes(line), 0, line.length)))
    .join('\n');
  const fast = new FastLines([httpForm], table, heads, readRequest);
  let lastMs = someInstant(head);
  const known = new KnownHeader();
  return {
    take(bytes, from, to) {
      if (!fast.take(bytes, known.end(bytes, from, to), to)) return false;
      lastMs = fast.startMs;
      return true;
    },
    line(text, number) {
      if (readRequest(text, row)) {
        lastMs = row.startMs;
        if (table.wants()) table.add(row);
        return true;
      }
      return tcpRequest(text) || notice(text, number);
    },
  };

  function tcpRequest(text: string): boolean {
    const found = tcpLine.exec(text);
    const began = leadingInstant(found?.[3] ?? '');
    if (found === null || began === undefined) return false;
    lastMs = began.ms;
    if (!table.wants()) return true;
    const server = found[6] ?? '';
    const none = server === '<NOSRV>';
    clearRow(row);
    row.startMs = began.ms;
    row.seconds = Math.max(0, numberOf(found[9])) / 1000;
    row.queueSeconds = secondsOf(numberOf(found[7]));
    row.connectSeconds = secondsOf(numberOf(found[8]));
    row.attempts = none ? 0 : 1 + numberOf(found[16]);
    row.replica = none ? undefined : server;
    row.client = found[1];
    row.flag = found[11];
    row.service = found[5];
    table.add(row);
    return true;
  }

  function notice(text: string, number: number): boolean {
    const found = parseHaproxyNotice(text);
    if (found === undefined) return false;
    const atMs = leadingInstant(text.replace(/^<\d+>/, ''), 0, lastMs)?.ms;
    const subject = found.subject === undefined ? {} : { subject: found.subject };
    sink.message({ program, atMs, code: found.code, ...subject, text, line: number });
    if (found.event !== undefined) {
      const detail = found.reason === undefined ? {} : { detail: found.reason };
      sink.event({ atMs, event: found.event, ...subject, ...detail, line: number });
    }
    return true;
  }
}

/** Fills the row from a line of the HTTP form; false when it has another. */
function readRequest(text: string, row: RequestRow): boolean {
  const request = parseHaproxyLine(text);
  if (request === undefined) return false;
  clearRow(row);
  row.startMs = request.startMs;
  row.seconds = (request.endMs - request.startMs) / 1000;
  row.queueSeconds = secondsOf(request.queuedMs);
  row.connectSeconds = secondsOf(request.connectMs);
  row.upstreamSeconds = secondsOf(request.responseMs);
  row.status = request.status;
  row.upstreamStatus = request.responseMs >= 0 ? request.status : -1;
  row.attempts = request.attempts;
  row.replica = request.replica;
  row.client = addressOf(request.client);
  row.route = request.route;
  row.flag = request.termination;
  row.service = request.service;
  return true;
}

/**
 * Syslog's header, which is the same for all lines of a second: its words are compared with those of the line before, and only
 * where they differ is the client looked for (15 ns a line instead of 55). Hot.
 */
class KnownHeader {
  readonly #words = new Int32Array(16);
  #length = -1;

  /** Where the client stands, after the header. */
  end(bytes: DataView, from: number, to: number): number {
    if (this.#stands(bytes, from, to)) return from + this.#length;
    const client = clientIn(bytes, from, to);
    this.#learn(bytes, from, client);
    return client;
  }

  #stands(bytes: DataView, from: number, to: number): boolean {
    const length = this.#length;
    if (length < 4 || from + length > to) return false;
    for (let at = 0; at + 4 <= length; at += 4) {
      if (bytes.getInt32(from + at, true) !== this.#words[at >> 2]) return false;
    }
    // The last word again, for a length that is no multiple of four; it ends with the blank before the client.
    return bytes.getInt32(from + length - 4, true) === this.#words[15] && clientEnds(bytes, from + length, to);
  }

  #learn(bytes: DataView, from: number, client: number): void {
    const length = client - from;
    // Where another time could begin in it, or it is too long, it is looked at every time.
    const fits = length >= 4 && length < 60 && find(bytes, from, client, slashes) === client;
    this.#length = fits && find(bytes, client - 3, client, brackets) === client ? length : -1;
    if (this.#length === -1) return;
    for (let at = 0; at + 4 <= length; at += 4) this.#words[at >> 2] = bytes.getInt32(from + at, true);
    this.#words[15] = bytes.getInt32(client - 4, true);
  }
}

const brackets = repeated(91);
const slashes = repeated(47);
const blanks = repeated(32);

/** Where the client stands: before ` [dd/Mon/yyyy:`. The end of the line when there is no such time. */
function clientIn(bytes: DataView, from: number, to: number): number {
  for (let at = find(bytes, from + 1, to, brackets); at < to; at = find(bytes, at + 1, to, brackets)) {
    if (!beginsTime(bytes, at, to)) continue;
    let client = at - 1;
    while (client > from && bytes.getUint8(client - 1) !== 32) client -= 1;
    return client;
  }
  return to;
}

/** Whether the word that stands here is followed by a time. */
function clientEnds(bytes: DataView, from: number, to: number): boolean {
  const end = find(bytes, from, to, blanks);
  return end > from && bytes.getUint8(end + 1) === 91 && beginsTime(bytes, end + 1, to);
}

function beginsTime(bytes: DataView, at: number, to: number): boolean {
  return at + 12 < to && bytes.getUint8(at + 3) === 47 && bytes.getUint8(at + 7) === 47;
}

function secondsOf(milliseconds: number): number {
  return milliseconds < 0 ? Number.NaN : milliseconds / 1000;
}

function numberOf(text: string | undefined): number {
  return Number((text ?? '').replace('+', ''));
}

/** The address of `address:port`; a connection's port says nothing about who the client is. */
function addressOf(client: string | undefined): string | undefined {
  return client?.replace(/:\d+$/, '');
}
