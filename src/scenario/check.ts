// What must hold between the parts of a scenario: every name that is used exists, calls go in no circle, faults happen
// before the end. It works on whatever parts could be read, so that one bad service does not hide a bad fault.

import { type Duration, formatDuration, ns } from '../base.ts';
import { didYouMean } from './nearest.ts';
import type { Path, Problem } from './problem.ts';
import type { Source } from './source.ts';
import {
  type ClientsSurface,
  type DemandSurface,
  type DependencySurface,
  faultKinds,
  type FaultSurface,
  type GatewaySurface,
  type ServiceSurface,
} from './surface.ts';

/** The parts of a scenario; undefined stands for one that could not be read. Its name or place still counts. */
export interface Draft {
  readonly services: ReadonlyMap<string, ServiceSurface | undefined>;
  readonly dependencies: ReadonlyMap<string, DependencySurface | undefined>;
  readonly hasGateway: boolean;
  readonly gateway: GatewaySurface | undefined;
  readonly clients: ReadonlyMap<string, ClientsSurface | undefined>;
  readonly demand: readonly (DemandSurface | undefined)[];
  readonly faults: readonly (FaultSurface | undefined)[];
  readonly end: Duration | undefined;
}

/** The group there is when a scenario names none. */
export const defaultGroup = 'users';

export function groupNames(clients: ReadonlyMap<string, unknown>): readonly string[] {
  return clients.size === 0 ? [defaultGroup] : [...clients.keys()];
}

/** Everything that would make the scenario impossible to run as it is written. */
export function check(draft: Draft, source: Source): Problem[] {
  return [
    ...checkNames(draft, source),
    ...checkCalls(draft, source),
    ...checkClients(draft, source),
    ...checkDemand(draft, source),
    ...checkFaults(draft, source),
  ];
}

function checkNames({ services, dependencies }: Draft, source: Source): Problem[] {
  return [...dependencies.keys()]
    .filter((name) => services.has(name))
    .map((name) => source.atKey(['dependencies', name], `${name} is a service already: expected another name`));
}

function checkCalls({ services, dependencies }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  const known = [...dependencies.keys(), ...services.keys()];
  for (const [name, service] of services) {
    for (const [index, call] of (service?.calls ?? []).entries()) {
      const path = ['services', name, 'calls', index, 'to'];
      if (!known.includes(call.to)) {
        problems.push(source.at(path, unknownName('dependency or service', call.to, known)));
        continue;
      }
      const circle = pathOfCalls(services, call.to, name);
      if (circle !== undefined) {
        problems.push(source.at(path, `calls go in a circle: ${[name, ...circle].join(' → ')}`));
      }
    }
  }
  return problems;
}

/** The services on the way from `from` to `to` by calls, both included, or undefined when there is no way. */
function pathOfCalls(services: Draft['services'], from: string, to: string): readonly string[] | undefined {
  const seen = new Set<string>();
  const walk = (name: string): readonly string[] | undefined => {
    if (name === to) return [name];
    if (seen.has(name)) return undefined;
    seen.add(name);
    for (const call of services.get(name)?.calls ?? []) {
      const rest = walk(call.to);
      if (rest !== undefined) return [name, ...rest];
    }
    return undefined;
  };
  return walk(from);
}

function checkClients({ services, clients, hasGateway }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  const names = [...services.keys()];
  for (const [group, surface] of clients) {
    if (surface === undefined) continue;
    if (surface.service === undefined) {
      if (names.length > 1) {
        const message = `the key service is missing: there are several services, expected one of ${names.join(', ')}`;
        problems.push(source.atKey(['clients', group], message));
      }
    } else if (!services.has(surface.service)) {
      problems.push(source.at(['clients', group, 'service'], unknownName('service', surface.service, names)));
    }
    if (surface.via === 'gateway' && !hasGateway) {
      const message = `there is no gateway: expected a section gateway (gateway: {} takes every default), or via: registry`;
      problems.push(source.at(['clients', group, 'via'], message));
    }
  }
  if (clients.size === 0 && names.length > 1) {
    const message = `the key clients is missing: there are several services, expected a group that says which one it asks`;
    problems.push(source.at([], message));
  }
  return problems;
}

function checkDemand({ clients, demand }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  const groups = groupNames(clients);
  for (const [index, each] of demand.entries()) {
    if (each === undefined) continue;
    if (each.clients === undefined) {
      if (groups.length === 1) continue;
      const message = `the key clients is missing: there are several groups, expected one of ${groups.join(', ')}`;
      problems.push(source.at(['demand', index], message));
    } else if (!groups.includes(each.clients)) {
      problems.push(source.at(['demand', index, 'clients'], unknownName('client group', each.clients, groups)));
    }
  }
  return problems;
}

function checkFaults({ services, dependencies, faults, end }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  for (const [index, fault] of faults.entries()) {
    if (fault === undefined) continue;
    const path: Path = ['faults', index];
    const { kind, replica, inside } = victimOf(fault);
    const wrong = wrongReplica(replica, services, dependencies);
    if (wrong !== undefined) problems.push(source.at([...path, kind, ...(inside ? ['replica'] : [])], wrong));
    if (end !== undefined && fault.at >= end) {
      const message = `the run ends at ${formatDuration(end)} (warm_up and duration together): expected an earlier time, found ${formatDuration(fault.at)}`;
      problems.push(source.at([...path, 'at'], message));
    }
    if (fault.for !== undefined && (kind === 'resume' || kind === 'restart' || kind === 'pause')) {
      const instead = kind === 'pause' ? 'length inside pause' : 'nothing: it happens once';
      problems.push(source.atKey([...path, 'for'], `${kind} cannot last: expected ${instead}`));
    }
  }
  return problems;
}

interface Victim {
  readonly kind: (typeof faultKinds)[number];
  readonly replica: string;
  /** Whether the id stands under a key of its own. */
  readonly inside: boolean;
}

export function victimOf(fault: FaultSurface): Victim {
  for (const kind of faultKinds) {
    const value = fault[kind];
    if (value === undefined) continue;
    return typeof value === 'string'
      ? { kind, replica: value, inside: false }
      : { kind, replica: value.replica, inside: true };
  }
  return { kind: 'slow', replica: '', inside: false };
}

function wrongReplica(
  id: string,
  services: Draft['services'],
  dependencies: Draft['dependencies'],
): string | undefined {
  const [, name = '', number = ''] = /^(.*)-(\d+)$/.exec(id) ?? [];
  const service = services.get(name);
  const known = [...services.keys(), ...dependencies.keys()];
  if (!known.includes(name)) {
    const ids = known.map((each) => `${each}-${number}`);
    return `no replica ${id}: ${name} is neither a service nor a dependency.${didYouMean(id, ids)}`;
  }
  const isService = services.has(name);
  if (isService && service === undefined) return undefined;
  const count = service?.replicas ?? 1;
  if (Number(number) >= 1 && Number(number) <= count) return undefined;
  const has = count === 1 ? `one replica, ${name}-1` : `${count} replicas, ${name}-1 to ${name}-${count}`;
  return `no replica ${id}: ${name} has ${has}`;
}

function unknownName(what: string, found: string, known: readonly string[]): string {
  const there = known.length === 0 ? 'there is none' : `expected one of ${known.join(', ')}`;
  return `unknown ${what} '${found}': ${there}.${didYouMean(found, known)}`;
}

/** What is legal and probably not meant. Only for a scenario without problems. */
export function advise(draft: Draft, source: Source): Problem[] {
  const advice: Problem[] = [];
  const { gateway, services, clients, dependencies, demand, faults } = draft;
  for (const [group, surface] of clients) {
    if (gateway === undefined || surface === undefined || (surface.via ?? 'gateway') !== 'gateway') continue;
    if (gateway.timeout >= surface.timeout) {
      const message = `the gateway's timeout ${formatDuration(gateway.timeout)} is not below the clients' ${formatDuration(surface.timeout)}: the clients give up first and never see its answer`;
      advice.push(source.at(['clients', group], message));
    }
  }
  if (gateway?.health !== undefined && gateway.health.timeout >= gateway.health.interval) {
    advice.push(
      source.at(['gateway', 'health', 'timeout'], 'a health check may last longer than the time to the next one'),
    );
  }
  for (const [name, service] of services) {
    for (const [index, call] of (service?.calls ?? []).entries()) {
      const path: Path = ['services', name, 'calls', index];
      if (call.timeout === undefined) {
        advice.push(source.at(path, `the call to ${call.to} has no timeout: a stalled ${call.to} holds every worker`));
      } else if (gateway !== undefined && call.timeout * (1 + call.retries) >= gateway.timeout) {
        const whole = formatDuration(ns(call.timeout * (1 + call.retries)));
        const message = `all attempts of the call to ${call.to} may take ${whole}, which is not below the gateway's timeout ${formatDuration(gateway.timeout)}`;
        advice.push(source.at(path, message));
      }
    }
  }
  const called = new Set([...services.values()].flatMap((service) => service?.calls ?? []).map((call) => call.to));
  for (const name of dependencies.keys()) {
    if (!called.has(name)) advice.push(source.atKey(['dependencies', name], `no service calls ${name}`));
  }
  const asking = new Set(demand.map((each) => each?.clients ?? groupNames(clients)[0]));
  for (const group of clients.keys()) {
    if (!asking.has(group)) advice.push(source.atKey(['clients', group], `no demand is made by ${group}`));
  }
  for (const [index, fault] of faults.entries()) {
    if (fault?.slow?.factor === 1)
      advice.push(source.at(['faults', index, 'slow', 'factor'], 'a factor of 1 changes nothing'));
  }
  return advice;
}
