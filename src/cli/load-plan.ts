// From the words of a command line to a load plan: addresses, flags that users of wrk, wrk2, hey and vegeta know, and files of
// requests that they already have. Every mistake is told at once.

import { type Duration, formatDuration, ms, parseDuration, seconds } from '../base.ts';
import { chanceSeed } from '../host.ts';
import type { HeldGroup, LoadGroup, LoadPlan, LoadTarget, SourceRequest } from '../load.ts';
import { readSource } from '../load.ts';
import { type Demand, type Objective, parseObjective, type Step, warped } from '../scenario.ts';
import { UsageError } from './exit.ts';

/** The flags as they were typed. */
export interface LoadFlags {
  readonly connections: string;
  readonly threads: string;
  readonly rate?: string | undefined;
  readonly arrivals: 'constant' | 'poisson';
  readonly think: string;
  readonly header?: readonly string[] | undefined;
  readonly method: string;
  readonly body?: string | undefined;
  readonly timeout: string;
  readonly replicaHeader: string;
  readonly insecure?: boolean | undefined;
  readonly objective?: readonly string[] | undefined;
  readonly replay?: boolean | undefined;
  readonly speed: string;
  readonly hold?: string | undefined;
  readonly holdNew?: string | undefined;
  readonly holdRamp?: string | undefined;
  readonly seed?: string | undefined;
}

export interface PlannedLoad {
  readonly plan: LoadPlan;
  readonly workers: number;
  /** In words: `open loop at 500/s, constant`. */
  readonly shape: string;
  readonly open: boolean;
  /** When the last of a list of requests is due; undefined where the load has no end of its own. */
  readonly lasts: Duration | undefined;
}

/** A file of requests that was given instead of, or beside, an address. */
export interface GivenFile {
  readonly name: string;
  readonly text: string;
}

/** Throws a `UsageError` that names every mistake. */
export function loadPlan(address: string | undefined, flags: LoadFlags, file: GivenFile | undefined): PlannedLoad {
  const reader = new FlagReader();
  const base = address === undefined ? undefined : reader.url(address);
  const connections = reader.count('--connections', flags.connections);
  const workers = reader.count('--threads', flags.threads);
  if (connections < workers) {
    reader.wrong(
      `--connections ${connections} is less than --threads ${workers}: each thread needs a connection of its own`,
    );
  }
  const requests = file === undefined ? [] : reader.file(file);
  const headers = reader.headers(flags.header ?? []);
  const targets = targetsOf(base, requests, flags.insecure === true, reader);
  const flow = flowOf(base, requests, flags, headers);
  const { demand, shape, lasts } = demandOf(flow, requests, flags, connections, reader);
  const held = heldOf(targets, flags, reader);
  const group: LoadGroup = {
    group: 'load',
    demand,
    targets,
    choice: targets.length === 1 ? 'pick-first' : 'round-robin',
    timeout: reader.time('--timeout', flags.timeout),
    replicaHeader: flags.replicaHeader.toLowerCase(),
    connectionsMax: connections,
    connectionsMin: connections,
  };
  const plan: LoadPlan = {
    seed: flags.seed === undefined ? chanceSeed() : reader.count('--seed', flags.seed),
    groups: [group],
    objectives: reader.objectives(flags.objective ?? []),
    ...(held === undefined ? {} : { held: [held] }),
  };
  reader.finish();
  return { plan, workers, shape, open: demand.kind === 'open', lasts };
}

function targetsOf(
  base: URL | undefined,
  requests: readonly SourceRequest[],
  insecure: boolean,
  reader: FlagReader,
): readonly LoadTarget[] {
  const origins = base === undefined ? [...new Set(requests.flatMap(({ origin }) => origin ?? []))] : [base.origin];
  if (origins.length > 1) {
    reader.wrong(
      `the file names ${origins.length} servers (${origins.join(', ')}): give the address of the one to load`,
    );
  }
  const [origin] = origins;
  const url = origin === undefined ? null : URL.parse(origin);
  if (url === null) {
    if (base === undefined && reader.isFine) reader.wrong('no address: give one such as http://127.0.0.1:8080/path');
    return [{ id: 'nowhere', host: '127.0.0.1', port: 9 }];
  }
  const secure = url.protocol === 'https:';
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  return [
    {
      id: url.host,
      host,
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      ...(secure ? { tls: { serverName: host, insecure } } : {}),
    },
  ];
}

function flowOf(
  base: URL | undefined,
  requests: readonly SourceRequest[],
  flags: LoadFlags,
  headers: Readonly<Record<string, string>>,
): readonly Step[] {
  if (requests.length > 0) {
    return requests.map(({ step }) => ({ ...step, headers: { ...step.headers, ...headers } }));
  }
  const path = base === undefined ? '/' : `${base.pathname}${base.search}`;
  const method = flags.body !== undefined && flags.method === 'GET' ? 'POST' : flags.method.toUpperCase();
  return [
    { method, path, headers: { ...(base === undefined ? {} : { host: base.host }), ...headers }, body: flags.body },
  ];
}

interface PlannedDemand {
  readonly demand: Demand;
  readonly shape: string;
  readonly lasts: Duration | undefined;
}

function demandOf(
  flow: readonly Step[],
  requests: readonly SourceRequest[],
  flags: LoadFlags,
  connections: number,
  reader: FlagReader,
): PlannedDemand {
  const rate = flags.rate === undefined ? undefined : reader.rate('--rate', flags.rate);
  const think = reader.time('--think', flags.think);
  const open = { kind: 'open', clients: 'load', arrivals: flags.arrivals, flow } as const;
  if (flags.replay === true) {
    const times = reader.times(requests, flags.speed, rate);
    const lasts = times.at(-1) ?? seconds(0);
    const speed = flags.speed === '1' ? '' : ` at ${flags.speed} times its speed`;
    return {
      demand: { ...open, ratePerSecond: 0, times },
      shape: `${times.length} requests played again over ${formatDuration(lasts)}${speed}`,
      lasts,
    };
  }
  if (rate !== undefined) {
    return {
      demand: { ...open, ratePerSecond: rate },
      shape: `open loop at ${rate}/s, ${flags.arrivals}`,
      lasts: undefined,
    };
  }
  return {
    demand: { kind: 'closed', clients: 'load', users: connections, think, flow },
    shape: 'closed loop',
    lasts: undefined,
  };
}

function heldOf(targets: readonly LoadTarget[], flags: LoadFlags, reader: FlagReader): HeldGroup | undefined {
  if (flags.hold === undefined) {
    if (flags.holdNew !== undefined)
      reader.wrong('--hold-new needs --hold: new connections take the place of held ones');
    return undefined;
  }
  return {
    group: 'held',
    targets,
    held: { from: reader.count('--hold', flags.hold) },
    ...(flags.holdNew === undefined ? {} : { newPerSecond: { from: reader.rate('--hold-new', flags.holdNew) } }),
    ...(flags.holdRamp === undefined ? {} : { rampPerSecond: reader.rate('--hold-ramp', flags.holdRamp) }),
  };
}

/** Reads what was typed and keeps every mistake. */
class FlagReader {
  readonly #wrong: string[] = [];

  get isFine(): boolean {
    return this.#wrong.length === 0;
  }

  wrong(message: string): void {
    this.#wrong.push(message);
  }

  finish(): void {
    if (this.#wrong.length > 0) throw new UsageError(this.#wrong.join('\n'));
  }

  url(address: string): URL | undefined {
    const url = URL.parse(address);
    if (url === null) this.wrong(`"${address}" is no URL; expected one such as http://127.0.0.1:8080/path`);
    else if (url.protocol === 'http:' || url.protocol === 'https:') return url;
    else this.wrong(`${address}: ${url.protocol.slice(0, -1)} is not supported; expected http or https`);
    return undefined;
  }

  /** `10`, `2k`, `1M`. */
  count(flag: string, text: string): number {
    const found = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text);
    const unit = { '': 1, k: 1e3, m: 1e6 }[(found?.[2] ?? '').toLowerCase()] ?? 1;
    const value = found === null ? Number.NaN : Number(found[1]) * unit;
    if (Number.isInteger(value) && value >= 1) return value;
    this.wrong(`${flag}: found "${text}", expected a whole number such as 64 or 2k`);
    return 1;
  }

  rate(flag: string, text: string): number {
    const value = Number(text.replace(/\/s$/, '').replace(/k$/i, 'e3'));
    if (value > 0 && Number.isFinite(value)) return value;
    this.wrong(`${flag}: found "${text}", expected so many a second, such as 500, 2k or 250/s`);
    return 1;
  }

  /** As wrk does, a bare number is of seconds. */
  time(flag: string, text: string): Duration {
    const found = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
    if (found !== undefined && (found > 0 || flag === '--think' || flag === '--warm-up')) return found;
    this.wrong(`${flag}: found "${text}", expected a duration such as 30s, 500ms or 2m`);
    return ms(1);
  }

  headers(lines: readonly string[]): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      if (colon < 1 || /[\r\n\0]/.test(line)) this.wrong(`--header: found "${line}", expected "name: value"`);
      else headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
    }
    return headers;
  }

  objectives(lines: readonly string[]): readonly Objective[] {
    return lines.flatMap((line) => {
      // A colon within braces belongs to the filter: http_req_duration{replica:api-2}: p(95)<200.
      const colon = /:(?![^{]*\})/.exec(line)?.index ?? -1;
      const parsed =
        colon === -1
          ? 'expected a metric and an expression such as "http_req_duration: p(95)<200"'
          : parseObjective(line.slice(0, colon).trim(), line.slice(colon + 1));
      if (typeof parsed !== 'string') return [parsed];
      this.wrong(`--objective "${line}": ${parsed}`);
      return [];
    });
  }

  file({ name, text }: GivenFile): readonly SourceRequest[] {
    const source = readSource(text);
    if (source === undefined) {
      this.wrong(`${name}: expected curl commands, a HAR, targets of vegeta or an access log, and it is none of them`);
      return [];
    }
    if (source.requests.length > 0) {
      for (const { line, message } of source.problems) {
        process.stderr.write(`${name}${line === undefined ? '' : `:${line}`}: left out: ${message}\n`);
      }
      return source.requests;
    }
    for (const { line, message } of source.problems)
      this.wrong(`${name}${line === undefined ? '' : `:${line}`}: ${message}`);
    if (source.problems.length === 0) this.wrong(`${name}: there is no request in it`);
    return [];
  }

  times(requests: readonly SourceRequest[], speed: string, rate: number | undefined): readonly Duration[] {
    if (rate !== undefined)
      this.wrong('--replay and --rate: the times of the requests are their rate; leave one of them out');
    const times = requests.flatMap(({ at }) => at ?? []);
    if (requests.length === 0 || times.length < requests.length) {
      this.wrong('--replay needs requests with times: an access log or a HAR, given with --from');
      return [];
    }
    return warped(times, this.rate('--speed', speed));
  }
}
