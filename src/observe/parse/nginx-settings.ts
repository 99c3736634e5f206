// nginx.conf as settings: what binds at each place that serves requests (a server) or hands them on (a location with a
// `…_pass`), and what each group of upstream servers is. What nobody wrote is nginx's documented default, marked as implied.
//
// Directives are inherited from the block around, the innermost word counts. Durations without a unit are seconds. Included
// files are not here to be read; that is said.

import type { SettingKey } from '../../record.ts';
import type { WholeFormat } from './format.ts';
import { findDeep, type NginxDirective, parseNginxSyntax } from './nginx-syntax.ts';
import { parseSeconds } from './quantities.ts';
import type { Sink } from './sink.ts';

const program = 'nginx';

export const nginxConfiguration: WholeFormat = {
  kind: 'whole',
  name: 'nginx configuration',
  early: true,
  recognise(head) {
    if (!/^\s*(?:http|server|upstream\s+\S+|stream|events|location\s+[^{]+)\s*\{/m.test(head)) return 0;
    const ended =
      /^\s*(?:listen|proxy_pass|server|worker_connections|worker_processes|location|keepalive\w*|log_format)\b[^;]*[;{]/m.test(
        head,
      ) || /\b(?:worker_connections|listen|server|proxy_pass|keepalive_timeout)\s+[^;{}]+;/.test(head);
    return ended ? 0.97 : 0.4;
  },
  read(text, sink) {
    const top = parseNginxSyntax(text);
    readHints(top, sink);
    readMain(top, sink);
    const groups = findDeep(top, 'upstream');
    for (const group of groups) readUpstream(group, sink);
    const servers = serversIn(top, []);
    for (const server of servers) readServer(server, servers.length > 1, groups, sink);
    for (const include of findDeep(top, 'include')) {
      if (!/mime\.types$|fastcgi_params$/.test(include.words[0] ?? '')) {
        sink.remark(`line ${include.line} includes ${include.words[0] ?? ''}: give that file too if it matters`);
      }
    }
    sink.understood(text.split('\n').filter((line) => line.trim() !== '').length);
  },
};

/** A block and those around it, the innermost last. */
type Scope = readonly (readonly NginxDirective[])[];

interface ServerBlock {
  readonly directive: NginxDirective;
  readonly scope: Scope;
}

function readHints(top: readonly NginxDirective[], sink: Sink): void {
  for (const { words } of findDeep(top, 'log_format')) {
    const [name = '', ...parts] = words;
    sink.hints.logFormats.set(name, parts.filter((part) => !part.startsWith('escape=')).join(''));
  }
  for (const group of findDeep(top, 'upstream')) {
    for (const server of group.block ?? []) {
      const [address] = server.words;
      if (server.name !== 'server' || address === undefined) continue;
      const label = /^[\w.-]+$/.exec(server.comment ?? '')?.[0];
      sink.hints.servers.set(withPort(address), { service: group.words[0] ?? '', label });
    }
  }
}

function withPort(address: string): string {
  return /:\d+$|^unix:/.test(address) ? address : `${address}:80`;
}

/** The innermost directive of this name; `upstream` blocks and the like do not inherit into each other. */
function find(scope: Scope, name: string): NginxDirective | undefined {
  for (const block of scope.toReversed()) {
    const found = block.findLast((one) => one.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `name=value` among the words of a directive. */
function parameter(directive: NginxDirective | undefined, name: string): string | undefined {
  return directive?.words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

type Write = (key: SettingKey, value: number | string | boolean | undefined, found?: NginxDirective) => void;

function writer(sink: Sink, scope: string, line: number): Write {
  return (key, value, found) => {
    if (value === undefined || Number.isNaN(value)) return;
    sink.setting({ program, scope, key, value, implied: found === undefined, line: found?.line ?? line });
  };
}

/** What a directive says as a duration, else the default. */
function duration(found: NginxDirective | undefined, otherwise: number): number {
  return parseSeconds(found?.words[0]) ?? otherwise;
}

function count(found: NginxDirective | undefined, otherwise: number): number {
  return found === undefined ? otherwise : Number(found.words[0]);
}

function readMain(top: readonly NginxDirective[], sink: Sink): void {
  const events = top.find((one) => one.name === 'events');
  const processes = find([top], 'worker_processes');
  if (events === undefined && processes === undefined) return;
  const write = writer(sink, 'main', events?.line ?? 1);
  const written = processes?.words[0] ?? '1';
  write('workers.processes', /^\d+$/.test(written) ? Number(written) : written, processes);
  const connections = find([events?.block ?? []], 'worker_connections');
  write('workers.connections', count(connections, 512), connections);
  const mutex = find([events?.block ?? []], 'accept_mutex');
  write('workers.accept-mutex', mutex?.words[0] === 'on', mutex);
}

function serversIn(directives: readonly NginxDirective[], around: Scope): ServerBlock[] {
  const scope = [...around, directives];
  return directives.flatMap((one) => {
    if (one.block === undefined) return [];
    if (one.name === 'server') return [{ directive: one, scope: [...scope, one.block] }];
    return one.name === 'http' || one.name === 'stream' ? serversIn(one.block, scope) : [];
  });
}

function readServer(server: ServerBlock, several: boolean, groups: readonly NginxDirective[], sink: Sink): void {
  const { directive, scope } = server;
  const listen = directive.block?.filter((one) => one.name === 'listen') ?? [];
  const name = find([directive.block ?? []], 'server_name')?.words[0] ?? listen[0]?.words[0] ?? 'default';
  const write = writer(sink, `server ${name}`, directive.line);
  const timeout = find(scope, 'keepalive_timeout');
  write('downstream.keepalive-timeout', duration(timeout, 75), timeout);
  const requests = find(scope, 'keepalive_requests');
  write('downstream.keepalive-requests', count(requests, 1000), requests);
  const header = find(scope, 'client_header_timeout');
  write('downstream.header-timeout', duration(header, 60), header);
  const reuse = listen.find((one) => one.words.includes('reuseport'));
  write('workers.reuse-port', reuse !== undefined, reuse);
  const backlog = listen.find((one) => parameter(one, 'backlog') !== undefined);
  write('listen.backlog', Number(parameter(backlog, 'backlog') ?? 511), backlog);
  const streams = find(scope, 'http2_max_concurrent_streams');
  const http2 = find(scope, 'http2') ?? listen.find((one) => one.words.includes('http2'));
  if (http2 !== undefined) write('h2.max-concurrent-streams', count(streams, 128), streams);
  const suffix = several ? ` of ${name}` : '';
  readPass({ directive, scope }, `server ${name}`, groups, sink);
  for (const location of locationsIn(directive.block ?? [], scope)) {
    readPass(location, `location ${location.directive.words.join(' ')}${suffix}`, groups, sink);
  }
}

/** Locations, those inside them, and the `if` blocks that also may hand on. */
function locationsIn(directives: readonly NginxDirective[], around: Scope): ServerBlock[] {
  return directives.flatMap((one) => {
    if (one.block === undefined || (one.name !== 'location' && one.name !== 'if')) return [];
    const scope = [...around, one.block];
    const inner = locationsIn(one.block, scope);
    return one.name === 'location' ? [{ directive: one, scope }, ...inner] : inner;
  });
}

const passes = ['proxy', 'grpc', 'fastcgi', 'uwsgi', 'scgi'] as const;

/** What binds where requests are handed on; nothing where they are not. */
function readPass(place: ServerBlock, name: string, groups: readonly NginxDirective[], sink: Sink): void {
  const own = place.directive.block ?? [];
  const kind = passes.find((one) => own.some((directive) => directive.name === `${one}_pass`));
  if (kind === undefined) return;
  const pass = find([own], `${kind}_pass`);
  const { scope } = place;
  const write = writer(sink, name, place.directive.line);
  const target = (pass?.words[0] ?? '').replace(/^[a-z]+:\/\//, '').replace(/\/.*$/, '');
  write('route.target', target, pass);
  const timeouts = [
    ['upstream.connect-timeout', `${kind}_connect_timeout`],
    ['upstream.read-timeout', `${kind}_read_timeout`],
    ['upstream.write-timeout', `${kind}_send_timeout`],
  ] as const;
  for (const [key, directive] of timeouts) {
    const found = find(scope, directive);
    write(key, duration(found, 60), found);
  }
  const next = find(scope, `${kind}_next_upstream`);
  write('route.retry-on', next?.words.join(',') ?? 'error,timeout', next);
  const tries = find(scope, `${kind}_next_upstream_tries`);
  const group = groups.find((one) => one.words[0] === target);
  const servers = (group?.block ?? []).filter((one) => one.name === 'server' && !one.words.includes('down')).length;
  // 0 is no limit: then each server of the group is tried once.
  const most = count(tries, 0) === 0 ? Math.max(1, servers) : count(tries, 1);
  write('route.retries', next?.words.includes('off') === true ? 0 : most - 1, tries ?? next);
  const window = find(scope, `${kind}_next_upstream_timeout`);
  write('retry.window', duration(window, 0) || Number.POSITIVE_INFINITY, window);
  const version = find(scope, 'proxy_http_version');
  if (kind === 'proxy') write('upstream.http-version', version?.words[0] ?? '1.0', version);
  readLimits(scope, write);
  readResolver(scope, target, write);
  if (group === undefined && target !== '' && !target.includes('$')) {
    write('upstream.endpoints', 1, pass);
    write('upstream.address-kind', /^(?:[\d.]+|\[[\da-f:]+\]|unix:.*)(?::\d+)?$/.test(target) ? 'static' : 'dns', pass);
  }
}

function readLimits(scope: Scope, write: Write): void {
  const limit = find(scope, 'limit_req');
  if (limit === undefined) return;
  const zone = parameter(limit, 'zone') ?? '';
  const zones = scope.flatMap((block) => block.filter((one) => one.name === 'limit_req_zone'));
  const found = zones.find((one) => parameter(one, 'zone')?.split(':')[0] === zone);
  const rate = /^(\d+)r\/([sm])$/.exec(parameter(found, 'rate') ?? '');
  if (rate !== null) write('limit.rate', Number(rate[1]) / (rate[2] === 'm' ? 60 : 1), found);
  write('limit.burst', Number(parameter(limit, 'burst') ?? 0), limit);
}

function readResolver(scope: Scope, target: string, write: Write): void {
  const resolver = find(scope, 'resolver');
  if (resolver === undefined) return;
  const valid = parseSeconds(parameter(resolver, 'valid'));
  if (valid !== undefined) write('dns.hold', valid, resolver);
  const timeout = find(scope, 'resolver_timeout');
  write('dns.timeout', duration(timeout, 30), timeout);
  if (target.includes('$')) write('upstream.address-kind', 'dns', resolver);
}

const policies: Readonly<Record<string, string>> = {
  least_conn: 'least-request',
  least_time: 'least-time',
  random: 'random',
  ip_hash: 'hash',
  hash: 'hash',
};

function readUpstream(group: NginxDirective, sink: Sink): void {
  const block = group.block ?? [];
  const write = writer(sink, `upstream ${group.words[0] ?? ''}`, group.line);
  const policy = block.find((one) => policies[one.name] !== undefined);
  write('balance.policy', policies[policy?.name ?? ''] ?? 'round-robin', policy);
  const sticky = block.find((one) => one.name === 'sticky');
  if (sticky !== undefined) write('balance.sticky', sticky.words[0] ?? 'cookie', sticky);
  if (policy?.name === 'ip_hash') write('balance.sticky', 'client-ip', policy);
  const zone = find([block], 'zone');
  write('balance.shared-state', zone !== undefined, zone);
  const name = group.words[0] ?? '';
  readGroupServers(block, write, (server) => writer(sink, `server ${name}/${server.words[0] ?? ''}`, server.line));
  readPool(block, write);
}

function readGroupServers(
  block: readonly NginxDirective[],
  write: Write,
  own: (server: NginxDirective) => Write,
): void {
  const servers = block.filter((one) => one.name === 'server');
  const [first] = servers;
  if (first === undefined) return;
  write('upstream.endpoints', servers.length, first);
  write('upstream.endpoint-list', servers.map((one) => one.words[0] ?? '').join(), first);
  const named = servers.some((one) => !/^(?:[\d.]+|\[[\da-f:]+\])(?::\d+)?$|^unix:/i.test(one.words[0] ?? ''));
  write('upstream.address-kind', named ? 'dns' : 'static', first);
  for (const [key, word] of [
    ['upstream.down-servers', 'down'],
    ['upstream.backup-servers', 'backup'],
  ] as const) {
    const marked = servers.filter((one) => one.words.includes(word));
    if (marked.length > 0) write(key, marked.length, marked[0]);
  }
  for (const limit of limits) writeLimit(servers, limit, write, own);
}

interface Limit {
  readonly key: SettingKey;
  readonly name: string;
  /** What binds a server that does not say; undefined: nothing. */
  readonly otherwise: number | undefined;
}

const limits: readonly Limit[] = [
  { key: 'upstream.max-fails', name: 'max_fails', otherwise: 1 },
  { key: 'upstream.fail-timeout', name: 'fail_timeout', otherwise: 10 },
  { key: 'upstream.endpoint-max-requests', name: 'max_conns', otherwise: undefined },
  { key: 'balance.slow-start', name: 'slow_start', otherwise: undefined },
];

/** One statement for the group where all its servers agree, else one for each server. */
function writeLimit(
  servers: readonly NginxDirective[],
  { key, name, otherwise }: Limit,
  write: Write,
  own: (server: NginxDirective) => Write,
): void {
  const values = servers.map((server) => parseSeconds(parameter(server, name)));
  const written = servers.find((server) => parameter(server, name) !== undefined);
  if (values.every((value) => value === values[0])) {
    write(key, values[0] ?? otherwise, written);
    return;
  }
  for (const [index, server] of servers.entries()) {
    const value = values[index];
    own(server)(key, value ?? otherwise, value === undefined ? undefined : server);
  }
}

function readPool(block: readonly NginxDirective[], write: Write): void {
  const keepAlive = find([block], 'keepalive');
  write('upstream.keepalive-connections', count(keepAlive, 0), keepAlive);
  const queue = find([block], 'queue');
  if (queue !== undefined) write('queue.max', Number(queue.words[0]), queue);
  if (keepAlive === undefined) return;
  const requests = find([block], 'keepalive_requests');
  write('upstream.keepalive-requests', count(requests, 1000), requests);
  const timeout = find([block], 'keepalive_timeout');
  write('upstream.idle-timeout', duration(timeout, 60), timeout);
  const lifetime = find([block], 'keepalive_time');
  write('upstream.connection-lifetime', duration(lifetime, 3600), lifetime);
}
