// HAProxy's log as facts: requests of the HTTP and the TCP form, and between them the notices about servers.
//
// Syslog writes no year before a notice; it is taken from the requests around it. Timers of −1 were never reached, so the
// columns say nothing there: a server that was never connected to has no response time.

import { FastLines } from './fast-lines.ts';
import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { parseHaproxyLine } from './haproxy-log.ts';
import { parseHaproxyNotice } from './haproxy-notices.ts';
import { leadingInstant, someInstant } from './instants.ts';
import { bytesOf, type Program } from './line-program.ts';
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
    { place: 'common-time', before: '] ' },
    { place: 'skip', before: ' ' },
    { place: 'service', before: '/' },
    { place: 'server', before: ' ' },
    { place: 'skip-number', before: '/' },
    { place: 'queue-seconds', before: '/', perSecond: 1000 },
    { place: 'connect-seconds', before: '/', perSecond: 1000 },
    { place: 'upstream-seconds', before: '/', perSecond: 1000 },
    { place: 'seconds', before: ' ', perSecond: 1000 },
    { place: 'status', before: ' ' },
    { place: 'skip-number', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'skip', before: ' ' },
    { place: 'flag', before: ' ' },
    { place: 'skip-number', before: '/' },
    { place: 'skip-number', before: '/' },
    { place: 'skip-number', before: '/' },
    { place: 'skip-number', before: '/' },
    { place: 'retries', before: ' ' },
    { place: 'skip-number', before: '/' },
    { place: 'skip-number', before: ' ' },
    { place: 'last-request', before: '' },
  ],
  rest: 'nothing',
  timesAreEnds: false,
  statusIsUpstreams: true,
};

function haproxyLogReader(sink: Sink, head: string): LineReader {
  const table = sink.requests(program);
  const row = blankRow();
  const heads = head
    .split('\n')
    .map((line) => line.slice(clientIn(bytesOf(line), 0, line.length)))
    .join('\n');
  const fast = new FastLines([httpForm], table, heads, readRequest);
  let lastMs = someInstant(head);
  let before = 0;
  return {
    take(bytes, from, to) {
      // Syslog's header is as long as it was in the line before, nearly always.
      const stands = before === 0 || bytes[from + before - 1] === 32;
      if (!stands || !fast.take(bytes, from + before, to)) {
        before = clientIn(bytes, from, to) - from;
        if (!fast.take(bytes, from + before, to)) return false;
      }
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

/** Where the client stands: before ` [dd/Mon/yyyy:`. The end of the line when there is no such time. Hot. */
function clientIn(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from + 1; at + 13 < to; at++) {
    if (bytes[at] !== 91 || bytes[at + 3] !== 47 || bytes[at + 7] !== 47 || bytes[at + 12] !== 58) continue;
    let client = at - 1;
    while (client > from && bytes[client - 1] !== 32) client -= 1;
    return client;
  }
  return to;
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
