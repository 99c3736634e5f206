// From the words of a command line to a load plan: addresses, flags that users of wrk, wrk2, hey and vegeta know, and files of
// requests that they already have. Every mistake is told at once.

import { type Duration, formatDuration, ns, seconds } from '../base.ts';
import { chanceSeed } from '../host.ts';
import type { HeldGroup, LoadGroup, LoadPlan, LoadTarget, SourceRequest } from '../load.ts';
import type { ClientRetry, Demand, Step } from '../scenario.ts';
import { FlagReader } from './flag-reader.ts';
import { type GivenFile, requestsIn } from './given-file.ts';

/** `h2` is HTTP/2 agreed on by ALPN, `h2c` HTTP/2 that both sides know of beforehand, `http2` whichever of them suits the address.
 * `auto` is left to the server: it is HTTP/1.1 here until somebody has asked. */
export type Protocol = 'h1' | 'h2' | 'h2c' | 'http2' | 'auto';

/** As in a scenario. */
const retriesMax = 20;

/** The flags as they were typed, but for files, which have been read. */
export interface LoadFlags {
  /** Default 10, of a scenario 10,000. */
  readonly connections?: string | undefined;
  readonly threads: string;
  readonly rate?: string | undefined;
  readonly stage?: readonly string[] | undefined;
  readonly arrivals?: 'constant' | 'poisson' | undefined;
  readonly think?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly method?: string | undefined;
  readonly body?: string | undefined;
  /** Default 2s, of a scenario what its clients have. */
  readonly timeout?: string | undefined;
  readonly retries?: string | undefined;
  readonly retryBackOff?: string | undefined;
  readonly retryBudget?: string | undefined;
  readonly replicaHeader: string;
  readonly replicaCookie?: string | undefined;
  readonly insecure?: boolean | undefined;
  /** Certificates of whoever has signed the server's, as PEM. */
  readonly ca?: string | undefined;
  readonly protocol: Protocol;
  readonly streams?: string | undefined;
  readonly objective?: readonly string[] | undefined;
  readonly weight?: readonly string[] | undefined;
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
  /** In words: `10 connections, open loop at 500/s, constant`. */
  readonly shape: string;
  /** Something in it is due by the clock. */
  readonly open: boolean;
  /** When the last of a list of requests is due; undefined where the load has no end of its own. */
  readonly lasts: Duration | undefined;
  /** Undefined where the load has none of its own. */
  readonly warmUp?: Duration;
}

/** One step against one address, or the requests of a file. Throws a `UsageError` that names every mistake. */
export function loadPlan(address: string | undefined, flags: LoadFlags, file: GivenFile | undefined): PlannedLoad {
  const reader = new FlagReader();
  const base = address === undefined ? undefined : reader.url(address);
  const connections = reader.count('--connections', flags.connections ?? '10');
  const workers = reader.count('--threads', flags.threads);
  if (connections < workers) {
    reader.wrong(
      `--connections ${connections} is less than --threads ${workers}: each thread needs a connection of its own`,
    );
  }
  const requests = file === undefined ? [] : requestsIn(file, flags.weight ?? [], reader);
  const headers = { ...credentialsOf(base), ...reader.headers(flags.header ?? []) };
  const targets = targetsOf(base, requests, flags, reader);
  const flow = flowOf(base, requests, flags, headers, reader);
  const http2 = http2Of(targets, flags, reader);
  const users = connections * (http2?.streamsMax ?? 1);
  const { demand, shape, lasts } = demandOf(flow, requests, flags, users, reader);
  const held = heldOf(targets, flags, reader);
  const retry = retryOf(flags, reader);
  const group: LoadGroup = {
    group: 'load',
    demand,
    targets,
    choice: targets.length === 1 ? 'pick-first' : 'round-robin',
    timeout: reader.time('--timeout', flags.timeout ?? '2s'),
    ...(retry === undefined ? {} : { retry }),
    replicaHeader: flags.replicaHeader.toLowerCase(),
    ...(flags.replicaCookie === undefined ? {} : { replicaCookie: flags.replicaCookie }),
    connectionsMax: connections,
    connectionsMin: connections,
    ...(http2 === undefined ? {} : { http2 }),
  };
  const plan: LoadPlan = {
    seed: flags.seed === undefined ? chanceSeed() : reader.count('--seed', flags.seed),
    groups: [group],
    objectives: reader.objectives(flags.objective ?? []),
    ...(held === undefined ? {} : { held: [held] }),
  };
  reader.finish();
  return {
    plan,
    workers,
    shape: `${connections} connections${streamsText(http2)}, ${shape}`,
    open: demand.kind === 'open',
    lasts,
  };
}

export const streamsText = (http2: LoadGroup['http2']): string =>
  http2 === undefined ? '' : ` of HTTP/2 with ${http2.streamsMax} stream${http2.streamsMax === 1 ? '' : 's'} each`;

export function targetsOf(
  base: URL | undefined,
  requests: readonly SourceRequest[],
  { insecure, ca }: LoadFlags,
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
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) {
    reader.wrong(
      '--ca: there is no certificate in the file; expected PEM, which begins with -----BEGIN CERTIFICATE-----',
    );
  }
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  return [
    {
      id: url.host,
      host,
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      ...(secure
        ? { tls: { serverName: host, insecure: insecure === true, ...(ca === undefined ? {} : { ca }) } }
        : {}),
    },
  ];
}

/** `http://user:word@host/`: as a browser does, by the Basic scheme. */
export function credentialsOf(base: URL | undefined): Readonly<Record<string, string>> {
  if (base === undefined || base.username === '') return {};
  const [user, word] = [base.username, base.password].map(decodeURIComponent);
  return { authorization: `Basic ${Buffer.from(`${user}:${word}`).toString('base64')}` };
}

export function http2Of(
  targets: readonly LoadTarget[],
  { protocol, streams }: LoadFlags,
  reader: FlagReader,
): LoadGroup['http2'] {
  const secure = targets.every(({ tls }) => tls !== undefined);
  if (protocol === 'h2' && !secure) {
    reader.wrong('--protocol h2 is agreed on within TLS: give an address with https://, or say --protocol h2c');
  }
  if (protocol === 'h2c' && secure) {
    reader.wrong('--protocol h2c is without TLS: give an address with http://, or say --protocol h2');
  }
  if (protocol === 'auto') return undefined;
  if (protocol !== 'h1') return { streamsMax: streams === undefined ? 1 : reader.count('--streams', streams) };
  if (streams !== undefined) reader.wrong('--streams is of HTTP/2: say --http2 too');
  return undefined;
}

function flowOf(
  base: URL | undefined,
  requests: readonly SourceRequest[],
  flags: LoadFlags,
  headers: Readonly<Record<string, string>>,
  reader: FlagReader,
): readonly Step[] {
  if (requests.length > 0) {
    return requests.map(({ step }) => ({ ...step, headers: { ...step.headers, ...headers } }));
  }
  const path = base === undefined ? '/' : `${base.pathname}${base.search}`;
  const method = reader.method(flags.method ?? (flags.body === undefined ? 'GET' : 'POST'));
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
  users: number,
  reader: FlagReader,
): PlannedDemand {
  const rate = flags.rate === undefined ? undefined : reader.rate('--rate', flags.rate);
  const think = reader.pause('--think', flags.think ?? '0');
  const arrivals = flags.arrivals ?? 'constant';
  const stages = (flags.stage ?? []).map((line) => reader.stage(line));
  const open = { kind: 'open', clients: 'load', arrivals, flow } as const;
  if (rate === undefined && stages.length > 0) reader.wrong('--stage needs --rate: where the rate begins');
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
  if (rate === undefined) {
    return { demand: { kind: 'closed', clients: 'load', users, think, flow }, shape: 'closed loop', lasts: undefined };
  }
  if (flags.think !== undefined)
    reader.wrong('--think is of users, and with --rate there are none: leave one of them out');
  if (stages.length === 0) {
    return { demand: { ...open, ratePerSecond: rate }, shape: `open loop at ${rate}/s, ${arrivals}`, lasts: undefined };
  }
  const way = [rate, ...stages.map(({ toPerSecond }) => toPerSecond)];
  return {
    demand: { ...open, ratePerSecond: rate, stages },
    shape: `open loop at ${way.join(' → ')}/s, ${arrivals}`,
    lasts: ns(stages.reduce((sum, { over }) => sum + over, 0)),
  };
}

function retryOf(flags: LoadFlags, reader: FlagReader): ClientRetry | undefined {
  const { retries, retryBackOff, retryBudget } = flags;
  if (retries === undefined) {
    if (retryBackOff !== undefined) reader.wrong('--retry-back-off needs --retries: how often a client asks again');
    if (retryBudget !== undefined) reader.wrong('--retry-budget needs --retries: how often a client asks again');
    return undefined;
  }
  return {
    retries: reader.countUpTo('--retries', retries, retriesMax),
    backOff: reader.time('--retry-back-off', retryBackOff ?? '0'),
    budget: retryBudget === undefined ? undefined : reader.share('--retry-budget', retryBudget),
  };
}

export function heldOf(targets: readonly LoadTarget[], flags: LoadFlags, reader: FlagReader): HeldGroup | undefined {
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
