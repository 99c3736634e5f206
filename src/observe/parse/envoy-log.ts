// Envoy's access log in its default form, one line a request, for what happened when:
//
//   [start] "method path protocol" status flags received sent duration service-time "forwarded-for" "agent" "id" "authority"
//   "upstream" [cluster connection]
//
// The start has milliseconds, and so has the duration. The last two are no part of the default form: the lab's Envoy writes them,
// because without a connection's number clients behind one address cannot be told apart.

import type { SeenRequest } from '../seen.ts';

const line =
  /^\[(\d{4}-\d{2}-\d{2}T[\d:.]+Z)\] "[^"]*" (\d{1,3}) ([A-Z][A-Za-z,]*|-) \d+ \d+ (\d+) (?:\d+|-) "([^"]*)" "(?:[^"\\]|\\.)*" "[^"]*" "([^"]*)" "([^"]*)"(?: (\S+) (\d+))?$/;

/** One line of the log, or undefined when it is none. */
export function parseEnvoyLine(text: string): SeenRequest | undefined {
  const found = line.exec(text);
  if (found === null) return undefined;
  const [, start = '', status = '', flags = '', duration = '', forwarded = '', , upstream = '-', cluster, connection] =
    found;
  const startMs = Date.parse(start);
  const client = forwarded === '-' ? undefined : forwarded;
  return {
    startMs,
    endMs: startMs + Number(duration),
    handedMs: startMs,
    replica: upstream === '-' ? undefined : upstream,
    attempts: upstream === '-' ? 0 : 1,
    client: connection === undefined ? client : `${client ?? ''}#${connection}`,
    service: cluster === '-' ? undefined : cluster,
    status: Number(status),
    error: envoyError(flags, Number(status)),
    stepMs: 1,
  };
}

const kinds: Readonly<Record<string, string>> = {
  UT: 'timeout',
  UF: 'refused',
  UC: 'reset',
  UR: 'reset',
  UPE: 'reset',
  UH: 'no-server',
  NC: 'no-server',
  UO: 'proxy-resource',
  DC: 'client-left',
};

/** The first flag that says who failed; several are separated by commas. */
export function envoyError(flags: string, status: number): string | undefined {
  const kind = flags
    .split(',')
    .map((flag) => kinds[flag])
    .find((name) => name !== undefined);
  return kind ?? (status >= 500 ? 'status-5xx' : undefined);
}
