// What must hold between the parts of a scenario: every name that is used exists, calls go in no circle, faults happen
// before the end. It reads the raw data and passes over whatever has not the right shape (the schema has told that), so
// that one mistake does not hide another.

import { type Duration, formatDuration, ns, parseDuration, seconds } from '../base.ts';
import { didYouMean } from './nearest.ts';
import type { Path, Problem } from './problem.ts';
import type { Source } from './source.ts';
import { defaults, faultKinds } from './surface.ts';
import { networkFaultKinds } from './surface-network.ts';

export type Raw = Readonly<Record<string, unknown>>;

/** Everything that would make the scenario impossible to run as it is written. */
export function check(raw: Raw, source: Source): Problem[] {
  const draft: Draft = {
    services: mappingIn(raw, 'services'),
    dependencies: mappingIn(raw, 'dependencies'),
    gateway: 'gateway' in raw ? mappingIn(raw, 'gateway') : undefined,
    hasNetwork:
      'network' in raw || listIn(raw, 'faults').some((fault) => networkFaultKinds.some((kind) => kind in fault)),
    clients: mappingIn(raw, 'clients'),
    demand: listIn(raw, 'demand'),
    connections: listIn(raw, 'connections'),
    faults: listIn(raw, 'faults'),
    end: endOf(raw),
  };
  return [
    ...checkNames(draft, source),
    ...checkProcessors(draft, source),
    ...checkCalls(draft, source),
    ...checkScaling(draft, source),
    ...checkClients(draft, source),
    ...checkPinned(draft, source),
    ...checkDemand(draft, source),
    ...checkFlows(draft, source),
    ...checkFaults(draft, source),
  ];
}

interface Draft {
  readonly services: Raw;
  readonly dependencies: Raw;
  readonly gateway: Raw | undefined;
  readonly hasNetwork: boolean;
  readonly clients: Raw;
  readonly demand: readonly Raw[];
  readonly connections: readonly Raw[];
  readonly faults: readonly Raw[];
  readonly end: Duration | undefined;
}

function checkNames({ services, dependencies }: Draft, source: Source): Problem[] {
  return Object.keys(dependencies)
    .filter((name) => name in services)
    .map((name) => source.atKey(['dependencies', name], `${name} is a service already: expected another name`));
}

function checkProcessors({ services }: Draft, source: Source): Problem[] {
  return Object.keys(services)
    .filter((name) => {
      const { cores = 1, cpu_scheduling: scheduling = 'fifo' } = mappingIn(services, name);
      return scheduling === 'fifo' && cores !== 1;
    })
    .map((name) => {
      const message = `one thread uses one core: expected cpu_scheduling: shared, or no cores`;
      return source.atKey(['services', name, 'cores'], message);
    });
}

function checkCalls({ services, dependencies }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  const known = [...Object.keys(dependencies), ...Object.keys(services)];
  for (const name of Object.keys(services)) {
    for (const [index, to] of callsOf(services, name).entries()) {
      if (to === undefined) continue;
      const path = ['services', name, 'calls', index, 'to'];
      if (!known.includes(to)) {
        problems.push(source.at(path, unknownName('dependency or service', to, known)));
        continue;
      }
      if ('copies' in mappingIn(services, to)) {
        problems.push(source.at(path, `${to} stands for several services: expected one that has no copies`));
      }
      const circle = wayByCalls(services, to, name);
      if (circle !== undefined)
        problems.push(source.at(path, `calls go in a circle: ${[name, ...circle].join(' → ')}`));
    }
  }
  return problems;
}

const callsOf = (services: Raw, name: string): readonly (string | undefined)[] =>
  listIn(mappingIn(services, name), 'calls').map((call) => textIn(call, 'to'));

/** The services on the way from `from` to `to` by calls, both included, or undefined when there is no way. */
function wayByCalls(services: Raw, from: string, to: string): readonly string[] | undefined {
  const seen = new Set<string>();
  const walk = (name: string): readonly string[] | undefined => {
    if (name === to) return [name];
    if (seen.has(name)) return undefined;
    seen.add(name);
    for (const next of callsOf(services, name)) {
      const rest = next === undefined ? undefined : walk(next);
      if (rest !== undefined) return [name, ...rest];
    }
    return undefined;
  };
  return walk(from);
}

function checkScaling({ services }: Draft, source: Source): Problem[] {
  return Object.keys(services).flatMap((name): Problem[] => {
    const service = mappingIn(services, name);
    if (!('autoscale' in service)) return [];
    const { min = 1, max, metric } = mappingIn(service, 'autoscale');
    const { replicas = defaults.replicas } = service;
    const problems: Problem[] = [];
    if (typeof min === 'number' && typeof max === 'number' && typeof replicas === 'number') {
      if (min <= max && (replicas < min || replicas > max)) {
        const message = `${name} begins with ${replicas} replicas: expected ${min} to ${max}, as autoscale has it`;
        problems.push(source.at(['services', name, 'replicas'], message));
      }
    }
    if (metric === 'cpu' && !('cpu_time' in service)) {
      const message = `requests of ${name} need no processor time: expected cpu_time, or metric: workers`;
      problems.push(source.at(['services', name, 'autoscale', 'metric'], message));
    }
    return problems;
  });
}

function checkClients({ services, clients, gateway, hasNetwork }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  const hasGateway = gateway !== undefined;
  const names = Object.keys(services);
  const groups = Object.keys(clients);
  for (const group of groups) {
    const each = mappingIn(clients, group);
    const service = textIn(each, 'service');
    if (!('service' in each) && names.length > 1) {
      const message = `the key service is missing: there are several services, expected one of ${names.join(', ')}`;
      problems.push(source.atKey(['clients', group], message));
    } else if (service !== undefined && !(service in services)) {
      problems.push(source.at(['clients', group, 'service'], unknownName('service', service, names)));
    }
    const via = textIn(each, 'via') ?? (gateway === undefined ? 'registry' : 'gateway');
    const ofLists = hasNetwork ? [] : ['zone'];
    for (const key of ofLists.filter((one) => one in each && via !== 'registry')) {
      const message = `these clients go through the ${via}: expected via: registry, for ${key} is about the list of replicas`;
      problems.push(source.atKey(['clients', group, key], message));
    }
    if (each['via'] === 'gateway' && !hasGateway) {
      const message = `there is no gateway: expected a section gateway (gateway: {} takes every default), or via: registry`;
      problems.push(source.at(['clients', group, 'via'], message));
    }
  }
  if (groups.length === 0 && names.length > 1) {
    const message = `the key clients is missing: there are several services, expected a group that says which one it asks`;
    problems.push(source.at([], message));
  }
  return problems;
}

function checkPinned({ clients, gateway, demand }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  for (const group of Object.keys(clients)) {
    const each = mappingIn(clients, group);
    const path = ['clients', group];
    if (each['pinned'] !== true) {
      if ('users_per_connection' in each) {
        const message = 'users share a connection that they keep: expected pinned: true beside it';
        problems.push(source.atKey([...path, 'users_per_connection'], message));
      }
      continue;
    }
    const via = textIn(each, 'via') ?? (gateway === undefined ? 'registry' : 'gateway');
    if (via === 'forwarder') {
      const message = 'a forwarder places each request: expected via: registry, or gateway, for pinned connections';
      problems.push(source.atKey([...path, 'pinned'], message));
    }
    const isOpen = demand.some((one) => 'open' in one && (textIn(one, 'clients') ?? group) === group);
    if (via === 'gateway' && isOpen) {
      const message = 'users keep connections, and an open demand has none: expected a closed demand of these clients';
      problems.push(source.atKey([...path, 'pinned'], message));
    }
  }
  return problems;
}

function checkDemand({ clients, demand, connections }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  const named = Object.keys(clients);
  const groups = named.length === 0 ? [defaults.group] : named;
  for (const [list, entries] of [
    ['demand', demand],
    ['connections', connections],
  ] as const) {
    for (const [index, each] of entries.entries()) {
      const group = textIn(each, 'clients');
      if (!('clients' in each) && groups.length > 1) {
        const message = `the key clients is missing: there are several groups, expected one of ${groups.join(', ')}`;
        problems.push(source.at([list, index], message));
      } else if (group !== undefined && !groups.includes(group)) {
        problems.push(source.at([list, index, 'clients'], unknownName('client group', group, groups)));
      }
    }
  }
  return problems;
}

/** Keys of a step that only users have, who walk a flow one after another. */
const ofUsers = ['extract', 'think', 'rendezvous'];

function checkFlows({ demand }: Draft, source: Source): Problem[] {
  const problems: Problem[] = [];
  for (const [index, each] of demand.entries()) {
    for (const [place, step] of listIn(mappingIn(each, 'open'), 'flow').entries()) {
      const path = ['demand', index, 'open', 'flow', place];
      for (const key of ofUsers.filter((one) => one in step)) {
        problems.push(
          source.atKey([...path, key], `${key} is of users: expected a closed demand, or a step without it`),
        );
      }
    }
    problems.push(...checkUsers(mappingIn(each, 'closed'), ['demand', index, 'closed'], source));
  }
  return problems;
}

function checkUsers(closed: Raw, at: Path, source: Source): Problem[] {
  const problems: Problem[] = [];
  const { users } = closed;
  const known = new Set(['user', 'iteration']);
  for (const [place, step] of listOfAll(closed, 'flow').entries()) {
    const path = [...at, 'flow', place];
    for (const name of variablesIn(step)) {
      if (known.has(name)) continue;
      const message = `no earlier step extracts ${name}: expected one of ${[...known].join(', ')}`;
      problems.push(source.at(path, `${message}.${didYouMean(name, [...known])}`));
    }
    if (!isMapping(step)) continue;
    for (const name of Object.keys(mappingIn(step, 'extract'))) known.add(name);
    const gathered = mappingIn(step, 'rendezvous')['users'];
    if (typeof gathered === 'number' && typeof users === 'number' && gathered > users) {
      const message = `there are ${users} users, so that ${gathered} never gather: expected ${users} or fewer`;
      problems.push(source.at([...path, 'rendezvous', 'users'], message));
    }
  }
  return problems;
}

/** Names of the variables in a step's path, headers and body. */
function variablesIn(step: unknown): ReadonlySet<string> {
  const texts = isMapping(step)
    ? [...Object.values(step), ...Object.values(mappingIn(step, 'headers'))].filter(
        (value) => typeof value === 'string',
      )
    : [String(step)];
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name = '']) => name)),
  );
}

function checkFaults(draft: Draft, source: Source): Problem[] {
  const { services, dependencies, faults, end } = draft;
  const problems: Problem[] = [];
  for (const [index, fault] of faults.entries()) {
    const path: Path = ['faults', index];
    const at = durationIn(fault, 'at');
    if (end !== undefined && at !== undefined && at >= end) {
      const message = `the run ends at ${formatDuration(end)} (warm_up and duration together): expected an earlier time, found ${formatDuration(at)}`;
      problems.push(source.at([...path, 'at'], message));
    }
    for (const kind of faultKinds.filter((each) => each in fault)) {
      const inside = typeof fault[kind] !== 'string';
      const id = inside ? textIn(mappingIn(fault, kind), 'replica') : textIn(fault, kind);
      const wrong = id === undefined ? undefined : wrongReplica(id, services, dependencies);
      if (wrong !== undefined) problems.push(source.at([...path, kind, ...(inside ? ['replica'] : [])], wrong));
      if (kind === 'partition')
        problems.push(...checkPartition(mappingIn(fault, kind), draft, [...path, kind], source));
      if ('for' in fault && (kind === 'resume' || kind === 'restart' || kind === 'pause')) {
        const instead = kind === 'pause' ? 'its length inside pause' : 'no such key, it happens once';
        problems.push(source.atKey([...path, 'for'], `${kind} does not last: expected ${instead}`));
      }
    }
  }
  return problems;
}

function checkPartition(partition: Raw, draft: Draft, path: Path, source: Source): Problem[] {
  const { services, dependencies, clients, gateway } = draft;
  const isOne = (service: string | undefined): boolean =>
    service === undefined || !('copies' in mappingIn(services, service));
  const groups = Object.keys(clients).filter((group) => isOne(textIn(mappingIn(clients, group), 'service')));
  const known = [
    ...Object.keys(services).filter(isOne),
    ...Object.keys(dependencies),
    ...(groups.length === 0 ? [defaults.group] : groups),
    ...(gateway === undefined ? [] : ['gateway']),
    ...zonesIn(draft),
  ];
  return ['of', 'from'].flatMap((key) => {
    const side = textIn(partition, key);
    if (side === undefined || known.includes(side) || isReplica(side, services, dependencies)) return [];
    return [source.at([...path, key], unknownName('side of a partition', side, known))];
  });
}

/** Every zone that somebody stands in. */
function zonesIn({ services, dependencies, clients, gateway = {} }: Draft): readonly string[] {
  const one = [dependencies, clients].flatMap((all) =>
    Object.keys(all).flatMap((name) => textIn(mappingIn(all, name), 'zone') ?? []),
  );
  const several = [...Object.keys(services).map((name) => mappingIn(services, name)), gateway].flatMap((each) =>
    listOfAll(each, 'zones').filter((zone) => typeof zone === 'string'),
  );
  return [...new Set([...one, ...several])];
}

const isReplica = (id: string, services: Raw, dependencies: Raw): boolean =>
  /-\d+$/.test(id) && wrongReplica(id, services, dependencies) === undefined;

function wrongReplica(id: string, services: Raw, dependencies: Raw): string | undefined {
  const [, name, digits] = /^(.*)-(\d+)$/.exec(id) ?? [];
  if (name === undefined || digits === undefined) return undefined;
  const isService = name in services;
  if (!isService && !(name in dependencies)) {
    const ids = [...Object.keys(services), ...Object.keys(dependencies)].map((each) => `${each}-${digits}`);
    return `no replica ${id}: ${name} is neither a service nor a dependency.${didYouMean(id, ids)}`;
  }
  const stated = isService ? (mappingIn(services, name)['replicas'] ?? defaults.replicas) : 1;
  if (typeof stated !== 'number' || (Number(digits) >= 1 && Number(digits) <= stated)) return undefined;
  const has = stated === 1 ? `one replica, ${name}-1` : `${stated} replicas, ${name}-1 to ${name}-${stated}`;
  return `no replica ${id}: ${name} has ${has}`;
}

function unknownName(what: string, found: string, known: readonly string[]): string {
  const there = known.length === 0 ? 'there is none' : `expected one of ${known.join(', ')}`;
  return `unknown ${what} '${found}': ${there}.${didYouMean(found, known)}`;
}

function endOf(raw: Raw): Duration | undefined {
  const warmUp = 'warm_up' in raw ? durationIn(raw, 'warm_up') : seconds(defaults.warmUpSeconds);
  const length = 'duration' in raw ? durationIn(raw, 'duration') : seconds(defaults.durationSeconds);
  return warmUp === undefined || length === undefined ? undefined : ns(warmUp + length);
}

// Readers that pass over what is not of the right shape.

export function isMapping(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mappingIn(raw: Raw, key: string): Raw {
  const value = raw[key];
  return isMapping(value) ? value : {};
}

function listIn(raw: Raw, key: string): readonly Raw[] {
  const value = raw[key];
  return Array.isArray(value) ? value.map((each: unknown) => (isMapping(each) ? each : {})) : [];
}

function listOfAll(raw: Raw, key: string): readonly unknown[] {
  const value = raw[key];
  return Array.isArray(value) ? value : [];
}

function textIn(raw: Raw, key: string): string | undefined {
  const value = raw[key];
  return typeof value === 'string' ? value : undefined;
}

function durationIn(raw: Raw, key: string): Duration | undefined {
  const text = textIn(raw, key);
  return text === undefined ? undefined : parseDuration(text);
}
