// Files of any known format in, one record out. The format is recognised by content, never by name; several files of one
// balancer are read together (a log for what happened, its statistics for what was configured).

import type { GatewayFacts, RecordLine, RequestTable } from '../record.ts';
import { parseEnvoyLine } from './parse/envoy-log.ts';
import { parseHaproxyLine } from './parse/haproxy-log.ts';
import { isHaproxyStats, parseHaproxyStats, type HaproxyStats } from './parse/haproxy-stats.ts';
import { recogniseNginx } from './parse/nginx-access.ts';
import { isNginxConfiguration, type NginxUpstream, parseNginxUpstreams } from './parse/nginx-conf.ts';
import { requestsOfTable } from './requests-of-table.ts';
import { recordOfRequests } from './record-of-requests.ts';
import type { ReaderNotes, SeenRequest } from './seen.ts';

export interface ForeignFile {
  readonly name: string;
  readonly text: string;
}

export type ForeignReading =
  | {
      readonly kind: 'record';
      readonly lines: RecordLine[];
      readonly notes: readonly (ReaderNotes & { file: string })[];
    }
  | { readonly kind: 'problem'; readonly message: string };

/** Reads the files together. `tables`: what has been read already, of logs that are too large to be kept as text. A problem says which file, what it looks like and what would be right. */
export function readForeign(
  files: readonly ForeignFile[],
  plimsoll: string,
  tables: readonly RequestTable[] = [],
): ForeignReading {
  const requests: SeenRequest[] = [];
  const notes: (ReaderNotes & { file: string })[] = [];
  let statistics: HaproxyStats | undefined;
  const upstreams: NginxUpstream[] = [];
  let program: string | undefined;
  for (const file of files) {
    if (file.text.trim() === '') return problem(`${file.name}: the file is empty`);
    if (isHaproxyStats(file.text)) {
      statistics = parseHaproxyStats(file.text);
      const { rows, broken } = statistics;
      notes.push({
        file: file.name,
        format: 'HAProxy statistics',
        lines: rows.length + broken.length,
        understood: rows.length,
        foreign: [],
      });
      continue;
    }
    if (isNginxConfiguration(file.text)) {
      const found = parseNginxUpstreams(file.text);
      upstreams.push(...found);
      notes.push({
        file: file.name,
        format: 'nginx configuration',
        lines: found.length,
        understood: found.length,
        foreign: [],
      });
      continue;
    }
    const read = readLog(file);
    if (read === undefined) {
      return problem(
        `${file.name}: not a format that is known here. Expected a Plimsoll record, an HAProxy HTTP log (option httplog), ` +
          'HAProxy statistics as CSV, an Envoy access log in its default form, or an nginx access log with $upstream_addr and ' +
          `$request_time; its first line is\n  ${firstLine(file.text)}`,
      );
    }
    if (program !== undefined && program !== read.program) {
      return problem(
        `${file.name}: a log of ${read.program} beside one of ${program}; give the logs of one balancer at a time`,
      );
    }
    program = read.program;
    for (const request of read.requests) requests.push(request);
    notes.push({ file: file.name, ...read.notes });
  }
  for (const table of tables) {
    if (program !== undefined && program !== table.program) {
      return problem(
        `${table.origin.file}: a log of ${table.program} beside one of ${program}; give the logs of one balancer at a time`,
      );
    }
    program = table.program;
    for (const request of requestsOfTable(table)) requests.push(request);
  }
  if (program === undefined || requests.length === 0) {
    return problem(
      'statistics alone say how much each server had, not when: add the log of the same time (HAProxy: option httplog)',
    );
  }
  const named = requests.map((request) => withLabel(request, upstreams));
  const services = new Set(named.map((request) => request.service ?? 'service'));
  const service = mostFrequent(named.map((request) => request.service ?? 'service'));
  const own = named.filter((request) => (request.service ?? 'service') === service);
  const names = [...files.map((file) => file.name), ...tables.map(({ origin }) => origin.file)];
  const gateway = gatewayFacts(program, statistics, upstreams, service);
  return {
    kind: 'record',
    notes:
      services.size > 1
        ? [
            ...notes,
            {
              file: service,
              format: `the busiest of ${services.size} backends; the others are left out`,
              lines: requests.length,
              understood: own.length,
              foreign: [],
            },
          ]
        : notes,
    lines: recordOfRequests(own, {
      id: names.join('+'),
      sources: names,
      gateway,
      service,
      servers: serversOf(statistics, upstreams, service),
      plimsoll,
    }),
  };
}

interface ReadLog {
  readonly program: string;
  readonly requests: SeenRequest[];
  readonly notes: ReaderNotes;
}

function readLog(file: ForeignFile): ReadLog | undefined {
  const lines = file.text.split(/\r?\n/).filter((line) => line !== '');
  const head = lines.slice(0, 200);
  if (head.some((line) => parseHaproxyLine(line) !== undefined)) {
    return readLines('haproxy', 'HAProxy HTTP log', lines, (line) => parseHaproxyLine(line));
  }
  if (head.some((line) => parseEnvoyLine(line) !== undefined)) {
    return readLines('envoy', 'Envoy access log', lines, parseEnvoyLine);
  }
  const nginx = recogniseNginx(head);
  if (nginx === undefined) return undefined;
  return readLines('nginx', `nginx access log (${nginx.format.slice('nginx:'.length)})`, lines, (line) =>
    nginx.read(line),
  );
}

function readLines(
  program: string,
  format: string,
  lines: readonly string[],
  read: (line: string) => SeenRequest | undefined,
): ReadLog {
  const requests: SeenRequest[] = [];
  const foreign: { line: number; text: string }[] = [];
  for (const [index, line] of lines.entries()) {
    const request = read(line);
    if (request !== undefined) requests.push(request);
    else if (foreign.length < 5) foreign.push({ line: index + 1, text: line.slice(0, 120) });
  }
  return { program, requests, notes: { format, lines: lines.length, understood: requests.length, foreign } };
}

const haproxyPolicies: Readonly<Record<string, string>> = {
  roundrobin: 'round-robin',
  'static-rr': 'round-robin',
  leastconn: 'least-request',
  random: 'random',
};

function gatewayFacts(
  program: string,
  statistics: HaproxyStats | undefined,
  upstreams: readonly NginxUpstream[],
  service: string,
): GatewayFacts {
  const row = statistics?.rows.find((one) => one.kind === 'backend' && one.proxy === service);
  const algorithm = row?.cells.get('algo');
  const policy =
    algorithm === undefined
      ? upstreams.find((group) => group.name === service)?.policy
      : (haproxyPolicies[algorithm] ?? algorithm);
  return { program, ...(policy === undefined ? {} : { policy }) };
}

function serversOf(
  statistics: HaproxyStats | undefined,
  upstreams: readonly NginxUpstream[],
  service: string,
): string[] {
  const rows = (statistics?.rows ?? []).filter((row) => row.kind === 'server' && row.proxy === service);
  const group = upstreams.find((one) => one.name === service);
  return [...rows.map((row) => row.server), ...(group?.servers ?? []).map((server) => server.label ?? server.address)];
}

/** nginx logs addresses; its configuration says which group an address belongs to and, in a comment, what it is called. */
function withLabel(request: SeenRequest, upstreams: readonly NginxUpstream[]): SeenRequest {
  for (const group of upstreams) {
    const server = group.servers.find((one) => one.address === request.replica);
    if (server !== undefined) return { ...request, replica: server.label ?? server.address, service: group.name };
  }
  return request;
}

function problem(message: string): ForeignReading {
  return { kind: 'problem', message };
}

function firstLine(text: string): string {
  return (text.split(/\r?\n/).find((line) => line !== '') ?? '').slice(0, 160);
}

function mostFrequent(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}
