// Deployments and their kin, and pods: how many replicas, how they are replaced, what each may use, how it is probed, and
// how it ends.
//
// Probes run beside traffic, each with its defaults: every 10 s, 1 s to answer, three failures. A preStop hook that only sleeps
// is the usual way to let balancers learn first; the seconds are found in its command, however it was quoted.

import { sleepOfHook } from './kubernetes-hooks.ts';
import { parseCores, parseShare } from './quantities.ts';
import { writeServerCommand } from './servers/server-command.ts';
import { settingOf } from './setting-words.ts';
import type { Sink } from './sink.ts';
import { type Write, writeDuration, writeNumber, writer, writeText } from './tree-settings.ts';
import { itemsAt, type ScalarTree, textAt, type Tree, under, valueAt } from './tree.ts';

const program = 'kubernetes';

/** A Deployment, StatefulSet, DaemonSet, ReplicaSet or Rollout. */
export function readWorkload(object: Tree, sink: Sink): void {
  const kind = textAt(object, 'kind') ?? 'workload';
  const scope = `${kind.toLowerCase()} ${textAt(object, 'metadata', 'name') ?? ''}`;
  const write = writer(sink, program, scope, object);
  const spec = under(object, 'spec');
  if (kind !== 'DaemonSet') writeNumber(write, 'replicas.count', under(spec, 'replicas'), 1);
  const rolling = under(spec, 'strategy', 'rollingUpdate') ?? under(spec, 'updateStrategy', 'rollingUpdate');
  for (const [key, name] of [
    ['rollout.max-surge', 'maxSurge'],
    ['rollout.max-unavailable', 'maxUnavailable'],
  ] as const) {
    const found = under(rolling, name);
    if (kind === 'Deployment' || found !== undefined) {
      write(key, parseShare(found?.kind === 'scalar' ? found.value : undefined) ?? 0.25, found);
    }
  }
  if (under(spec, 'minReadySeconds') !== undefined)
    writeDuration(write, 'rollout.min-ready', under(spec, 'minReadySeconds'));
  readAnnotations(under(spec, 'template', 'metadata', 'annotations'), write);
  readAnnotations(under(object, 'metadata', 'annotations'), write);
  readPodSpec(under(spec, 'template', 'spec'), scope, sink);
}

export function readPod(object: Tree, sink: Sink): void {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const scope = `pod ${name}`;
  readAnnotations(under(object, 'metadata', 'annotations'), writer(sink, program, scope, object));
  readPodSpec(under(object, 'spec'), scope, sink);
  const status = under(object, 'status');
  const address = textAt(status, 'podIP');
  if (address !== undefined) sink.hints.addresses.add(address);
  for (const container of itemsAt(status, 'containerStatuses')) {
    const labels = { pod: name, container: textAt(container, 'name') ?? '' };
    const { line } = container;
    const restarts = valueAt(container, 'restartCount');
    if (typeof restarts === 'number') {
      sink.sample('kube_pod_container_status_restarts_total', labels, restarts, { type: 'counter', line });
    }
    const ready = valueAt(container, 'ready');
    if (typeof ready === 'boolean') {
      sink.sample('kube_pod_container_status_ready', labels, ready ? 1 : 0, { type: 'gauge', line });
    }
  }
}

/** Configuration handed in as pairs; a file inside is not taken apart. */
export function readConfigMap(object: Tree, sink: Sink): void {
  const scope = `configmap ${textAt(object, 'metadata', 'name') ?? ''}`;
  const write = writer(sink, program, scope, object);
  const data = under(object, 'data');
  if (data?.kind !== 'map') return;
  for (const [name, found] of data.entries) {
    if (found.kind !== 'scalar') continue;
    if (typeof found.value === 'string' && found.value.includes('\n')) {
      sink.remark(`${scope} holds the file ${name}: give it as a file of its own`);
    } else writePair(name, found, write);
  }
}

function readPodSpec(spec: Tree | undefined, scope: string, sink: Sink): void {
  if (spec === undefined) return;
  const write = writer(sink, program, scope, spec);
  writeDuration(write, 'rollout.termination-grace', under(spec, 'terminationGracePeriodSeconds'), 30);
  const containers = itemsAt(spec, 'containers');
  for (const container of containers) {
    const name = containers.length > 1 ? `${scope} container ${textAt(container, 'name') ?? ''}` : scope;
    readContainer(container, name, sink);
  }
  const ndots = itemsAt(spec, 'dnsConfig', 'options').find((option) => textAt(option, 'name') === 'ndots');
  if (ndots !== undefined) writeNumber(write, 'dns.search-dots', under(ndots, 'value'));
}

function readContainer(container: Tree, scope: string, sink: Sink): void {
  const write = writer(sink, program, scope, container);
  const limit = under(container, 'resources', 'limits', 'cpu');
  const request = under(container, 'resources', 'requests', 'cpu');
  write('cpu.limit', parseCores(limit?.kind === 'scalar' ? limit.value : undefined), limit);
  write('cpu.request', parseCores(request?.kind === 'scalar' ? request.value : undefined), request);
  if (limit !== undefined) write('cpu.quota-period', 0.1);
  readProbe(under(container, 'readinessProbe'), `${scope} readiness`, sink);
  readProbe(under(container, 'livenessProbe'), `${scope} liveness`, sink);
  const readiness = under(container, 'readinessProbe');
  if (readiness !== undefined) {
    writeDuration(write, 'rollout.readiness-delay', under(readiness, 'initialDelaySeconds'), 0);
    writeText(write, 'rollout.readiness-path', under(readiness, 'httpGet', 'path'));
  }
  const words = [...itemsAt(container, 'command'), ...itemsAt(container, 'args')];
  writeServerCommand(
    sink,
    scope,
    words.flatMap((word) => (word.kind === 'scalar' && word.value !== undefined ? [String(word.value)] : [])),
    words[0]?.line,
  );
  const hook = under(container, 'lifecycle', 'preStop');
  write('rollout.pre-stop-sleep', sleepOfHook(hook), hook);
  for (const variable of itemsAt(container, 'env')) {
    const value = under(variable, 'value');
    if (value?.kind === 'scalar') writePair(textAt(variable, 'name') ?? '', value, write);
  }
}

function readProbe(probe: Tree | undefined, scope: string, sink: Sink): void {
  if (probe === undefined) return;
  const write = writer(sink, program, scope, probe);
  const kind = (['httpGet', 'tcpSocket', 'grpc', 'exec'] as const).find((one) => under(probe, one) !== undefined);
  const words = { httpGet: 'http', tcpSocket: 'tcp', grpc: 'grpc', exec: 'exec' } as const;
  if (kind !== undefined) write('health.kind', words[kind], under(probe, kind));
  writeText(write, 'health.path', under(probe, 'httpGet', 'path'));
  writeDuration(write, 'health.interval', under(probe, 'periodSeconds'), 10);
  writeDuration(write, 'health.timeout', under(probe, 'timeoutSeconds'), 1);
  writeNumber(write, 'health.fall', under(probe, 'failureThreshold'), 3);
  writeNumber(write, 'health.rise', under(probe, 'successThreshold'), 1);
}

function readAnnotations(annotations: Tree | undefined, write: Write): void {
  if (annotations?.kind !== 'map') return;
  for (const [name, found] of annotations.entries) {
    if (found.kind === 'scalar') writePair(name.replace(/^.*\//, ''), found, write);
  }
}

/** A variable or an annotation whose name says what it is. */
function writePair(name: string, found: ScalarTree, write: Write): void {
  const setting = settingOf(name, found.value, 'environment');
  if (setting !== undefined) write(setting.key, setting.value, found);
}
