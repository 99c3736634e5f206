// Envoy's configuration as settings: a bootstrap, a fragment of one, or a `/config_dump`, in YAML or JSON. It is not read along
// its schema but searched for what has the shape of a cluster, a route, a connection manager: these look the same wherever
// they are wrapped.
//
// What binds without being written matters most here: a route without `timeout` ends after 15 s, a cluster without breakers
// takes 1,024 requests, and below half of its hosts healthy it ignores health. All of it is written out as implied.

import type { WholeFormat } from './format.ts';
import { policyWord } from './policy-words.ts';
import type { Sink } from './sink.ts';
import { writeDuration, writeNumber, writer, writeText, type Write, writtenOnly } from './tree-settings.ts';
import { under, itemsAt, type MapTree, mapsIn, parseTrees, textAt, type Tree } from './tree.ts';

const program = 'envoy';

/** Words of Envoy's configuration, as keys of YAML or JSON. */
const signs = [
  'static_resources',
  'dynamic_resources',
  'load_assignment',
  'lb_policy',
  'circuit_breakers',
  'outlier_detection',
  'connect_timeout',
  'filter_chains',
  'virtual_hosts',
  'route_config',
  'http_filters',
  'typed_config',
  'dynamic_active_clusters',
  'static_clusters',
  'dynamic_route_configs',
  'lb_endpoints',
  'common_lb_config',
  'typed_extension_protocol_options',
];

export const envoyConfiguration: WholeFormat = {
  kind: 'whole',
  name: 'Envoy configuration',
  early: true,
  recognise(head) {
    if (/type\.googleapis\.com\/envoy\./.test(head)) return 0.99;
    const found = signs.filter((sign) => new RegExp(`(?:^|[\\s{,"'-])${sign}["']?\\s*:`).test(head)).length;
    if (found === 0 || /^\s*apiVersion:/m.test(head)) return 0;
    return found === 1 ? 0.6 : 0.95;
  },
  read(text, sink) {
    const trees = parseTrees(text);
    const lines = text.split('\n').filter((line) => line.trim() !== '').length;
    if (trees === undefined) {
      sink.foreign(1, text.slice(0, 160));
      return;
    }
    sink.understood(lines);
    for (const tree of trees) readTree(tree, sink);
  },
};

function readTree(tree: Tree, sink: Sink): void {
  let found = 0;
  for (const map of mapsIn(tree)) {
    if (isCluster(map)) readCluster(map, sink);
    else if (isRoute(map)) readRoute(map, virtualHostOf(tree, map), sink);
    else if (isConnectionManager(map)) readConnectionManager(map, sink);
    else continue;
    found += 1;
  }
  if (found === 0) sink.remark('no cluster, route or connection manager was found in it');
}

function isCluster(map: MapTree): boolean {
  const has = (key: string): boolean => map.entries.has(key);
  if (has('cluster') || has('match') || has('cluster_name')) return false;
  return (
    has('lb_policy') ||
    has('load_assignment') ||
    (has('name') && (has('connect_timeout') || has('circuit_breakers') || has('outlier_detection')))
  );
}

function isRoute(map: MapTree): boolean {
  return map.entries.has('match') && under(map, 'route')?.kind === 'map';
}

function isConnectionManager(map: MapTree): boolean {
  return (
    map.entries.has('stat_prefix') &&
    (map.entries.has('route_config') || map.entries.has('rds') || map.entries.has('http_filters'))
  );
}

const kinds: Readonly<Record<string, string>> = {
  static: 'static',
  strict_dns: 'dns',
  logical_dns: 'logical-dns',
  eds: 'pods',
  original_dst: 'original-destination',
};

function readCluster(cluster: MapTree, sink: Sink): void {
  const name = textAt(cluster, 'name') ?? textAt(cluster, 'load_assignment', 'cluster_name') ?? 'unnamed';
  const scope = `cluster ${name}`;
  // A fragment without a name is somebody's excerpt: what it does not say may well be said elsewhere.
  const whole = cluster.entries.has('name') || under(cluster, 'load_assignment', 'cluster_name') !== undefined;
  const write = whole ? writer(sink, program, scope, cluster) : writtenOnly(writer(sink, program, scope, cluster));
  const policy = textAt(cluster, 'lb_policy');
  const typed = itemsAt(cluster, 'load_balancing_policy', 'policies')[0];
  const typedName = /(?:\.|^)([a-z_]+)$/.exec(textAt(typed, 'typed_extension_config', 'name') ?? '')?.[1];
  write(
    'balance.policy',
    policyWord(typedName ?? policy ?? 'round_robin'),
    typedName === undefined ? under(cluster, 'lb_policy') : typed,
  );
  const type = textAt(cluster, 'type')?.toLowerCase();
  write('upstream.address-kind', kinds[type ?? 'static'] ?? type, under(cluster, 'type'));
  writeDuration(write, 'upstream.connect-timeout', under(cluster, 'connect_timeout'), 5);
  readProtocol(cluster, write);
  if (whole || under(cluster, 'circuit_breakers') !== undefined) readBreakers(cluster, scope, sink);
  readOutliers(cluster, write);
  readBalance(cluster, write);
  readHealth(cluster, write);
  if (type === 'strict_dns' || type === 'logical_dns')
    writeDuration(write, 'dns.interval', under(cluster, 'dns_refresh_rate'), 5);
  readEndpoints(cluster, write, name, sink);
}

/** HTTP options stand in an extension with a long name, in older configurations in the cluster itself. */
function readProtocol(cluster: MapTree, write: Write): void {
  const extensions = under(cluster, 'typed_extension_protocol_options');
  const options = extensions?.kind === 'map' ? [...extensions.entries.values()][0] : undefined;
  const common = under(options, 'common_http_protocol_options') ?? under(cluster, 'common_http_protocol_options');
  writeDuration(write, 'upstream.idle-timeout', under(common, 'idle_timeout'), 3600);
  const lifetime = under(common, 'max_connection_duration');
  if (lifetime !== undefined) writeDuration(write, 'upstream.connection-lifetime', lifetime);
  const requests = under(common, 'max_requests_per_connection') ?? under(cluster, 'max_requests_per_connection');
  if (requests !== undefined) writeNumber(write, 'upstream.keepalive-requests', requests);
  const http2 =
    under(options, 'explicit_http_config', 'http2_protocol_options') ?? under(cluster, 'http2_protocol_options');
  if (http2 !== undefined) {
    write('upstream.http-version', '2', http2);
    writeNumber(write, 'h2.max-concurrent-streams', under(http2, 'max_concurrent_streams'), 2_147_483_647);
  }
}

const thresholds = [
  ['breaker.max-connections', 'max_connections', 1024],
  ['breaker.max-pending', 'max_pending_requests', 1024],
  ['breaker.max-requests', 'max_requests', 1024],
  ['breaker.max-retries', 'max_retries', 3],
] as const;

/** Thresholds are for a priority: limits for HIGH alone leave the default ones in force for everybody else. */
function readBreakers(cluster: MapTree, scope: string, sink: Sink): void {
  const all = itemsAt(cluster, 'circuit_breakers', 'thresholds');
  const normal = all.find((one) => (textAt(one, 'priority') ?? 'DEFAULT') !== 'HIGH');
  const high = all.find((one) => textAt(one, 'priority') === 'HIGH');
  const write = writer(sink, program, scope, normal ?? cluster);
  for (const [key, name, otherwise] of thresholds) {
    writeNumber(write, key, under(normal, name), otherwise);
    if (high !== undefined)
      writeNumber(writer(sink, program, `${scope} (high priority)`, high), key, under(high, name), otherwise);
  }
  const budget = under(normal, 'retry_budget');
  if (budget !== undefined) writeNumber(write, 'retry.budget', under(budget, 'budget_percent'), 20, 0.01);
  const perHost = itemsAt(cluster, 'circuit_breakers', 'per_host_thresholds')[0];
  if (perHost !== undefined) writeNumber(write, 'upstream.endpoint-max-requests', under(perHost, 'max_connections'));
}

function readOutliers(cluster: MapTree, write: Write): void {
  const outliers = under(cluster, 'outlier_detection');
  if (outliers === undefined || (outliers.kind === 'scalar' && outliers.value === undefined)) {
    write('outlier.enabled', false, outliers);
    return;
  }
  write('outlier.enabled', true, outliers);
  writeNumber(write, 'outlier.consecutive-5xx', under(outliers, 'consecutive_5xx'), 5);
  writeNumber(write, 'outlier.max-ejection-share', under(outliers, 'max_ejection_percent'), 10, 0.01);
  writeDuration(write, 'outlier.interval', under(outliers, 'interval'), 10);
  writeDuration(write, 'outlier.ejection-time', under(outliers, 'base_ejection_time'), 30);
}

function readBalance(cluster: MapTree, write: Write): void {
  const common = under(cluster, 'common_lb_config');
  writeNumber(write, 'balance.panic-threshold', under(common, 'healthy_panic_threshold'), 50, 0.01);
  const zones = under(common, 'zone_aware_lb_config') ?? under(common, 'locality_weighted_lb_config');
  if (zones !== undefined) write('balance.zone-aware', true, zones);
  const slow = ['round_robin_lb_config', 'least_request_lb_config']
    .map((key) => under(cluster, key, 'slow_start_config', 'slow_start_window'))
    .find((window) => window !== undefined);
  if (slow !== undefined) writeDuration(write, 'balance.slow-start', slow);
}

function readHealth(cluster: MapTree, write: Write): void {
  const check = itemsAt(cluster, 'health_checks')[0] ?? under(cluster, 'health_check');
  if (check === undefined) {
    write('health.kind', 'none');
    return;
  }
  const kind = (['http', 'tcp', 'grpc'] as const).find((one) => under(check, `${one}_health_check`) !== undefined);
  write('health.kind', kind ?? 'http', check);
  const path = under(check, 'http_health_check', 'path') ?? under(check, 'path');
  writeText(write, 'health.path', path);
  for (const [key, name] of [
    ['health.interval', 'interval'],
    ['health.timeout', 'timeout'],
  ] as const) {
    if (under(check, name) !== undefined) writeDuration(write, key, under(check, name));
  }
  if (under(check, 'unhealthy_threshold') !== undefined)
    writeNumber(write, 'health.fall', under(check, 'unhealthy_threshold'));
  if (under(check, 'healthy_threshold') !== undefined)
    writeNumber(write, 'health.rise', under(check, 'healthy_threshold'));
}

function readEndpoints(cluster: MapTree, write: Write, name: string, sink: Sink): void {
  const assignment = under(cluster, 'load_assignment');
  if (assignment === undefined) return;
  const zones = itemsAt(assignment, 'endpoints').map((locality) => ({
    zone: textAt(locality, 'locality', 'zone') ?? '',
    addresses: itemsAt(locality, 'lb_endpoints').map((one) => addressOf(under(one, 'endpoint', 'address'))),
  }));
  const addresses = zones.flatMap((zone) => zone.addresses);
  write('upstream.endpoints', addresses.length, assignment);
  write('upstream.endpoint-list', addresses.join(), assignment);
  for (const address of addresses) sink.hints.servers.set(address, { service: name, label: undefined });
  if (zones.some((zone) => zone.zone !== '')) {
    const layout = zones.map((zone) => `${zone.zone}=${zone.addresses.length}`).join();
    write('replicas.zone-layout', layout, assignment);
  }
}

function addressOf(address: Tree | undefined): string {
  const socket = under(address, 'socket_address');
  if (socket === undefined) return textAt(address, 'pipe', 'path') ?? '?';
  return `${textAt(socket, 'address') ?? '?'}:${textAt(socket, 'port_value') ?? '?'}`;
}

/** The virtual host around a route: its retry policy holds where the route has none. */
function virtualHostOf(tree: Tree, route: MapTree): MapTree | undefined {
  for (const map of mapsIn(tree)) if (itemsAt(map, 'routes').includes(route)) return map;
  return undefined;
}

function readRoute(route: MapTree, host: MapTree | undefined, sink: Sink): void {
  const match = under(route, 'match');
  const path = ['prefix', 'path', 'path_separated_prefix']
    .map((key) => textAt(match, key))
    .find((text) => text !== undefined);
  const pattern = textAt(match, 'safe_regex', 'regex');
  const write = writer(sink, program, `route ${path ?? pattern ?? '/'}`, route);
  const action = under(route, 'route');
  const target = under(action, 'cluster');
  writeText(write, 'route.target', target);
  writeDuration(write, 'route.timeout', under(action, 'timeout'), 15);
  if (under(action, 'idle_timeout') !== undefined)
    writeDuration(write, 'route.idle-timeout', under(action, 'idle_timeout'));
  const retry = under(action, 'retry_policy') ?? under(host, 'retry_policy');
  if (retry === undefined) {
    write('route.retries', 0);
    return;
  }
  writeNumber(write, 'route.retries', under(retry, 'num_retries'), 1);
  const on = under(retry, 'retry_on');
  writeText(write, 'route.retry-on', on);
  if (under(retry, 'per_try_timeout') !== undefined) {
    writeDuration(write, 'route.per-try-timeout', under(retry, 'per_try_timeout'));
  }
  writeDuration(write, 'retry.backoff', under(retry, 'retry_back_off', 'base_interval'), 0.025);
  const predicates = under(retry, 'retry_host_predicate');
  write('retry.redispatch', predicates !== undefined, predicates);
}

function readConnectionManager(manager: MapTree, sink: Sink): void {
  const write = writer(sink, program, `http ${textAt(manager, 'stat_prefix') ?? ''}`, manager);
  const common = under(manager, 'common_http_protocol_options');
  writeDuration(write, 'downstream.idle-timeout', under(common, 'idle_timeout'), 3600);
  writeDuration(write, 'route.idle-timeout', under(manager, 'stream_idle_timeout'), 300);
  const header = under(manager, 'request_headers_timeout') ?? under(manager, 'request_timeout');
  if (header !== undefined) writeDuration(write, 'downstream.header-timeout', header);
  const lifetime = under(common, 'max_connection_duration');
  if (lifetime !== undefined) writeDuration(write, 'downstream.connection-lifetime', lifetime);
  const requests = under(common, 'max_requests_per_connection');
  if (requests !== undefined) writeNumber(write, 'downstream.keepalive-requests', requests);
  const streams = under(manager, 'http2_protocol_options', 'max_concurrent_streams');
  if (streams !== undefined) writeNumber(write, 'h2.max-concurrent-streams', streams);
}
