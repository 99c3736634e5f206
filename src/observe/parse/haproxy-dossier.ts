// HAProxy's log as facts: requests of the HTTP and the TCP form, and between them the notices about servers.
//
// Syslog writes no year before a notice; it is taken from the requests around it. Timers of −1 were never reached, so the
// columns say nothing there: a server that was never connected to has no response time.

import type { LineFormat, LineReader } from './format.ts';
import { shareOfLines } from './format.ts';
import { parseHaproxyLine } from './haproxy-log.ts';
import { parseHaproxyNotice } from './haproxy-notices.ts';
import { leadingInstant, someInstant } from './instants.ts';
import { blankRow, clearRow } from './request-table.ts';
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
  open: (sink, head) => haproxyLogReader(sink, someInstant(head)),
};

function haproxyLogReader(sink: Sink, firstMs: number | undefined): LineReader {
  const table = sink.requests(program);
  const row = blankRow();
  let lastMs = firstMs;
  return {
    line(text, number) {
      const request = parseHaproxyLine(text);
      if (request !== undefined) {
        lastMs = request.startMs;
        if (!table.wants()) return true;
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
        table.add(row);
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
