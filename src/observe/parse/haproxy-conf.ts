// haproxy.cfg as settings. What binds in a section is what it says itself, else what its `defaults` say, else the program's
// documented default: the third is marked as implied, because nobody wrote it and it binds all the same.
//
//   defaults                         frontend fe            backend be                      resolvers dns
//       timeout server 30s               default_backend be     balance leastconn               hold valid 10s
//                                                               server a 10.0.0.1:80 check
//
// Durations without a unit are milliseconds. A timeout that is unset does not exist: HAProxy waits for ever.

import type { SettingKey } from '../../record.ts';
import type { WholeFormat } from './format.ts';
import { policyWord } from './policy-words.ts';
import { parseSeconds } from './quantities.ts';
import type { Sink } from './sink.ts';

const program = 'haproxy';

const sectionLine =
  /^(global|defaults|frontend|backend|listen|resolvers|peers|userlist|mailers|cache|program|http-errors|ring|log-forward|fcgi-app|traces|crt-store)\b\s*(\S*)(?:\s+from\s+(\S+))?/;
const keywordLine =
  /^\s+(?:timeout\s+\S+\s+\S+|balance\s+\S+|server(?:-template)?\s+\S+\s+\S+|mode\s+(?:http|tcp)|bind\s+\S+|maxconn\s+\d+|default_backend\s+\S+|option\s+\S+|hold\s+\S+\s+\S+|nameserver\s+\S+)/m;

export const haproxyConfiguration: WholeFormat = {
  kind: 'whole',
  name: 'HAProxy configuration',
  early: true,
  recognise(head) {
    const sections = head
      .split('\n')
      .filter((line) => /^(?:global|defaults|frontend|backend|listen|resolvers)\b[^:={;]*$/.test(line)).length;
    if (sections === 0 || !keywordLine.test(head)) return 0;
    return sections > 1 ? 0.98 : 0.9;
  },
  read(text, sink) {
    const sections = sectionsOf(text, sink);
    for (const section of sections) readSection(section, sections, sink);
  },
};

interface Directive {
  readonly words: readonly string[];
  readonly line: number;
}

interface Section {
  readonly kind: string;
  readonly name: string;
  /** The `defaults` that it inherits. */
  readonly defaults: Section | undefined;
  readonly directives: Directive[];
  readonly line: number;
}

function sectionsOf(text: string, sink: Sink): Section[] {
  const sections: Section[] = [];
  let defaults: Section | undefined;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = index + 1;
    const words = wordsOf(raw);
    if (words.length === 0) continue;
    const found = sectionLine.exec(raw);
    if (found !== null) {
      const named = sections.find((one) => one.kind === 'defaults' && one.name === found[3]);
      const section = {
        kind: found[1] ?? '',
        name: found[2] ?? '',
        defaults: named ?? defaults,
        directives: [],
        line,
      };
      if (section.kind === 'defaults') defaults = section;
      sections.push(section);
      sink.understood();
      continue;
    }
    const current = sections.at(-1);
    if (current === undefined) sink.foreign(line, raw);
    else {
      current.directives.push({ words, line });
      sink.understood();
    }
  }
  return sections;
}

/** The words of a line: quotes and backslashes hold blanks together, `#` ends it. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const found of line.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|#.*$|((?:\\.|[^\s"'#])+)/g)) {
    if (found[0].startsWith('#')) break;
    words.push(found[1] ?? found[2] ?? (found[3] ?? '').replaceAll(/\\(.)/g, '$1'));
  }
  return words;
}

function readSection(section: Section, sections: readonly Section[], sink: Sink): void {
  if (section.kind === 'global') readGlobal(section, sink);
  if (section.kind === 'resolvers') readResolvers(section, sink);
  if (section.kind === 'frontend' || section.kind === 'listen') readFrontend(section, sections, sink);
  if (section.kind === 'backend' || section.kind === 'listen') readBackend(section, sink);
}

/** What binds here: the section's own words or those of its defaults, the last of each. */
function find(section: Section, ...words: string[]): Directive | undefined {
  const own = section.directives.findLast((one) => words.every((word, index) => one.words[index] === word));
  return own ?? (section.defaults === undefined ? undefined : find(section.defaults, ...words));
}

/** An option that may be negated: the last of `option x` and `no option x`. */
function option(section: Section, name: string): Directive | undefined {
  const all = [...(section.defaults?.directives ?? []), ...section.directives];
  const last = all.findLast((one) => {
    const bare = one.words[0] === 'no' ? one.words.slice(1) : one.words;
    return bare[0] === 'option' && bare[1] === name;
  });
  return last?.words[0] === 'no' ? undefined : last;
}

/** Writes one setting of a scope: as found, or as implied. */
type Write = (key: SettingKey, value: number | string | boolean | undefined, found?: Directive) => void;

function writer(sink: Sink, scope: string, line: number): Write {
  return (key, value, found) => {
    if (value === undefined) return;
    sink.setting({ program, scope, key, value, implied: found === undefined, line: found?.line ?? line });
  };
}

function duration(found: Directive | undefined, at: number): number | undefined {
  return parseSeconds(found?.words[at], 0.001);
}

/** A timeout of a section; unset ones never end. */
function timeout(section: Section, name: string): { seconds: number | undefined; found: Directive | undefined } {
  const found = find(section, 'timeout', name);
  return { seconds: duration(found, 2), found };
}

function readGlobal(section: Section, sink: Sink): void {
  const write = writer(sink, 'global', section.line);
  const maxconn = find(section, 'maxconn');
  if (maxconn !== undefined) write('downstream.max-connections', Number(maxconn.words[1]), maxconn);
  const threads = find(section, 'nbthread');
  if (threads !== undefined) write('workers.processes', Number(threads.words[1]), threads);
}

function readFrontend(section: Section, sections: readonly Section[], sink: Sink): void {
  const write = writer(sink, `frontend ${section.name}`, section.line);
  writeMode(section, write);
  const client = timeout(section, 'client');
  write('downstream.idle-timeout', client.seconds ?? Number.POSITIVE_INFINITY, client.found);
  const request = timeout(section, 'http-request');
  write('downstream.header-timeout', request.seconds, request.found);
  const keepAlive = timeout(section, 'http-keep-alive');
  // Between two requests HAProxy waits as long as for a request, and as long as for any byte when that is unset too.
  write(
    'downstream.keepalive-timeout',
    keepAlive.seconds ?? request.seconds ?? client.seconds ?? Number.POSITIVE_INFINITY,
    keepAlive.found,
  );
  const maxconn = find(section, 'maxconn');
  const globally = sections.find((one) => one.kind === 'global');
  const whole = globally === undefined ? undefined : find(globally, 'maxconn');
  if (maxconn !== undefined) write('downstream.max-connections', Number(maxconn.words[1]), maxconn);
  else if (whole !== undefined) write('downstream.max-connections', Number(whole.words[1]));
  const target = find(section, 'default_backend');
  write('route.target', target?.words[1], target);
  const backlog = find(section, 'backlog');
  if (backlog !== undefined) write('listen.backlog', Number(backlog.words[1]), backlog);
}

function writeMode(section: Section, write: Write): void {
  const mode = find(section, 'mode');
  write('balance.layer', mode?.words[1] === 'http' ? 'http' : 'tcp', mode);
}

function readBackend(section: Section, sink: Sink): void {
  const scope = `backend ${section.name}`;
  const write = writer(sink, scope, section.line);
  writeMode(section, write);
  const balance = find(section, 'balance');
  write('balance.policy', policyWord((balance?.words[1] ?? 'roundrobin').replace(/\(.*/, '')), balance);
  const cookie = section.directives.find((one) => one.words[0] === 'cookie');
  if (cookie !== undefined) write('balance.sticky', 'cookie', cookie);
  const stick = section.directives.find((one) => one.words[0] === 'stick' && one.words[1] === 'on');
  if (stick !== undefined) write('balance.sticky', stick.words[2] === 'src' ? 'client-ip' : 'table', stick);
  const connect = timeout(section, 'connect');
  write('upstream.connect-timeout', connect.seconds ?? Number.POSITIVE_INFINITY, connect.found);
  const server = timeout(section, 'server');
  write('upstream.read-timeout', server.seconds ?? Number.POSITIVE_INFINITY, server.found);
  const queue = timeout(section, 'queue');
  write('queue.timeout', queue.seconds ?? connect.seconds ?? Number.POSITIVE_INFINITY, queue.found);
  const retries = find(section, 'retries');
  write('route.retries', retries === undefined ? 3 : Number(retries.words[1]), retries);
  const retryOn = find(section, 'retry-on');
  write('route.retry-on', retryOn?.words.slice(1).join(',') ?? 'conn-failure', retryOn);
  const redispatch = option(section, 'redispatch');
  write('retry.redispatch', redispatch !== undefined, redispatch);
  const reuse = find(section, 'http-reuse');
  write('upstream.reuse', reuse?.words[1] ?? 'safe', reuse);
  if (find(section, 'mode')?.words[1] === 'http' && reuse?.words[1] !== 'never') writePurge(section, write);
  readServers(section, write, sink);
}

/** Idle connections to servers are closed from this delay on, half of them each time. It is said of servers; 5 s when nobody does. */
function writePurge(section: Section, write: Write): void {
  const found =
    section.directives.find(
      (one) => one.words[0]?.startsWith('server') === true && one.words.includes('pool-purge-delay'),
    ) ?? find(section, 'default-server');
  const at = found?.words.indexOf('pool-purge-delay') ?? -1;
  const written = at === -1 ? undefined : parseSeconds(found?.words[at + 1], 0.001);
  write('upstream.idle-timeout', written ?? 5, written === undefined ? undefined : found);
}

interface Server {
  readonly name: string;
  readonly address: string;
  readonly count: number;
  readonly words: readonly string[];
  readonly found: Directive;
}

function readServers(section: Section, write: Write, sink: Sink): void {
  const servers = section.directives.flatMap(serverOf);
  const first = servers[0];
  if (first === undefined) return;
  write(
    'upstream.endpoints',
    servers.reduce((sum, one) => sum + one.count, 0),
    first.found,
  );
  write('upstream.endpoint-list', servers.flatMap(namesOf).join(), first.found);
  const named = servers.some((one) => one.words.includes('resolvers') || !/^[\d.:[\]a-f]+$/i.test(one.address));
  write('upstream.address-kind', named ? 'dns' : 'static', first.found);
  const down = servers.find((one) => one.words.includes('disabled'));
  if (down !== undefined)
    write('upstream.down-servers', servers.filter((one) => one.words.includes('disabled')).length, down.found);
  const backup = servers.find((one) => one.words.includes('backup'));
  if (backup !== undefined)
    write('upstream.backup-servers', servers.filter((one) => one.words.includes('backup')).length, backup.found);
  const defaults = find(section, 'default-server');
  for (const server of servers) hint(section, server, sink);
  // One statement for the backend where all servers agree, else one for each server.
  const checks = servers.map((server) => checkOf(section, server, defaults));
  const same = checks.every((check) => JSON.stringify(check.values) === JSON.stringify(checks[0]?.values));
  for (const [index, check] of checks.slice(0, same ? 1 : checks.length).entries()) {
    const server = servers[index];
    const own =
      same || server === undefined ? write : writer(sink, `server ${section.name}/${server.name}`, section.line);
    for (const [key, value, written] of check.values) own(key, value, written ? check.found : undefined);
  }
}

function serverOf(directive: Directive): Server[] {
  const [keyword, name = '', second = '', third = ''] = directive.words;
  if (keyword === 'server') {
    return [{ name, address: second, count: 1, words: directive.words.slice(3), found: directive }];
  }
  if (keyword !== 'server-template') return [];
  const count = Number(/(\d+)$/.exec(second)?.[1] ?? 1);
  return [{ name, address: third, count, words: directive.words.slice(4), found: directive }];
}

/** `web` of a template for three stands for `web1`, `web2` and `web3`. */
function namesOf(server: Server): string[] {
  if (server.found.words[0] === 'server') return [server.name];
  return Array.from({ length: Math.min(server.count, 1000) }, (_, index) => `${server.name}${index + 1}`);
}

function hint(section: Section, server: Server, sink: Sink): void {
  if (/^[\d.]+:\d+$/.test(server.address))
    sink.hints.servers.set(server.address, { service: section.name, label: server.name });
}

interface Check {
  readonly found: Directive;
  /** Key, value, and whether it was written. */
  readonly values: readonly (readonly [SettingKey, number | string, boolean])[];
}

function checkOf(section: Section, server: Server, defaults: Directive | undefined): Check {
  const after = (word: string): string | undefined => {
    const own = server.words.indexOf(word);
    if (own !== -1) return server.words[own + 1];
    const inherited = defaults?.words.indexOf(word) ?? -1;
    return inherited === -1 ? undefined : defaults?.words[inherited + 1];
  };
  const values: [SettingKey, number | string, boolean][] = [];
  const maxconn = after('maxconn');
  if (maxconn !== undefined) values.push(['upstream.endpoint-max-requests', Number(maxconn), true]);
  const slowStart = parseSeconds(after('slowstart'), 0.001);
  if (slowStart !== undefined) values.push(['balance.slow-start', slowStart, true]);
  if (!server.words.includes('check') && defaults?.words.includes('check') !== true) {
    values.push(['health.kind', 'none', false]);
    return { found: server.found, values };
  }
  const http = option(section, 'httpchk');
  values.push(['health.kind', http === undefined ? 'tcp' : 'http', true]);
  const path = http?.words.slice(2).find((word) => word.startsWith('/'));
  if (path !== undefined) values.push(['health.path', path, true]);
  const inter = parseSeconds(after('inter'), 0.001);
  values.push(['health.interval', inter ?? 2, inter !== undefined]);
  values.push(['health.fall', Number(after('fall') ?? 3), after('fall') !== undefined]);
  values.push(['health.rise', Number(after('rise') ?? 2), after('rise') !== undefined]);
  const check = timeout(section, 'check').seconds;
  // Without `timeout check` a probe may take as long as the pause between two.
  values.push(['health.timeout', check ?? inter ?? 2, check !== undefined]);
  return { found: server.found, values };
}

function readResolvers(section: Section, sink: Sink): void {
  const write = writer(sink, `resolvers ${section.name}`, section.line);
  const hold = (name: string, otherwise: number, key: SettingKey): void => {
    const found = find(section, 'hold', name);
    write(key, duration(found, 2) ?? otherwise, found);
  };
  hold('valid', 10, 'dns.hold');
  hold('timeout', 30, 'dns.hold-errors');
  const retry = find(section, 'timeout', 'retry');
  write('dns.timeout', duration(retry, 2) ?? 1, retry);
  const resolve = find(section, 'timeout', 'resolve');
  write('dns.interval', duration(resolve, 2) ?? 1, resolve);
  const tries = find(section, 'resolve_retries');
  write('dns.attempts', tries === undefined ? 3 : Number(tries.words[1]), tries);
}
