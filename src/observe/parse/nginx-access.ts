// nginx's access log. Its form is the operator's: a `log_format` is text with variables in it. So a format is compiled to a
// reader, and the formats that people use by default are known here; the first that fits the first lines is taken.
//
// Of several upstream tries nginx writes a list, separated by ", " (and by " : " when an internal redirect changed the
// group), in step in all `$upstream_*` variables. The last one is who answered. `$msec` is when the line was written, which
// is the end of the request; `$request_time` counts from the client's first byte.

import type { SeenRequest } from '../seen.ts';

/** Formats known by name, most informative first. The first is what our own lab writes. */
export const nginxFormats: Readonly<Record<string, string>> = {
  plimsoll:
    '$msec $remote_addr:$remote_port $connection "$request" $status $body_bytes_sent rt=$request_time ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time" uc="$upstream_connect_time" uh="$upstream_header_time"',
  'ingress-nginx':
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id',
  'combined-with-upstream':
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent rt=$request_time ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time"',
};

export interface NginxReader {
  readonly format: string;
  read(line: string): SeenRequest | undefined;
  /** The values of the format's variables in this line; undefined when it has another form. */
  values(line: string): ReadonlyMap<string, string> | undefined;
}

/** Compiles a `log_format` string (as it stands in nginx.conf, joined) to a reader of its lines. */
export function nginxReader(name: string, format: string): NginxReader {
  const variables: string[] = [];
  let pattern = '^';
  let at = 0;
  for (const match of format.matchAll(/\$\{?([a-z0-9_]+)\}?/g)) {
    pattern += escapeLiteral(format.slice(at, match.index));
    const variable = match[1] ?? '';
    const follows = format[match.index + match[0].length];
    pattern += valuePattern(variable, follows);
    variables.push(variable);
    at = match.index + match[0].length;
  }
  pattern += `${escapeLiteral(format.slice(at))}\\s*$`;
  const expression = new RegExp(pattern);
  const valuesOf = (line: string): Map<string, string> | undefined => {
    const found = expression.exec(line);
    if (found === null) return undefined;
    const values = new Map<string, string>();
    for (const [index, variable] of variables.entries()) values.set(variable, found[index + 1] ?? '');
    return values;
  };
  return {
    format: `nginx:${name}`,
    values: valuesOf,
    read(line) {
      const values = valuesOf(line);
      return values === undefined ? undefined : seen(values);
    },
  };
}

/** The first known format that reads one of these lines. */
export function recogniseNginx(lines: readonly string[]): NginxReader | undefined {
  for (const [name, format] of Object.entries(nginxFormats)) {
    const reader = nginxReader(name, format);
    if (lines.some((one) => reader.read(one) !== undefined)) return reader;
  }
  return undefined;
}

function seen(values: ReadonlyMap<string, string>): SeenRequest | undefined {
  const end = endOf(values);
  const took = Number(values.get('request_time') ?? values.get('upstream_response_time'));
  const status = Number(values.get('status'));
  if (end === undefined || !Number.isFinite(took) || !Number.isFinite(status)) return undefined;
  const tries = lastOf(values.get('upstream_addr'));
  const upstreamStatus = lastOf(values.get('upstream_status'));
  const upstreamTime = Number(lastOf(values.get('upstream_response_time')).last);
  const address = tries.last;
  // A group's name stands where an address would when no server could be chosen.
  const chosen = /^(unix:.*|\[.*\]:\d+|[^\s]+:\d+)$/.test(address) ? address : undefined;
  const client = values.get('connection') ?? values.get('remote_addr');
  return {
    startMs: end.ms - took * 1000,
    endMs: end.ms,
    handedMs: Number.isFinite(upstreamTime) ? end.ms - upstreamTime * 1000 : end.ms - took * 1000,
    replica: chosen,
    attempts: tries.count,
    client,
    service: values.get('proxy_upstream_name'),
    status,
    error: nginxError(status, Number(upstreamStatus.last), chosen !== undefined),
    stepMs: end.stepMs,
  };
}

function endOf(values: ReadonlyMap<string, string>): { ms: number; stepMs: number } | undefined {
  const msec = values.get('msec');
  if (msec !== undefined) {
    const ms = Number(msec) * 1000;
    return Number.isFinite(ms) ? { ms, stepMs: 1 } : undefined;
  }
  const iso = values.get('time_iso8601');
  if (iso !== undefined) {
    const ms = Date.parse(iso);
    return Number.isNaN(ms) ? undefined : { ms, stepMs: 1000 };
  }
  const local = /^(\d{2})\/(\w{3})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})$/.exec(
    values.get('time_local') ?? '',
  );
  if (local === null) return undefined;
  const ms = Date.parse(`${local[1]} ${local[2]} ${local[3]} ${local[4]} ${local[5]}${local[6]}`);
  return Number.isNaN(ms) ? undefined : { ms, stepMs: 1000 };
}

function lastOf(list: string | undefined): { last: string; count: number } {
  if (list === undefined || list === '' || list === '-') return { last: '', count: 0 };
  const parts = list.split(/, | : /);
  return { last: parts.at(-1)?.trim() ?? '', count: parts.length };
}

export function nginxError(status: number, upstreamStatus: number, chosen: boolean): string | undefined {
  if (status === 499) return 'client-left';
  if (status === 504) return 'timeout';
  if (status === 502 && !chosen) return 'no-server';
  if (status === 502 && !(upstreamStatus >= 500 && upstreamStatus !== 502)) return 'reset';
  if (status >= 500) return 'status-5xx';
  return undefined;
}

/** Variables whose value may hold spaces or lists need room; the rest ends at the next blank. */
function valuePattern(variable: string, follows: string | undefined): string {
  if (follows === '"') return '([^"]*)';
  if (follows === ']') return '([^\\]]*)';
  if (variable.startsWith('upstream_')) return '((?:[^\\s,]+(?:, | : ))*[^\\s]*)';
  return '(\\S*)';
}

function escapeLiteral(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
