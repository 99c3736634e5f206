// Evidence as programs write it: one function a form, facts in, text out. Everything goes through the ordinary readers afterwards,
// so a form that no program writes would only cheat ourselves.

import type { Draw } from './draw.ts';

/** One file that an incident left behind. */
export interface Signal {
  readonly name: string;
  readonly text: string;
}

/** One request as a balancer saw it. */
export interface LogRow {
  readonly startMs: number;
  readonly seconds: number;
  readonly status: number;
  /** Undefined: nobody was asked. */
  readonly replica: string | undefined;
  readonly path?: string;
  readonly client?: string;
  /** Envoy's flag, where the form has one. */
  readonly flag?: string;
}

export type LogForm = 'nginx' | 'envoy' | 'json' | 'haproxy';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

export const iso = (ms: number): string => new Date(Math.round(ms)).toISOString();

function commonTime(ms: number, withMilliseconds: boolean): string {
  const at = new Date(Math.round(ms));
  const day = `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  return withMilliseconds
    ? `${day}:${time}.${String(at.getUTCMilliseconds()).padStart(3, '0')}`
    : `${day}:${time} +0000`;
}

/** Syslog's, without a year. */
export function syslogTime(ms: number): string {
  const at = new Date(Math.round(ms));
  return `${months[at.getUTCMonth()]} ${String(at.getUTCDate()).padStart(2, ' ')} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
}

/** nginx's error log: `2026/03/03 12:00:05`. */
export function errorLogTime(ms: number): string {
  return iso(ms).slice(0, 19).replaceAll('-', '/').replace('T', ' ');
}

/** An access log, in the order in which requests ended. `service`: the balancer's name for the group. */
export function accessLog(draw: Draw, rows: readonly LogRow[], form: LogForm, service = draw.service): Signal {
  const ended = rows.toSorted((one, other) => one.startMs + one.seconds * 1000 - other.startMs - other.seconds * 1000);
  const lines = ended.map((row, index) => lineOf(row, index, form, service));
  const name = { nginx: 'access.log', envoy: 'envoy-access.log', json: 'access.jsonl', haproxy: 'haproxy.log' }[form];
  return { name, text: `${lines.join('\n')}\n` };
}

/** The same requests as whoever stands before the balancer saw them: another program, another clock by a little. */
export function secondTap(draw: Draw, rows: readonly LogRow[], service = draw.service): Signal {
  const late = draw.between(0.2, 1.2);
  const log = accessLog(
    draw,
    rows.map((row) => ({ ...row, startMs: row.startMs - late, seconds: row.seconds + late / 1000 })),
    'json',
    service,
  );
  return { ...log, name: 'edge.jsonl' };
}

function lineOf(row: LogRow, index: number, form: LogForm, service: string): string {
  const { startMs, seconds, status, replica, path = '/', client = `198.51.100.${1 + (index % 40)}` } = row;
  const ms = Math.round(seconds * 1000);
  const took = seconds.toFixed(3);
  const refused = replica === undefined;
  switch (form) {
    case 'nginx':
      return `${client} - - [${commonTime(startMs + ms, false)}] "GET ${path} HTTP/1.1" ${status} ${refused ? 150 : 812} rt=${took} ua="${replica ?? service}" us="${status}" ut="${refused ? '0.000' : took}"`;
    case 'envoy':
      return `[${iso(startMs)}] "GET ${path} HTTP/1.1" ${status} ${row.flag ?? '-'} 0 812 ${ms} ${refused || status === 504 ? '-' : ms} "${client}" "app/1.4" "${index.toString(16).padStart(8, '0')}-7d1e-4b1a-9c5f-0242ac120002" "${service}.example.test" "${replica ?? '-'}"`;
    case 'json':
      return JSON.stringify({
        ts: iso(startMs),
        client,
        method: 'GET',
        path,
        status,
        duration_ms: Number((seconds * 1000).toFixed(1)),
        upstream_host: replica ?? null,
      });
    case 'haproxy': {
      const server = replica ?? '<NOSRV>';
      const timers = refused ? `0/-1/-1/-1/${ms}` : `0/0/0/${ms}/${ms}`;
      return `${syslogTime(startMs + ms)} lb1 haproxy[1201]: ${client}:${20_000 + ((index * 7919) % 40_000)} [${commonTime(startMs, true)}] www ${service}/${server} ${timers} ${status} 812 - - ${refused ? 'SC--' : '----'} 64/64/32/8/0 0/0 "GET ${path} HTTP/1.1"`;
    }
  }
}

export interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

/** Answer of Prometheus to query_range. */
export function queryRange(name: string, startMs: number, stepSeconds: number, lines: readonly Line[]): Signal {
  const result = lines.map((line) => ({
    metric: { __name__: line.name, ...line.labels },
    values: line.values.map((value, index) => [startMs / 1000 + stepSeconds * index, trimmed(value)]),
  }));
  return { name, text: JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }) };
}

/** A scrape of `/metrics`. Counters by the ending of their names. */
export function scrape(name: string, numbers: readonly (Omit<Line, 'values'> & { readonly value: number })[]): Signal {
  const lines: string[] = [];
  let last = '';
  for (const number of numbers) {
    if (number.name !== last)
      lines.push(`# TYPE ${number.name} ${number.name.endsWith('_total') ? 'counter' : 'gauge'}`);
    last = number.name;
    const labels = Object.entries(number.labels).map(([key, value]) => `${key}="${value}"`);
    lines.push(`${number.name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${trimmed(number.value)}`);
  }
  return { name, text: `${lines.join('\n')}\n` };
}

export function csv(name: string, header: readonly string[], rows: readonly (readonly (string | number)[])[]): Signal {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? trimmed(cell) : cell)).join(','));
  return { name, text: `${[header.join(','), ...cells].join('\n')}\n` };
}

export const json = (name: string, value: unknown): Signal => ({ name, text: `${JSON.stringify(value)}\n` });

export const text = (name: string, lines: readonly string[]): Signal => ({ name, text: `${lines.join('\n')}\n` });

/** What happened when, one object a line. */
export const events = (
  name: string,
  list: readonly (Readonly<Record<string, unknown>> & { readonly atMs: number })[],
): Signal => ({
  name,
  text: `${list.map(({ atMs, ...rest }) => JSON.stringify({ ts: iso(atMs), ...rest })).join('\n')}\n`,
});

/** As `kubectl top pods` prints it. */
export function kubectlTop(
  name: string,
  pods: readonly (readonly [pod: string, millicores: number, mebibytes: number])[],
): Signal {
  return text(name, [
    'NAME                              CPU(cores)   MEMORY(bytes)',
    ...pods.map(
      ([pod, cpu, memory]) => `${pod.padEnd(32)}  ${`${Math.round(cpu)}m`.padEnd(11)}  ${Math.round(memory)}Mi`,
    ),
  ]);
}

/** Two readings of counters in one scrape each. */
export function twoScrapes(
  stem: string,
  numbers: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly before: number;
    readonly after: number;
  }[],
): Signal[] {
  return [
    scrape(
      `${stem}-t0.prom`,
      numbers.map(({ before, ...rest }) => ({ ...rest, value: before })),
    ),
    scrape(
      `${stem}-t60.prom`,
      numbers.map(({ after, ...rest }) => ({ ...rest, value: after })),
    ),
  ];
}

const trimmed = (value: number): string => String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
