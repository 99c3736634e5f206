// What the AWS command line says of a load balancer: its attributes, its target groups, and the health of the targets; also a
// file with one such health answer a line, with the time at which it was asked.
//
// An application balancer's idle timeout holds on both sides: towards clients, and for the pooled connections to targets.

import type { SettingKey } from '../../record.ts';
import { firstLines, type WholeFormat } from './format.ts';
import { parseInstant } from './instants.ts';
import { policyWord } from './policy-words.ts';
import type { Sink } from './sink.ts';
import { itemsAt, parseJson, parseTrees, textAt, type Tree, treeOf, under } from './tree.ts';

const program = 'aws';

export const awsObjects: WholeFormat = {
  kind: 'whole',
  name: 'AWS load balancer description',
  early: true,
  recognise(head) {
    const first = firstLines(head, 1)[0] ?? '';
    if (!/^\s*[{[]/.test(first)) return 0;
    if (
      /"(?:TargetHealthDescriptions|TargetGroups|LoadBalancers|HealthCheckIntervalSeconds|UnhealthyThresholdCount)"\s*:/.test(
        head,
      )
    )
      return 0.95;
    return /"Key"\s*:\s*"(?:idle_timeout|load_balancing|deregistration_delay|stickiness|slow_start|routing|access_logs|client_keep_alive|target_group_health)/.test(
      head,
    )
      ? 0.95
      : 0;
  },
  read(text, sink) {
    const trees = isLines(text) ? readSnapshots(text, sink) : parseTrees(text);
    if (trees === undefined) sink.foreign(1, text.slice(0, 160));
    else if (!isLines(text)) {
      sink.understood(text.split('\n').filter((line) => line.trim() !== '').length);
      for (const tree of trees) readObject(tree, sink);
    }
  },
};

/** One JSON object a line, several of them. */
function isLines(text: string): boolean {
  const [first = '', second] = firstLines(text, 2);
  return second !== undefined && first.trimStart().startsWith('{') && parseJson(first) !== undefined;
}

function readObject(tree: Tree, sink: Sink): void {
  const groups = itemsAt(tree, 'TargetGroups');
  for (const group of groups) readTargetGroup(group, sink);
  if (groups.length === 0 && under(tree, 'HealthCheckIntervalSeconds') !== undefined) readTargetGroup(tree, sink);
  readAttributes(itemsAt(tree, 'Attributes'), sink);
  const targets = itemsAt(tree, 'TargetHealthDescriptions');
  if (targets.length > 0) {
    readTargets(targets, undefined, sink);
    writeFleet(targets, sink);
  }
  for (const balancer of itemsAt(tree, 'LoadBalancers')) {
    const type = textAt(balancer, 'Type');
    const scope = `load balancer ${textAt(balancer, 'LoadBalancerName') ?? ''}`.trim();
    if (type !== undefined) {
      const value = type === 'network' ? 'tcp' : 'http';
      sink.setting({ program, scope, key: 'balance.layer', value, line: under(balancer, 'Type')?.line });
    }
  }
}

const probe = [
  ['health.path', 'HealthCheckPath'],
  ['health.interval', 'HealthCheckIntervalSeconds'],
  ['health.timeout', 'HealthCheckTimeoutSeconds'],
  ['health.fall', 'UnhealthyThresholdCount'],
  ['health.rise', 'HealthyThresholdCount'],
] as const;

function readTargetGroup(group: Tree, sink: Sink): void {
  const scope = `target group ${textAt(group, 'TargetGroupName') ?? ''}`.trim();
  for (const [key, name] of probe) {
    const found = under(group, name);
    if (found?.kind !== 'scalar' || found.value === undefined) continue;
    const value = key === 'health.path' ? String(found.value) : Number(found.value);
    sink.setting({ program, scope, key, value, line: found.line });
  }
  const protocol = textAt(group, 'HealthCheckProtocol');
  if (protocol !== undefined) {
    const value = protocol.startsWith('HTTP') ? 'http' : protocol.toLowerCase();
    sink.setting({ program, scope, key: 'health.kind', value, line: under(group, 'HealthCheckProtocol')?.line });
  }
}

interface Attribute {
  readonly keys: readonly SettingKey[];
  readonly scope: 'load balancer' | 'target group';
  readonly value: (text: string) => number | string | boolean;
}

const number = (text: string): number => Number(text);
const truth = (text: string): boolean => text === 'true';

const attributes: Readonly<Record<string, Attribute>> = {
  'idle_timeout.timeout_seconds': {
    keys: ['downstream.idle-timeout', 'upstream.idle-timeout'],
    scope: 'load balancer',
    value: number,
  },
  'client_keep_alive.seconds': { keys: ['downstream.connection-lifetime'], scope: 'load balancer', value: number },
  'load_balancing.cross_zone.enabled': { keys: ['balance.cross-zone'], scope: 'load balancer', value: truth },
  'deregistration_delay.timeout_seconds': {
    keys: ['balancer.deregistration-delay'],
    scope: 'target group',
    value: number,
  },
  'slow_start.duration_seconds': { keys: ['balance.slow-start'], scope: 'target group', value: number },
  'load_balancing.algorithm.type': { keys: ['balance.policy'], scope: 'target group', value: policyWord },
  'target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage': {
    keys: ['balance.panic-threshold'],
    scope: 'target group',
    value: (text) => (text === 'off' ? 0 : Number(text) / 100),
  },
};

function readAttributes(list: readonly Tree[], sink: Sink): void {
  const sticky = list.find((one) => textAt(one, 'Key') === 'stickiness.enabled');
  const stickyBy = list.find((one) => textAt(one, 'Key') === 'stickiness.type');
  if (sticky !== undefined) {
    const value = textAt(sticky, 'Value') === 'true' ? (textAt(stickyBy, 'Value') ?? 'cookie') : 'none';
    sink.setting({ program, scope: 'target group', key: 'balance.sticky', value, line: under(sticky, 'Value')?.line });
  }
  for (const one of list) {
    const known = attributes[textAt(one, 'Key') ?? ''];
    const text = textAt(one, 'Value');
    if (known === undefined || text === undefined) continue;
    for (const key of known.keys) {
      sink.setting({ program, scope: known.scope, key, value: known.value(text), line: under(one, 'Value')?.line });
    }
  }
}

/** The health of each target, now or at an instant. */
function readTargets(targets: readonly Tree[], atMs: number | undefined, sink: Sink): void {
  for (const target of targets) {
    const id = textAt(target, 'Target', 'Id') ?? '?';
    const zone = textAt(target, 'Target', 'AvailabilityZone');
    const state = textAt(target, 'TargetHealth', 'State') ?? '?';
    const reason = textAt(target, 'TargetHealth', 'Reason');
    sink.hints.addresses.add(id);
    const labels = {
      target: id,
      state,
      ...(zone === undefined ? {} : { zone }),
      ...(reason === undefined ? {} : { reason }),
    };
    sink.sample('target_healthy', labels, state === 'healthy' ? 1 : 0, { type: 'gauge', atMs, line: target.line });
  }
}

/** How many there are, which, and in which zones. */
function writeFleet(targets: readonly Tree[], sink: Sink): void {
  const zones = new Map<string, number>();
  for (const target of targets) {
    const zone = textAt(target, 'Target', 'AvailabilityZone');
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
  }
  const setting = { program, scope: 'target group', line: targets[0]?.line };
  sink.setting({ ...setting, key: 'upstream.endpoints', value: targets.length });
  const list = targets.map((target) => textAt(target, 'Target', 'Id') ?? '?').join();
  sink.setting({ ...setting, key: 'upstream.endpoint-list', value: list });
  const layout = [...zones].map(([zone, count]) => `${zone}=${count}`).join();
  if (zones.size > 0) sink.setting({ ...setting, key: 'replicas.zone-layout', value: layout });
}

/** Each line is a reading; a change of state between two is an event; all of them together are a series. */
function readSnapshots(text: string, sink: Sink): Tree[] {
  const states = new Map<string, string>();
  const points = new Map<string, { atMs: number; value: number }[]>();
  const trees: Tree[] = [];
  let readings = 0;
  for (const [index, raw] of text.split('\n').entries()) {
    if (raw.trim() === '') continue;
    const tree = treeOf(parseJson(raw));
    const targets = itemsAt(tree, 'TargetHealthDescriptions');
    if (targets.length === 0) {
      sink.foreign(index + 1, raw);
      continue;
    }
    const atMs = parseInstant(textAt(tree, 'ts') ?? textAt(tree, 'time') ?? textAt(tree, 'timestamp') ?? '')?.ms;
    if (readings > 0) sink.nextReading();
    readings += 1;
    readTargets(targets, atMs, sink);
    if (readings === 1) writeFleet(targets, sink);
    sink.understood();
    for (const target of targets) {
      const id = textAt(target, 'Target', 'Id') ?? '?';
      const state = textAt(target, 'TargetHealth', 'State') ?? '?';
      const before = states.get(id) ?? 'healthy';
      const detail = textAt(target, 'TargetHealth', 'Reason') ?? state;
      if (before !== state) {
        const event = state === 'healthy' ? 'healthy' : state === 'draining' ? 'removed-from-balancer' : 'unhealthy';
        sink.event({ atMs, event, subject: id, detail, line: index + 1 });
      }
      states.set(id, state);
      if (atMs === undefined) continue;
      const own = points.get(id) ?? [];
      own.push({ atMs, value: state === 'healthy' ? 1 : 0 });
      points.set(id, own);
    }
    trees.push(tree);
  }
  for (const [target, own] of points) sink.series('target_healthy', { target }, own);
  return trees;
}
