// What stands between a name and its pods: services, endpoints, autoscalers.
//
// A service with a cluster address places connections, not requests, and by chance: who keeps his connections keeps his pod.
// A headless one (`clusterIP: None`) gives all addresses and leaves the choice to the client.

import { parseShare } from './quantities.ts';
import type { Sink } from './sink.ts';
import { writeDuration, writeNumber, writer, writeText } from './tree-settings.ts';
import { itemsAt, textAt, type Tree, under, valueAt } from './tree.ts';

const program = 'kubernetes';

export function readService(object: Tree, sink: Sink): void {
  const scope = `service ${textAt(object, 'metadata', 'name') ?? ''}`;
  const write = writer(sink, program, scope, object);
  const spec = under(object, 'spec');
  const type = textAt(spec, 'type') ?? 'ClusterIP';
  const address = under(spec, 'clusterIP');
  const headless = textAt(spec, 'clusterIP') === 'None';
  if (type === 'ExternalName') write('upstream.address-kind', 'dns', under(spec, 'type'));
  else write('upstream.address-kind', headless ? 'headless' : 'cluster-ip', address ?? under(spec, 'type'));
  if (!headless && type !== 'ExternalName') {
    write('balance.layer', 'tcp');
    write('balance.policy', 'random');
  }
  const affinity = textAt(spec, 'sessionAffinity');
  if (affinity !== undefined) {
    write('balance.sticky', affinity === 'ClientIP' ? 'client-ip' : 'none', under(spec, 'sessionAffinity'));
  }
  const near = under(spec, 'trafficDistribution');
  if (near !== undefined) write('balance.zone-aware', true, near);
  if (textAt(spec, 'publishNotReadyAddresses') === 'true')
    sink.remark(`${scope} publishes addresses that are not ready`);
  readBalancerAnnotations(object, scope, sink);
}

/** A cloud's balancer in front of the service is configured by annotations. */
function readBalancerAnnotations(object: Tree, scope: string, sink: Sink): void {
  const annotations = under(object, 'metadata', 'annotations');
  if (annotations?.kind !== 'map') return;
  const write = writer(sink, 'aws', scope, annotations);
  for (const [name, found] of annotations.entries) {
    const bare = name.replace(/^.*\//, '');
    if (bare === 'aws-load-balancer-connection-idle-timeout') {
      writeDuration(write, 'downstream.idle-timeout', found);
      writeDuration(write, 'upstream.idle-timeout', found);
    }
    if (bare === 'aws-load-balancer-cross-zone-load-balancing-enabled') {
      write('balance.cross-zone', found.kind === 'scalar' && String(found.value) === 'true', found);
    }
    if (bare === 'aws-load-balancer-backend-protocol') {
      const protocol = found.kind === 'scalar' ? String(found.value) : '';
      write('balance.layer', protocol.startsWith('http') ? 'http' : 'tcp', found);
    }
    if (bare === 'aws-load-balancer-connection-draining-timeout') {
      writeDuration(write, 'balancer.deregistration-delay', found);
    }
    if (bare === 'aws-load-balancer-healthcheck-interval') writeDuration(write, 'health.interval', found);
    if (bare === 'aws-load-balancer-healthcheck-timeout') writeDuration(write, 'health.timeout', found);
    if (bare === 'aws-load-balancer-healthcheck-unhealthy-threshold') writeNumber(write, 'health.fall', found);
    if (bare === 'aws-load-balancer-healthcheck-healthy-threshold') writeNumber(write, 'health.rise', found);
  }
}

export function readEndpoints(object: Tree, sink: Sink): void {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const subsets = itemsAt(object, 'subsets');
  const addresses = (list: string): string[] =>
    subsets.flatMap((subset) =>
      itemsAt(subset, list).map((one) => textAt(one, 'ip') ?? textAt(one, 'hostname') ?? '?'),
    );
  writeEndpoints(object, `service ${name}`, addresses('addresses'), addresses('notReadyAddresses'), sink);
}

export function readEndpointSlice(object: Tree, sink: Sink): void {
  const name =
    textAt(object, 'metadata', 'labels', 'kubernetes.io/service-name') ?? textAt(object, 'metadata', 'name') ?? '';
  const ready: string[] = [];
  const others: string[] = [];
  const zones = new Map<string, number>();
  for (const endpoint of itemsAt(object, 'endpoints')) {
    const list = valueAt(endpoint, 'conditions', 'ready') === false ? others : ready;
    for (const address of itemsAt(endpoint, 'addresses')) {
      if (address.kind === 'scalar') list.push(String(address.value));
    }
    const zone = textAt(endpoint, 'zone');
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
  }
  writeEndpoints(object, `service ${name}`, ready, others, sink);
  if (zones.size > 0) {
    const layout = [...zones].map(([zone, count]) => `${zone}=${count}`).join();
    writer(sink, program, `service ${name}`, object)('replicas.zone-layout', layout, object);
  }
}

function writeEndpoints(
  object: Tree,
  scope: string,
  ready: readonly string[],
  others: readonly string[],
  sink: Sink,
): void {
  const write = writer(sink, program, scope, object);
  write('upstream.endpoints', ready.length, object);
  if (ready.length > 0) write('upstream.endpoint-list', ready.join(), object);
  for (const address of [...ready, ...others]) sink.hints.addresses.add(address);
  for (const endpoint of ready)
    sink.sample('endpoint_healthy', { scope, endpoint }, 1, { type: 'gauge', line: object.line });
  for (const endpoint of others)
    sink.sample('endpoint_healthy', { scope, endpoint }, 0, { type: 'gauge', line: object.line });
}

/** What it watches, where it aims, how far it may go, and where it stands now. */
export function readAutoscaler(object: Tree, sink: Sink): void {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const write = writer(sink, program, `autoscaler ${name}`, object);
  const spec = under(object, 'spec');
  writeNumber(write, 'scale.min', under(spec, 'minReplicas'), 1);
  writeNumber(write, 'scale.max', under(spec, 'maxReplicas'));
  const simple = under(spec, 'targetCPUUtilizationPercentage');
  if (simple !== undefined) {
    write('scale.metric', 'cpu', simple);
    writeNumber(write, 'scale.target', simple, undefined, 0.01);
  }
  for (const metric of itemsAt(spec, 'metrics')) {
    const source = sourceOf(metric);
    writeText(write, 'scale.metric', under(source, 'name') ?? under(source, 'metric', 'name'));
    const target = under(source, 'target');
    const share = under(target, 'averageUtilization');
    if (share !== undefined) writeNumber(write, 'scale.target', share, undefined, 0.01);
    const value = under(target, 'averageValue') ?? under(target, 'value');
    if (value?.kind === 'scalar') write('scale.target', parseShare(value.value), value);
  }
  readAutoscalerStatus(under(object, 'status'), name, sink);
}

function sourceOf(metric: Tree): Tree | undefined {
  return (
    under(metric, 'resource') ??
    under(metric, 'containerResource') ??
    under(metric, 'pods') ??
    under(metric, 'object') ??
    under(metric, 'external')
  );
}

function readAutoscalerStatus(status: Tree | undefined, autoscaler: string, sink: Sink): void {
  const sample = (what: string, value: unknown, line: number | undefined, more: Record<string, string> = {}): void => {
    if (typeof value === 'number')
      sink.sample(`autoscaler_${what}`, { autoscaler, ...more }, value, { type: 'gauge', line });
  };
  sample('current_replicas', valueAt(status, 'currentReplicas'), status?.line);
  sample('desired_replicas', valueAt(status, 'desiredReplicas'), status?.line);
  for (const metric of itemsAt(status, 'currentMetrics')) {
    const source = sourceOf(metric);
    const name = textAt(source, 'name') ?? textAt(source, 'metric', 'name') ?? '';
    const share = valueAt(source, 'current', 'averageUtilization');
    sample('current_utilization', typeof share === 'number' ? share / 100 : undefined, metric.line, { metric: name });
  }
}
