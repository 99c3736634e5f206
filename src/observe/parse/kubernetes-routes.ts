// Routes of ingress controllers and meshes: Ingress with its annotations, Contour's HTTPProxy, the Gateway API's HTTPRoute,
// Istio's VirtualService and DestinationRule. Only what bears on time, retries and balance.

import { policyWord } from './policy-words.ts';
import type { Sink } from './sink.ts';
import { type Write, writeDuration, writeNumber, writer, writeText } from './tree-settings.ts';
import { itemsAt, type MapTree, textAt, type Tree, under } from './tree.ts';

const durations = {
  'proxy-read-timeout': 'upstream.read-timeout',
  'proxy-send-timeout': 'upstream.write-timeout',
  'proxy-connect-timeout': 'upstream.connect-timeout',
  'proxy-next-upstream-timeout': 'retry.window',
} as const;

/** ingress-nginx is configured by annotations; its controller has defaults of its own. */
export function readIngress(object: Tree, sink: Sink): void {
  const write = writer(sink, 'ingress-nginx', `ingress ${textAt(object, 'metadata', 'name') ?? ''}`, object);
  const annotations = under(object, 'metadata', 'annotations');
  const named = new Map(
    (annotations?.kind === 'map' ? [...annotations.entries] : []).map(([name, found]) => [
      name.replace(/^.*\//, ''),
      found,
    ]),
  );
  for (const [name, key] of Object.entries(durations)) {
    const found = named.get(name);
    if (found !== undefined) writeDuration(write, key, found);
  }
  writeText(write, 'route.retry-on', named.get('proxy-next-upstream'));
  const tries = named.get('proxy-next-upstream-tries');
  if (tries?.kind === 'scalar') write('route.retries', Math.max(0, Number(tries.value) - 1), tries);
  const policy = named.get('load-balance');
  if (policy?.kind === 'scalar') write('balance.policy', policyWord(String(policy.value)), policy);
  const affinity = named.get('affinity');
  if (affinity !== undefined) writeText(write, 'balance.sticky', affinity);
  const limit = named.get('limit-rps');
  if (limit !== undefined) writeNumber(write, 'limit.rate', limit);
  for (const rule of itemsAt(object, 'spec', 'rules')) {
    for (const path of itemsAt(rule, 'http', 'paths')) {
      writeText(
        write,
        'route.target',
        under(path, 'backend', 'service', 'name') ?? under(path, 'backend', 'serviceName'),
      );
    }
  }
}

/** Contour's own defaults: no response timeout but Envoy's 15 s, no retries, round robin. */
export function readHttpProxy(object: Tree, sink: Sink): void {
  const name = textAt(object, 'metadata', 'name') ?? '';
  for (const route of itemsAt(object, 'spec', 'routes')) {
    const paths = itemsAt(route, 'conditions').map(
      (one) => textAt(one, 'prefix') ?? textAt(one, 'exact') ?? textAt(one, 'regex') ?? '',
    );
    const write = writer(sink, 'contour', `httpproxy ${name} route ${paths.join('') || '/'}`, route);
    writeDuration(write, 'route.timeout', infinite(under(route, 'timeoutPolicy', 'response')), 15);
    const idle = under(route, 'timeoutPolicy', 'idle');
    if (idle !== undefined) writeDuration(write, 'route.idle-timeout', infinite(idle));
    const pooled = under(route, 'timeoutPolicy', 'idleConnection');
    if (pooled !== undefined) writeDuration(write, 'upstream.idle-timeout', infinite(pooled));
    const retry = under(route, 'retryPolicy');
    writeNumber(write, 'route.retries', under(retry, 'count'), retry === undefined ? 0 : 1);
    if (under(retry, 'perTryTimeout') !== undefined) {
      writeDuration(write, 'route.per-try-timeout', under(retry, 'perTryTimeout'));
    }
    const on = itemsAt(retry, 'retryOn').map((one) => (one.kind === 'scalar' ? String(one.value) : ''));
    if (on.length > 0) write('route.retry-on', on.join(), under(retry, 'retryOn'));
    const strategy = under(route, 'loadBalancerPolicy', 'strategy');
    write('balance.policy', policyWord(strategy?.kind === 'scalar' ? String(strategy.value) : 'RoundRobin'), strategy);
    readContourHealth(under(route, 'healthCheckPolicy'), write);
    for (const service of itemsAt(route, 'services')) writeText(write, 'route.target', under(service, 'name'));
  }
}

function readContourHealth(policy: Tree | undefined, write: Write): void {
  if (policy === undefined) return;
  writeText(write, 'health.path', under(policy, 'path'));
  writeDuration(write, 'health.interval', under(policy, 'intervalSeconds'), 5);
  writeDuration(write, 'health.timeout', under(policy, 'timeoutSeconds'), 2);
  writeNumber(write, 'health.fall', under(policy, 'unhealthyThresholdCount'), 3);
  writeNumber(write, 'health.rise', under(policy, 'healthyThresholdCount'), 2);
}

/** `infinity` is Contour's word for no timeout. */
function infinite(tree: Tree | undefined): Tree | undefined {
  if (tree?.kind !== 'scalar' || !/^infinit[ey]$/.test(String(tree.value))) return tree;
  const endless: MapTree = {
    kind: 'map',
    entries: new Map([['seconds', { kind: 'scalar', value: '1e9', line: tree.line }]]),
    line: tree.line,
  };
  return endless;
}

export function readHttpRoute(object: Tree, sink: Sink): void {
  const name = textAt(object, 'metadata', 'name') ?? '';
  for (const [index, rule] of itemsAt(object, 'spec', 'rules').entries()) {
    const path = textAt(itemsAt(rule, 'matches')[0], 'path', 'value') ?? (index === 0 ? '/' : String(index));
    const write = writer(sink, 'gateway-api', `httproute ${name} rule ${path}`, rule);
    for (const [key, found] of [
      ['route.timeout', under(rule, 'timeouts', 'request')],
      ['route.per-try-timeout', under(rule, 'timeouts', 'backendRequest')],
      ['retry.backoff', under(rule, 'retry', 'backoff')],
    ] as const) {
      if (found !== undefined) writeDuration(write, key, found);
    }
    if (under(rule, 'retry', 'attempts') !== undefined)
      writeNumber(write, 'route.retries', under(rule, 'retry', 'attempts'));
    for (const backend of itemsAt(rule, 'backendRefs')) writeText(write, 'route.target', under(backend, 'name'));
  }
}

/** Istio retries twice unless told otherwise, on conditions that are mostly safe, and has no route timeout. */
export function readVirtualService(object: Tree, sink: Sink): void {
  const name = textAt(object, 'metadata', 'name') ?? '';
  for (const [index, route] of itemsAt(object, 'spec', 'http').entries()) {
    const match = under(itemsAt(route, 'match')[0], 'uri');
    const path = textAt(match, 'prefix') ?? textAt(match, 'exact') ?? (index === 0 ? '/' : String(index));
    const write = writer(sink, 'istio', `virtualservice ${name} route ${path}`, route);
    writeDuration(write, 'route.timeout', under(route, 'timeout'), Number.POSITIVE_INFINITY);
    writeNumber(write, 'route.retries', under(route, 'retries', 'attempts'), 2);
    if (under(route, 'retries', 'perTryTimeout') !== undefined) {
      writeDuration(write, 'route.per-try-timeout', under(route, 'retries', 'perTryTimeout'));
    }
    writeText(write, 'route.retry-on', under(route, 'retries', 'retryOn'));
    for (const target of itemsAt(route, 'route'))
      writeText(write, 'route.target', under(target, 'destination', 'host'));
  }
}

export function readDestinationRule(object: Tree, sink: Sink): void {
  const write = writer(sink, 'istio', `destinationrule ${textAt(object, 'metadata', 'name') ?? ''}`, object);
  const policy = under(object, 'spec', 'trafficPolicy');
  const simple = under(policy, 'loadBalancer', 'simple');
  write('balance.policy', policyWord(simple?.kind === 'scalar' ? String(simple.value) : 'LEAST_REQUEST'), simple);
  const pool = under(policy, 'connectionPool');
  for (const [key, ...path] of [
    ['breaker.max-connections', 'tcp', 'maxConnections'],
    ['breaker.max-pending', 'http', 'http1MaxPendingRequests'],
    ['breaker.max-requests', 'http', 'http2MaxRequests'],
    ['breaker.max-retries', 'http', 'maxRetries'],
    ['upstream.keepalive-requests', 'http', 'maxRequestsPerConnection'],
  ] as const) {
    if (under(pool, ...path) !== undefined) writeNumber(write, key, under(pool, ...path));
  }
  if (under(pool, 'tcp', 'connectTimeout') !== undefined) {
    writeDuration(write, 'upstream.connect-timeout', under(pool, 'tcp', 'connectTimeout'));
  }
  if (under(pool, 'http', 'idleTimeout') !== undefined) {
    writeDuration(write, 'upstream.idle-timeout', under(pool, 'http', 'idleTimeout'));
  }
  const outliers = under(policy, 'outlierDetection');
  write('outlier.enabled', outliers !== undefined, outliers);
  if (outliers === undefined) return;
  writeNumber(write, 'outlier.consecutive-5xx', under(outliers, 'consecutive5xxErrors'), 5);
  writeNumber(write, 'outlier.max-ejection-share', under(outliers, 'maxEjectionPercent'), 10, 0.01);
  writeDuration(write, 'outlier.interval', under(outliers, 'interval'), 10);
  writeDuration(write, 'outlier.ejection-time', under(outliers, 'baseEjectionTime'), 30);
  // Istio's name for the panic threshold; 0, its default, turns it off.
  writeNumber(write, 'balance.panic-threshold', under(outliers, 'minHealthPercent'), 0, 0.01);
}
