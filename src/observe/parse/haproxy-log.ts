// HAProxy's HTTP log (`option httplog`), one line a request:
//
//   … client:port [accept date] frontend backend/server TR/Tw/Tc/Tr/Ta status bytes cookie cookie termination
//     actconn/feconn/beconn/srv_conn/retries srv_queue/backend_queue {…} "request"
//
// The date is when the request began, in the balancer's local time, with milliseconds. Timers are milliseconds; −1 means
// that the stage was never reached; a leading + means that the log was written before the end. Whatever stands before the
// client (syslog's header, a container's prefix) is ignored, and so are lines of any other form.

import type { SeenRequest } from '../seen.ts';

const months: Readonly<Record<string, number>> = {
  Jan: 0,
  Feb: 1,
  Mar: 2,
  Apr: 3,
  May: 4,
  Jun: 5,
  Jul: 6,
  Aug: 7,
  Sep: 8,
  Oct: 9,
  Nov: 10,
  Dec: 11,
};

const line =
  /(?:^|\s)(\S+?):(\d+) \[(\d{2})\/(\w{3})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})\.(\d{3})\] (\S+) ([^\s/]+)\/(\S+) (-?\d+)\/(-?\d+)\/(-?\d+)\/(-?\d+)\/(\+?-?\d+) (-?\d+) \+?(\d+) \S+ \S+ (\S{4}) (\d+)\/(\d+)\/(\d+)\/(\d+)\/(\+?\d+) (\d+)\/(\d+)/;

export interface HaproxyRequest extends SeenRequest {
  /** Four characters: who ended it, where, and two about cookies. */
  readonly termination: string;
  /** Requests inside the same server when this one ended, itself included. */
  readonly serverConnections: number;
  readonly serverQueue: number;
  readonly backendQueue: number;
  /** Milliseconds waited in a queue, to connect, and for the server's answer to begin; −1: never reached. */
  readonly queuedMs: number;
  readonly connectMs: number;
  readonly responseMs: number;
  /** Method and path without query; undefined when the request was no HTTP. */
  readonly route: string | undefined;
}

/** One line of the log, or undefined when it is none. `utcOffsetMinutes`: the balancer's local time minus UTC. */
export function parseHaproxyLine(text: string, utcOffsetMinutes = 0): HaproxyRequest | undefined {
  const found = line.exec(text);
  if (found === null) return undefined;
  const month = months[found[4] ?? ''];
  if (month === undefined) return undefined;
  const number = (index: number): number => Number((found[index] ?? '').replace('+', ''));
  const startMs =
    Date.UTC(number(5), month, number(3), number(6), number(7), number(8), number(9)) - utcOffsetMinutes * 60_000;
  const read = Math.max(0, number(13));
  const waited = Math.max(0, number(14));
  const whole = Math.max(0, number(17));
  const server = found[12] ?? '';
  const termination = found[20] ?? '----';
  const status = number(18);
  const retries = number(25);
  return {
    startMs,
    endMs: startMs + whole,
    handedMs: startMs + Math.min(whole, read + waited),
    replica: server === '<NOSRV>' || server === '<STATS>' ? undefined : server,
    attempts: server === '<NOSRV>' ? 0 : 1 + retries,
    client: `${found[1]}:${found[2]}`,
    service: found[11],
    status,
    error: haproxyError(termination, status, server),
    stepMs: 1,
    termination,
    serverConnections: number(24),
    serverQueue: number(26),
    backendQueue: number(27),
    queuedMs: number(14),
    connectMs: number(15),
    responseMs: number(16),
    route: routeOf(text.slice(found.index + found[0].length)),
  };
}

/** The request stands in quotes after captured headers in braces, which may hold quotes of their own. */
function routeOf(rest: string): string | undefined {
  const found = /^ (?:\{.*?\} )*"([A-Z]+) ([^\s"?]*)/.exec(rest);
  return found === null ? undefined : `${found[1]} ${found[2]}`;
}

/** The first two termination characters name who gave up and in which stage. */
export function haproxyError(termination: string, status: number, server: string): string | undefined {
  if (server === '<NOSRV>' && status === 503) return 'no-server';
  const who = termination[0];
  const where = termination[1];
  if (who === 's' && where === 'Q') return 'queue-timeout';
  if (who === 's' && where === 'C') return 'connect-timeout';
  if (who === 's') return 'timeout';
  if (who === 'S' && where === 'C') return 'refused';
  if (who === 'S') return 'reset';
  if (who === 'C' || who === 'c') return 'client-left';
  if (who === 'R') return 'proxy-resource';
  if (status >= 500) return 'status-5xx';
  return undefined;
}
