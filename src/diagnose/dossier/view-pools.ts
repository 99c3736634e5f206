// Client-side pools: how many connections, how many in use, how many wait for one and for how long they may. The same facts
// come as metrics under a dozen spellings, as settings, and as what a pool says when nobody got a connection:
//
//   Timeout failure stats (total=40, active=40, idle=0, waiting=97)                     Hikari
//   QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00  SQLAlchemy
//   none available[size:100; busy:100; idle:0; lastwait:30000]                          Tomcat
//   Timed out fetching a new connection … (… timeout: 10, connection limit: 5)          Prisma

import type { Origin, SeriesFact, SettingFact } from '../../record.ts';
import { medianOf, type View } from './view.ts';

export interface PoolReading {
  readonly size: number | undefined;
  readonly active: number | undefined;
  readonly idle: number | undefined;
  readonly waiting: number | undefined;
  /** Said because somebody did not get a connection. */
  readonly failure: boolean;
  readonly origin: Origin;
}

export interface Pool {
  readonly name: string;
  readonly size: number | undefined;
  readonly sizeSetting: SettingFact | undefined;
  readonly acquireTimeout: number | undefined;
  readonly acquireSetting: SettingFact | undefined;
  /** Seconds that one use holds a connection. */
  readonly hold: number | undefined;
  readonly readings: readonly PoolReading[];
  /** Uses that got a connection, and those that gave up waiting. */
  readonly acquired: number | undefined;
  readonly timedOut: number | undefined;
  readonly longestWait: number | undefined;
  readonly origins: readonly Origin[];
}

/** What the dossier knows of the pool that is in trouble; undefined when nothing speaks of one. */
export function poolOf(view: View): Pool | undefined {
  const sizeSetting = view.setting('pool.size');
  const acquireSetting = view.setting('pool.acquire-timeout');
  const said = view.dossier.messages.flatMap(({ text, origin }) => saidBy(text, origin) ?? []);
  const gauges = gaugesOf(view);
  const readings = [...said.map(({ reading }) => reading), ...gauges.readings, ...overTime(view)];
  if (sizeSetting === undefined && acquireSetting === undefined && readings.length === 0) return undefined;
  const sizes = readings.flatMap(({ size }) => size ?? []);
  const told = said.flatMap(({ timeout }) => timeout ?? []);
  return {
    name: gauges.name ?? said.find(({ name }) => name !== undefined)?.name ?? '',
    size: numberOf(sizeSetting) ?? (sizes.length === 0 ? undefined : Math.max(...sizes)),
    sizeSetting,
    acquireTimeout: numberOf(acquireSetting) ?? medianOf(told),
    acquireSetting,
    hold: numberOf(view.setting('pool.hold-time')) ?? gauges.hold,
    readings,
    acquired: gauges.acquired,
    timedOut: gauges.timedOut,
    longestWait: gauges.longestWait,
    origins: readings.map(({ origin }) => origin).slice(0, 4),
  };
}

function numberOf(setting: SettingFact | undefined): number | undefined {
  return typeof setting?.value === 'number' ? setting.value : undefined;
}

// ── metrics ──

const ours =
  /pool|^(?:cl|sv)_(?:active|waiting|idle)|^maxwait|hikaricp|go_sql|jdbc_connections|db_client_connections|pgbouncer|sql_conn|db_conn/;
/** Pools of something else: memory, threads. */
const notOurs = /memory|bytes|heap|buffer|thread|executor|worker|haproxy_info|_mb$/;

function isPool(name: string): boolean {
  return ours.test(name) && !notOurs.test(name);
}

const meanings = {
  size: /(max|limit|size|max_open|capacity)(_?connections?|_?size|_?open)?$/,
  active: /(acquired|active|in_?use|busy|used|borrowed|leased|checked_?out)(_?connections?)?$/,
  idle: /idle(_?connections?)?$/,
  waiting: /(pending|waiting|waiters|queued|wait_queue\w*|pending_requests|cl_waiting)(_?threads|_?connections?)?$/,
  timedOut:
    /(timeouts?|canceled|cancelled|acquire_canceled|acquire_timeouts?|failed_acquires?|exhausted)(_count)?_total$|timeouts?_count$/,
  acquired: /(acquire|acquires|acquisitions|acquire_count|checkouts?|borrowed|acquired)(_count)?_total$/,
  longestWait: /(acquire|wait|acquisition)\w*(seconds_max|seconds)$|maxwait(_seconds)?$/,
  hold: /(usage|use|hold|held)_?(time)?_?seconds(_mean|_avg)?$/,
} as const;

function gaugesOf(view: View): {
  readonly name: string | undefined;
  readonly readings: readonly PoolReading[];
  readonly hold: number | undefined;
  readonly acquired: number | undefined;
  readonly timedOut: number | undefined;
  readonly longestWait: number | undefined;
} {
  const samples = view.dossier.samples.filter(({ name }) => isPool(name.toLowerCase()));
  const byReading = Map.groupBy(
    samples,
    ({ reading, labels }) => `${reading} ${labels['pool'] ?? labels['service'] ?? ''}`,
  );
  const readings = [...byReading.values()].flatMap((own): PoolReading[] => {
    const value = (pattern: RegExp): number | undefined =>
      own.find(({ name }) => pattern.test(name.toLowerCase()))?.value;
    const first = own[0];
    const size = value(meanings.size);
    const active = value(meanings.active);
    const waiting = value(meanings.waiting);
    if (first === undefined || (active === undefined && waiting === undefined)) return [];
    return [{ size, active, idle: value(meanings.idle), waiting, failure: false, origin: first.origin }];
  });
  const total = (pattern: RegExp): number | undefined =>
    view.total((name) => isPool(name) && pattern.test(name))?.value;
  const holds = samples.filter(
    ({ name, labels }) => meanings.hold.test(name.toLowerCase()) && (labels['quantile'] ?? '0.5') === '0.5',
  );
  const labels = samples[0]?.labels;
  return {
    name: labels?.['pool'] ?? labels?.['service'] ?? labels?.['name'],
    readings,
    hold: holds[0]?.value ?? meanUse(view),
    acquired: total(meanings.acquired),
    timedOut: total(meanings.timedOut),
    longestWait: view.greatest((name) => isPool(name) && meanings.longestWait.test(name))?.value,
  };
}

function meanUse(view: View): number | undefined {
  const sum = view.total((name) => isPool(name) && /(usage|use|hold)\w*_sum$/.test(name));
  const count = view.total((name) => isPool(name) && /(usage|use|hold)\w*_count$/.test(name));
  return sum === undefined || count === undefined || count.value === 0 ? undefined : sum.value / count.value;
}

/** Readings as series: what was in use at each instant, and who waited. */
function overTime(view: View): PoolReading[] {
  const of = (pattern: RegExp): SeriesFact | undefined => view.series((name) => isPool(name) && pattern.test(name))[0];
  const active = of(meanings.active);
  if (active === undefined) return [];
  const [size, idle, waiting] = [of(meanings.size), of(meanings.idle), of(meanings.waiting)];
  const at = (series: SeriesFact | undefined, index: number): number | undefined =>
    series === undefined || series.atMs[index] !== active.atMs[index] ? undefined : series.values[index];
  return active.values.map((value, index) => ({
    size: at(size, index),
    active: value,
    idle: at(idle, index),
    waiting: at(waiting, index),
    failure: false,
    origin: active.origin,
  }));
}

// ── what pools say ──

interface Said {
  readonly reading: PoolReading;
  readonly timeout: number | undefined;
  readonly name: string | undefined;
}

const failing =
  /time(?:d)? ?out|not available|exhausted|unable to fetch|none available|limit of size|query_wait_timeout|timeout exceeded/i;

function saidBy(text: string, origin: Origin): Said | undefined {
  const hikari = /\(total=(\d+), active=(\d+), idle=(\d+), waiting=(\d+)\)/.exec(text);
  const after = /timed? ?out (?:after|in|of) ([\d.]+) ?(ms|s)/i.exec(text);
  if (hikari !== null) {
    const [size, active, idle, waiting] = hikari.slice(1).map(Number);
    return {
      reading: { size, active, idle, waiting, failure: failing.test(text), origin },
      timeout: secondsIn(after),
      name: / - (\S+) - /.exec(text)?.[1],
    };
  }
  const tomcat = /\[size:(\d+); busy:(\d+); idle:(\d+); lastwait:(\d+)\]/.exec(text);
  if (tomcat !== null) {
    const [size, active, idle, wait] = tomcat.slice(1).map(Number);
    return {
      reading: { size, active, idle, waiting: undefined, failure: true, origin },
      timeout: (wait ?? 0) / 1000,
      name: undefined,
    };
  }
  const alchemy =
    /QueuePool limit of size (\d+) overflow (\d+) reached, connection timed out(?:, timeout ([\d.]+))?/.exec(text);
  if (alchemy !== null) {
    const size = Number(alchemy[1]) + Number(alchemy[2]);
    const timeout = alchemy[3] === undefined ? undefined : Number(alchemy[3]);
    return {
      reading: { size, active: size, idle: 0, waiting: undefined, failure: true, origin },
      timeout,
      name: undefined,
    };
  }
  const prisma = /connection pool timeout: (\d+), connection limit: (\d+)/.exec(text);
  if (prisma !== null) {
    const size = Number(prisma[2]);
    return {
      reading: { size, active: size, idle: 0, waiting: undefined, failure: true, origin },
      timeout: Number(prisma[1]),
      name: undefined,
    };
  }
  const state = stateIn(text, origin);
  if (state !== undefined) return { reading: state, timeout: secondsIn(after), name: undefined };
  const other =
    /max pool size was reached|prior to obtaining a connection from the pool|connection pool (?:is )?(?:has been )?exhausted|timeout waiting for (?:connection from pool|idle object)|connection pool timeout|timeout acquiring a connection|timeout exceeded when trying to connect|query_wait_timeout|pool is probably full|could not get a resource from the pool|no more connections allowed/i;
  if (!other.test(text)) return undefined;
  return {
    reading: { size: undefined, active: undefined, idle: undefined, waiting: undefined, failure: true, origin },
    timeout: secondsIn(after),
    name: undefined,
  };
}

const words = {
  size: /^(?:total|max|maximum|size|limit|max_?size|capacity)$/i,
  active: /^(?:active|leased|busy|in[_ ]?use|used|acquired|borrowed|checked[_ ]?out)$/i,
  idle: /^(?:idle|available|free)$/i,
  waiting: /^(?:waiting|pending|waiters|queued|awaiting)$/i,
} as const;

/** `[leased: 50; pending: 21; available: 0; max: 50]`, `active=10 idle=0 waiting=4 limit=10`: a state in any pool’s words. */
function stateIn(text: string, origin: Origin): PoolReading | undefined {
  if (!/pool|connection/i.test(text)) return undefined;
  const pairs = [...text.matchAll(/\b([a-z]+(?:[_ ](?:use|out|size))?)\s?[:=]\s?(\d+)\b/gi)];
  const value = (pattern: RegExp): number | undefined => {
    const found = pairs.find(([, word = '']) => pattern.test(word))?.[2];
    return found === undefined ? undefined : Number(found);
  };
  const size = value(words.size);
  const idle = value(words.idle);
  const active = value(words.active) ?? (size === undefined || idle === undefined ? undefined : size - idle);
  const waiting = value(words.waiting);
  if (active === undefined || (idle === undefined && waiting === undefined)) return undefined;
  return { size, active, idle, waiting, failure: failing.test(text), origin };
}

function secondsIn(found: RegExpExecArray | null): number | undefined {
  return found === null ? undefined : Number(found[1]) * (found[2]?.toLowerCase() === 'ms' ? 0.001 : 1);
}
