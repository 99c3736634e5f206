// Envoy's `/clusters` page, as text (`cluster::address::key::value`) or JSON: what every host has had and how it stands.
//
// Numbers become `envoy_endpoint_<key>` with the cluster, the endpoint and, where it is known, the zone. `health_flags` is
// `healthy` or says why not; `envoy_endpoint_healthy` is 1 or 0 and keeps the words as a label.

import { shareOfLines, type WholeFormat } from './format.ts';
import type { Sink } from './sink.ts';
import { under, itemsAt, parseJson, textAt, type Tree, treeOf, valueAt } from './tree.ts';

const program = 'envoy';
const counters = new Set(['cx_connect_fail', 'cx_total', 'rq_error', 'rq_success', 'rq_timeout', 'rq_total']);
const numbers = new Set([...counters, 'cx_active', 'rq_active', 'weight', 'priority']);
const breakers = {
  max_connections: 'breaker.max-connections',
  max_pending_requests: 'breaker.max-pending',
  max_requests: 'breaker.max-requests',
  max_retries: 'breaker.max-retries',
} as const;

export const envoyClusters: WholeFormat = {
  kind: 'whole',
  name: 'Envoy clusters',
  recognise(head) {
    if (/^\s*\{\s*"cluster_statuses"\s*:/.test(head)) return 1;
    return (
      shareOfLines(head, (text) => /^.+::(?:.+::)?\w+::[^:]*$/.test(text)) *
      (/::(?:cx_active|rq_total|health_flags|max_connections)::/.test(head) ? 1 : 0.3)
    );
  },
  read(text, sink) {
    const hosts = text.trimStart().startsWith('{') ? readJson(text, sink) : readText(text, sink);
    for (const host of hosts) writeHost(host, sink);
    writeLists(hosts, sink);
  },
};

export interface EnvoyHost {
  readonly cluster: string;
  readonly address: string;
  /** As the configuration calls it; empty where it has no name. */
  readonly hostname: string;
  readonly healthy: boolean;
}

/** The hosts of the page as text. Lines that belong to none are left out. */
export function parseEnvoyClusters(text: string): readonly EnvoyHost[] {
  return readText(text, ignored).map(({ cluster, address, facts }) => ({
    cluster,
    address,
    hostname: facts.get('hostname')?.text ?? '',
    healthy: isHealthy(facts.get('health_flags')?.text ?? ''),
  }));
}

/** The lines' sink where only the hosts matter. */
type LineSink = Pick<Sink, 'foreign' | 'understood' | 'setting'>;
const ignored: LineSink = { foreign() {}, understood() {}, setting() {} };

const isHealthy = (flags: string): boolean => flags === 'healthy' || flags === '';

interface Host {
  readonly cluster: string;
  readonly address: string;
  readonly facts: Map<string, { readonly text: string; readonly line: number | undefined }>;
}

function readText(text: string, sink: LineSink): Host[] {
  const hosts = new Map<string, Host>();
  for (const [index, raw] of text.split('\n').entries()) {
    if (raw.trim() === '') continue;
    const number = index + 1;
    const parts = raw.trimEnd().split('::');
    const [cluster = '', second = '', key = ''] = parts;
    const value = parts.slice(3).join('::');
    if (parts.length < 3) {
      sink.foreign(number, raw);
      continue;
    }
    sink.understood();
    if (parts.length === 3) continue;
    if (second === 'default_priority' || second === 'high_priority') {
      writeBreaker(cluster, second, key, Number(value), number, sink);
    } else if (second !== 'outlier') {
      const name = `${cluster} ${second}`;
      const host = hosts.get(name) ?? { cluster, address: second, facts: new Map() };
      host.facts.set(key, { text: value, line: number });
      hosts.set(name, host);
    }
  }
  return [...hosts.values()];
}

function writeBreaker(
  cluster: string,
  priority: string,
  name: string,
  value: number,
  number: number | undefined,
  sink: LineSink,
): void {
  const key = breakerKey(name);
  if (key === undefined || Number.isNaN(value)) return;
  const scope = priority === 'high_priority' ? `cluster ${cluster} (high priority)` : `cluster ${cluster}`;
  sink.setting({ program, scope, key, value, line: number });
}

function breakerKey(name: string): (typeof breakers)[keyof typeof breakers] | undefined {
  return Object.entries(breakers).find(([written]) => written === name)?.[1];
}

function writeHost(host: Host, sink: Sink): void {
  const zone = host.facts.get('zone')?.text ?? '';
  const labels = { envoy_cluster_name: host.cluster, endpoint: host.address, ...(zone === '' ? {} : { zone }) };
  for (const [key, { text, line: number }] of host.facts) {
    if (numbers.has(key)) {
      const type = counters.has(key) ? 'counter' : 'gauge';
      sink.sample(`envoy_endpoint_${key}`, labels, Number(text), { type, line: number });
    }
    if (key === 'health_flags') {
      sink.sample('envoy_endpoint_healthy', { ...labels, health_flags: text }, isHealthy(text) ? 1 : 0, {
        type: 'gauge',
        line: number,
      });
    }
  }
}

function writeLists(hosts: readonly Host[], sink: Sink): void {
  for (const cluster of new Set(hosts.map((host) => host.cluster))) {
    const own = hosts.filter((host) => host.cluster === cluster);
    const number = [...(own[0]?.facts.values() ?? [])][0]?.line;
    const scope = `cluster ${cluster}`;
    sink.setting({ program, scope, key: 'upstream.endpoints', value: own.length, line: number });
    const list = own.map((host) => host.address).join();
    sink.setting({ program, scope, key: 'upstream.endpoint-list', value: list, line: number });
  }
}

function readJson(text: string, sink: Sink): Host[] {
  return itemsAt(treeOf(parseJson(text)), 'cluster_statuses').flatMap((status) => {
    const cluster = textAt(status, 'name') ?? '';
    sink.understood();
    for (const threshold of itemsAt(status, 'circuit_breakers', 'thresholds')) {
      const priority = textAt(threshold, 'priority') === 'HIGH' ? 'high_priority' : 'default_priority';
      for (const name of Object.keys(breakers)) {
        const value = valueAt(threshold, name);
        if (typeof value === 'number') writeBreaker(cluster, priority, name, value, undefined, sink);
      }
    }
    return itemsAt(status, 'host_statuses').map((host) => hostOf(cluster, host));
  });
}

/** JSON leaves out what is zero: a host without `cx_total` has had none. */
function hostOf(cluster: string, host: Tree): Host {
  const socket = under(host, 'address', 'socket_address');
  const address = `${textAt(socket, 'address') ?? '?'}:${textAt(socket, 'port_value') ?? '?'}`;
  const facts = new Map<string, { text: string; line: undefined }>();
  for (const key of counters) facts.set(key, { text: '0', line: undefined });
  for (const stat of itemsAt(host, 'stats')) {
    facts.set(textAt(stat, 'name') ?? '', { text: textAt(stat, 'value') ?? '0', line: undefined });
  }
  for (const key of ['weight', 'priority'] as const) {
    const text = textAt(host, key);
    if (text !== undefined) facts.set(key, { text, line: undefined });
  }
  const zone = textAt(host, 'locality', 'zone');
  if (zone !== undefined) facts.set('zone', { text: zone, line: undefined });
  facts.set('health_flags', { text: healthWords(under(host, 'health_status')), line: undefined });
  return { cluster, address, facts };
}

function healthWords(status: Tree | undefined): string {
  if (status?.kind !== 'map') return 'healthy';
  const failed = [...status.entries].filter(([, value]) => value.kind === 'scalar' && value.value === true);
  const eds = textAt(status, 'eds_health_status');
  const words = failed.map(([key]) => `/${key}`);
  if (eds !== undefined && eds !== 'HEALTHY' && eds !== 'UNKNOWN') words.push(`/eds_${eds.toLowerCase()}`);
  return words.length === 0 ? 'healthy' : words.join('');
}
