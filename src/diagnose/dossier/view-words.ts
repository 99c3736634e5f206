// Facts in the words of the program they were written for: who owns the setting, what it is called there, how long it is.
// An operator who reads `proxy_read_timeout 15 s` knows which file to open.

import type { RequestTable, SettingFact, SettingKey } from '../../record.ts';
import { digits, percent } from '../wording.ts';
import type { View } from './view.ts';

/** What a key is called where it is written. Programs that are not listed are asked for in the words of the vocabulary. */
const nativeNames: Readonly<Record<string, Partial<Record<SettingKey, string>>>> = {
  nginx: {
    'upstream.read-timeout': 'proxy_read_timeout',
    'upstream.write-timeout': 'proxy_send_timeout',
    'upstream.connect-timeout': 'proxy_connect_timeout',
    'upstream.keepalive-connections': 'keepalive',
    'upstream.idle-timeout': 'upstream keepalive_timeout',
    'downstream.keepalive-timeout': 'keepalive_timeout',
    'downstream.keepalive-requests': 'keepalive_requests',
    'retry.window': 'proxy_next_upstream_timeout',
    'route.retries': 'proxy_next_upstream_tries',
    'route.retry-on': 'proxy_next_upstream',
    'listen.backlog': 'listen backlog',
    'workers.connections': 'worker_connections',
  },
  envoy: {
    'route.timeout': 'route timeout',
    'route.per-try-timeout': 'per_try_timeout',
    'route.idle-timeout': 'stream_idle_timeout',
    'route.retries': 'num_retries',
    'upstream.idle-timeout': 'idle_timeout',
    'upstream.connect-timeout': 'connect_timeout',
    'downstream.idle-timeout': 'idle_timeout',
    'breaker.max-connections': 'max_connections',
    'breaker.max-pending': 'max_pending_requests',
    'breaker.max-requests': 'max_requests',
    'breaker.max-retries': 'max_retries',
    'upstream.endpoint-max-requests': 'per-host max_connections',
  },
  haproxy: {
    'upstream.read-timeout': 'timeout server',
    'upstream.connect-timeout': 'timeout connect',
    'downstream.idle-timeout': 'timeout client',
    'downstream.keepalive-timeout': 'timeout http-keep-alive',
    'downstream.header-timeout': 'timeout http-request',
    'queue.timeout': 'timeout queue',
    'route.retries': 'retries',
    'upstream.endpoint-max-requests': 'server maxconn',
    'downstream.max-connections': 'maxconn',
  },
};

/** In whatever program: how the keys are said. */
const plainNames: Partial<Record<SettingKey, string>> = {
  'upstream.read-timeout': 'response timeout',
  'upstream.connect-timeout': 'connect timeout',
  'upstream.idle-timeout': 'idle timeout',
  'downstream.idle-timeout': 'idle timeout',
  'downstream.keepalive-timeout': 'keep-alive timeout',
  'downstream.request-timeout': 'request timeout',
  'dependency.timeout': 'timeout of the call',
  'route.timeout': 'route timeout',
  'route.per-try-timeout': 'timeout of one try',
  'route.idle-timeout': 'stream idle timeout',
  'route.retries': 'retries',
  'retry.window': 'retry window',
  'queue.timeout': 'queue timeout',
  'pool.size': 'pool size',
  'pool.acquire-timeout': 'acquire timeout',
  'listen.backlog': 'listen backlog',
  'kernel.somaxconn': 'net.core.somaxconn',
  'kernel.files-per-process-max': 'open files',
  'kernel.conntrack-max': 'nf_conntrack_max',
  'kernel.conntrack-timeout-close-wait': 'nf_conntrack_tcp_timeout_close_wait',
  'kernel.conntrack-timeout-time-wait': 'nf_conntrack_tcp_timeout_time_wait',
  'kernel.conntrack-timeout-established': 'nf_conntrack_tcp_timeout_established',
  'workers.count': 'workers',
  'cpu.limit': 'CPU limit',
};

/** `proxy_read_timeout`, or the words for it in a program that has no name of its own. */
export function nativeName(setting: Pick<SettingFact, 'program' | 'key'>): string {
  return nativeNames[setting.program]?.[setting.key] ?? plainNames[setting.key] ?? setting.key;
}

/** `nginx location /: proxy_read_timeout 15 s`, with `(default)` where nobody wrote it. */
export function sayDurationSetting(setting: SettingFact): string {
  const value = typeof setting.value === 'number' ? sayTime(setting.value) : String(setting.value);
  return `${ownerOf(setting)}: ${nativeName(setting)} ${value}${setting.implied ? ' (default)' : ''}`;
}

/** The same for what is counted. */
export function sayCountSetting(setting: SettingFact): string {
  return `${ownerOf(setting)}: ${nativeName(setting)} ${String(setting.value)}${setting.implied ? ' (default)' : ''}`;
}

/** Programs that are no programs: where a fact stood, not who acts on it. */
const nobody = new Set(['file', 'environment', 'notes', 'settings', 'access-log']);

/** Program and scope, without what says nothing. */
export function ownerOf({ program, scope }: Pick<SettingFact, 'program' | 'scope'>): string {
  const place = /^(?:main|global|file|settings|environment)?$/.test(scope) ? '' : scope;
  if (nobody.has(program)) return place === '' ? program : place;
  return place === '' ? program : `${program} ${place}`;
}

/** A length of time as it is written in configurations: `250 ms`, `15 s`, `3600 s`. */
export function sayTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return seconds === Number.POSITIVE_INFINITY ? 'no limit' : 'unknown';
  if (seconds !== 0 && Math.abs(seconds) < 1) return `${digits(seconds * 1000)} ms`;
  return `${Number(seconds.toFixed(3))} s`;
}

/** `37 of 97 (38.1 %)`. */
export function sayPart(part: number, whole: number): string {
  return `${digits(part)} of ${digits(whole)}${whole > 0 ? ` (${percent(part / whole)})` : ''}`;
}

/** Words that name a kind of file or program, not a place. */
const common = new Set(
  'access log logs conf cfg config configuration txt json jsonl yaml yml env csv prom error default main server location route http https www com test example local net org svc cluster after before only stats settings notes the'.split(
    ' ',
  ),
);

/** Words of a name that tell places apart. */
export function wordsOfName(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !common.has(word) && !/^\d+$/.test(word));
}

/** How much a setting and a log speak of one place: words that the file, the scopes in it and the service share. */
export function kinship(view: View, setting: SettingFact, table: RequestTable): number {
  const scopes = view.dossier.settings
    .filter((other) => other.origin.file === setting.origin.file)
    .map((other) => other.scope);
  const here = new Set([setting.origin.file, ...scopes].flatMap(wordsOfName));
  const services = table.services.length > 3 ? [] : table.services;
  const there = new Set([table.origin.file, ...services].flatMap(wordsOfName));
  const shared = [...there].filter((word) => here.has(word)).length;
  return shared + (setting.program === table.program ? 0.5 : 0);
}
