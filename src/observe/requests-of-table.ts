// The columns of an access log as requests again, for the record second by second. A table does not know connections, so nobody is
// told apart by them here.

import { assert } from '../base.ts';
import type { RequestTable } from '../record.ts';
import { envoyError } from './parse/envoy-log.ts';
import { haproxyError } from './parse/haproxy-log.ts';
import { nginxError } from './parse/nginx-access.ts';
import type { SeenRequest } from './seen.ts';

/** Of a longer log the record is made of its worst stretch of so many requests: each is an object by then, and memory has an end. */
export const requestsMax = 300_000;

/** Every request that has a time and a length, at most `most` one after another. The table is whole: of a sample nothing could be
 * counted. */
export function* requestsOfTable(table: RequestTable, most: number = requestsMax): Generator<SeenRequest> {
  assert(table.skipped === 0, 'a record is made of all requests');
  const from = worstStretch(table, most);
  for (let row = from; row < Math.min(table.count, from + most); row++) {
    const startMs = table.startMs[row] ?? Number.NaN;
    const seconds = table.seconds[row] ?? Number.NaN;
    if (Number.isNaN(startMs) || Number.isNaN(seconds)) continue;
    const endMs = startMs + seconds * 1000;
    const replica = table.replicas[table.replica[row] ?? -1];
    yield {
      startMs,
      endMs,
      handedMs: handedAt(table, row, startMs, endMs),
      replica,
      attempts: Math.max(replica === undefined ? 0 : 1, table.attempts[row] ?? 0),
      client: undefined,
      service: table.services[table.service[row] ?? -1],
      status: table.status[row] ?? -1,
      error: errorOf(table, row, replica),
      stepMs: table.stepMs,
    };
  }
}

/** Where so many rows begin that took longest altogether; a failure counts as a second more. */
function worstStretch(table: RequestTable, length: number): number {
  const cost = (row: number): number => {
    const seconds = table.seconds[row] ?? Number.NaN;
    return (Number.isNaN(seconds) ? 0 : seconds) + ((table.status[row] ?? 0) >= 500 ? 1 : 0);
  };
  let sum = 0;
  let [worst, best] = [0, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < table.count; row++) {
    sum += cost(row) - (row >= length ? cost(row - length) : 0);
    if (row < length - 1 || sum <= best) continue;
    best = sum;
    worst = row - length + 1;
  }
  return worst;
}

function handedAt(table: RequestTable, row: number, startMs: number, endMs: number): number {
  if (table.program === 'nginx') {
    const upstream = table.upstreamSeconds[row] ?? Number.NaN;
    return Number.isNaN(upstream) ? startMs : endMs - upstream * 1000;
  }
  const queued = table.queueSeconds[row] ?? Number.NaN;
  return Number.isNaN(queued) ? startMs : Math.min(endMs, startMs + queued * 1000);
}

function errorOf(table: RequestTable, row: number, replica: string | undefined): string | undefined {
  const status = table.status[row] ?? -1;
  const flag = table.flags[table.flag[row] ?? -1];
  switch (table.program) {
    case 'haproxy':
      return haproxyError(flag ?? '----', status, replica ?? '<NOSRV>');
    case 'nginx':
      return nginxError(status, table.upstreamStatus[row] ?? -1, replica !== undefined);
    case 'envoy':
      return envoyError(flag ?? '-', status);
    default:
      return status >= 500 ? 'status-5xx' : undefined;
  }
}
