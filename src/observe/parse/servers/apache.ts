// Apache's httpd.conf: what one server does with connections, and what its proxy modules do with others.
//
//   KeepAliveTimeout 5
//   MaxRequestWorkers 150
//   <Proxy "balancer://shop">
//     BalancerMember http://10.0.0.1:8080 ttl=60
//     ProxySet lbmethod=bybusyness
//   </Proxy>
//
// Defaults: connections are kept for 5 s and 100 requests, 256 workers, a backlog of 511, and 60 s for whatever takes time. A
// proxied connection is kept until the server closes it unless `ttl` says otherwise.

import type { WholeFormat } from '../format.ts';
import { policyWord } from '../policy-words.ts';
import { parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { baseName, type Directive, type ServerRule, writeRules } from './server-rules.ts';

const own =
  /^\s*(?:KeepAlive(?:Timeout)?|MaxKeepAliveRequests|MaxRequestWorkers|MaxClients|ListenBacklog|ProxyPass|ProxyTimeout|BalancerMember|ServerLimit|ThreadsPerChild|LoadModule|<Proxy\b|<VirtualHost\b|<IfModule\b)/im;
const line = /^\s*([A-Za-z]+)\s+(.*?)\s*$/;

export const apache: WholeFormat = {
  kind: 'whole',
  name: 'Apache configuration',
  early: true,
  recognise(head) {
    const words = head.match(new RegExp(own.source, 'gim'))?.length ?? 0;
    return words === 0 || /[{};]\s*$/m.test(head) ? 0 : words > 1 ? 0.9 : 0.6;
  },
  read(text, sink) {
    const found = new Map<string, Directive>();
    let balancer: Balancer | undefined;
    for (const [index, raw] of text.split('\n').entries()) {
      if (raw.trim() === '') continue;
      sink.understood();
      const opened = /^\s*<Proxy\s+"?balancer:\/\/([^">/]+)/i.exec(raw)?.[1];
      if (opened !== undefined) balancer = { name: opened, members: [], line: index + 1, words: new Map() };
      if (/^\s*<\/Proxy>/i.test(raw) && balancer !== undefined) {
        writeBalancer(balancer, sink);
        balancer = undefined;
      }
      const [, name = '', value = ''] = line.exec(raw) ?? [];
      const directive = { text: value, line: index + 1 };
      if (/^BalancerMember$/i.test(name)) balancer?.members.push(directive);
      else if (/^ProxySet$/i.test(name)) for (const [key, word] of pairsIn(value)) balancer?.words.set(key, word);
      else if (/^ProxyPass$/i.test(name)) writePass(directive, sink);
      else found.set(name.toLowerCase(), directive);
    }
    if (/^off$/i.test(found.get('keepalive')?.text ?? ''))
      found.set('keepalivetimeout', { ...found.get('keepalive'), text: '0', line: found.get('keepalive')?.line ?? 1 });
    writeRules(sink, { program: 'apache', scope: baseName(sink.file) }, rules, found);
  },
};

const rules: readonly ServerRule[] = [
  { names: ['keepalivetimeout'], key: 'downstream.keepalive-timeout', kind: 'seconds', otherwise: 5 },
  { names: ['maxkeepaliverequests'], key: 'downstream.keepalive-requests', kind: 'count', otherwise: 100 },
  { names: ['maxclients', 'maxrequestworkers'], key: 'workers.count', kind: 'count', otherwise: 256 },
  { names: ['listenbacklog'], key: 'listen.backlog', kind: 'count', otherwise: 511 },
];

interface Balancer {
  readonly name: string;
  readonly members: Directive[];
  readonly line: number;
  readonly words: Map<string, string>;
}

/** `ttl=60 timeout=30` */
function pairsIn(text: string): (readonly [string, string])[] {
  return [...text.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(
    ([, key = '', value = '']) => [key.toLowerCase(), value.replaceAll('"', '')] as const,
  );
}

function writeBalancer({ name, members, line: at, words }: Balancer, sink: Sink): void {
  const where = { program: 'apache', scope: `balancer ${name}` };
  const addresses = members.map(({ text }) =>
    (text.split(/\s+/)[0] ?? '').replaceAll('"', '').replace(/^\w+:\/\//, ''),
  );
  sink.setting({ ...where, key: 'upstream.endpoints', value: addresses.length, line: at });
  if (addresses.length > 0)
    sink.setting({ ...where, key: 'upstream.endpoint-list', value: addresses.join(), line: at });
  for (const address of addresses) sink.hints.addresses.add(address);
  const method = words.get('lbmethod');
  const policy = { bybusyness: 'least-request', byrequests: 'round-robin', bytraffic: 'weighted', heartbeat: 'load' }[
    method ?? 'byrequests'
  ];
  sink.setting({
    ...where,
    key: 'balance.policy',
    value: policy ?? policyWord(method ?? ''),
    implied: method === undefined,
    line: at,
  });
  if (words.has('stickysession')) sink.setting({ ...where, key: 'balance.sticky', value: 'cookie', line: at });
  for (const member of members.slice(0, 1)) writeTimes(where, member, sink);
}

function writePass(directive: Directive, sink: Sink): void {
  const [path = '/', target = ''] = directive.text.split(/\s+/);
  if (target.startsWith('!')) return;
  const where = { program: 'apache', scope: `route ${path.replaceAll('"', '')}` };
  sink.setting({
    ...where,
    key: 'route.target',
    value: target
      .replaceAll('"', '')
      .replace(/^\w+:\/\//, '')
      .replace(/\/$/, ''),
    line: directive.line,
  });
  writeTimes(where, directive, sink);
}

function writeTimes(
  where: { readonly program: string; readonly scope: string },
  { text, line: at }: Directive,
  sink: Sink,
): void {
  for (const [key, value] of pairsIn(text)) {
    const seconds = parseSeconds(value, 1);
    if (seconds === undefined) continue;
    if (key === 'timeout') sink.setting({ ...where, key: 'upstream.read-timeout', value: seconds, line: at });
    if (key === 'connectiontimeout')
      sink.setting({ ...where, key: 'upstream.connect-timeout', value: seconds, line: at });
    if (key === 'ttl') sink.setting({ ...where, key: 'upstream.idle-timeout', value: seconds, line: at });
    if (key === 'retry') sink.setting({ ...where, key: 'upstream.fail-timeout', value: seconds, line: at });
  }
}
