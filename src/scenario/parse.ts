// From a person's YAML to a Scenario, or to every problem at once.
//
//   text ─► document with positions ─► schema ─┬─► Scenario
//                                  └─► checks ─┘
//
// Schema and checks both read the raw data, so that a mistake of one kind does not hide those of the other.

import { assert, AssertionError } from '../base.ts';
import { advise } from './advise.ts';
import { check, isMapping, type Raw } from './check.ts';
import { withCopies } from './copies.ts';
import { explain } from './explain.ts';
import type {
  Autoscale,
  Call,
  Clients,
  Demand,
  Fault,
  FaultKind,
  Gateway,
  HeldConnections,
  Network,
  NetworkFault,
  Scenario,
  Service,
} from './model.ts';
import type { Problem } from './problem.ts';
import { readSource } from './source.ts';
import {
  clientsSchema,
  defaults,
  faultKinds,
  type FaultSurface,
  type GatewaySurface,
  scenarioSchema,
  type ScenarioSurface,
  type ServiceSurface,
} from './surface.ts';
import type { AutoscaleSurface } from './surface-autoscale.ts';
import type { ConnectionsSurface, DemandSurface } from './surface-demand.ts';
import { networkSchema } from './surface-network.ts';

export type Parsed =
  | { readonly scenario: Scenario; /** Legal, and probably not meant. */ readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/**
 * Reads one scenario. `file` is what problems are told to be in. `settings` are texts such as `faults.0.slow.factor=1.3`
 * that are put into the document first. Pure: reading the file is the caller's.
 */
export function parseScenario(text: string, file: string, settings: readonly string[] = []): Parsed {
  const source = readSource(text, file, settings);
  if (source.problems.length > 0) return { problems: source.problems };
  if (!isMapping(source.value)) {
    return { problems: [source.at([], 'expected a mapping that begins with plimsoll: 1')] };
  }
  const raw = withoutExtensions(source.value);
  const parsed = scenarioSchema.safeParse(raw);
  const problems = [...(parsed.success ? [] : explain(parsed.error.issues, source)), ...check(raw, source)];
  if (!parsed.success || problems.length > 0) return { problems: inOrder(problems, settings) };
  const scenario = build(parsed.data, nameFrom(file));
  return { scenario, warnings: inOrder(advise(scenario, source), settings) };
}

/** The same on the scale of the lab, where the scenario has one. `settings` come after it, so that they count. */
export function parseForLab(text: string, file: string, settings: readonly string[] = []): Parsed {
  const parsed = parseScenario(text, file, settings);
  const scale = 'scenario' in parsed ? (parsed.scenario.inLab ?? []) : [];
  return scale.length === 0 ? parsed : parseScenario(text, file, [...scale, ...settings]);
}

/** Top-level keys that begin with x- are a person's own place for anchors. */
function withoutExtensions(value: Raw): Raw {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-')));
}

/** As a person reads: settings first, then down the file; each thing told once. */
function inOrder(problems: readonly Problem[], settings: readonly string[]): readonly Problem[] {
  const rank = (problem: Problem): number => settings.findIndex((setting) => problem.file === `--set ${setting}`);
  const seen = new Set<string>();
  return problems
    .toSorted((a, b) => rank(b) - rank(a) || a.line - b.line || a.column - b.column)
    .filter((problem) => {
      const key = JSON.stringify(problem);
      return !seen.has(key) && seen.add(key).size > 0;
    });
}

const nameFrom = (file: string): string =>
  file
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.(plimsoll\.)?ya?ml$/, '') ?? file;

function build(surface: ScenarioSurface, name: string): Scenario {
  const services = Object.entries(surface.services).map(([each, service]) => buildService(each, service));
  const dependencies = Object.entries(surface.dependencies).map(([each, dependency]) => ({
    name: each,
    workers: dependency.workers,
    serviceTime: dependency.service_time,
    ...(dependency.zone === undefined ? {} : { zone: dependency.zone }),
  }));
  const clients = buildClients(surface, services[0]?.name ?? '');
  const scenario: Scenario = {
    name: surface.name ?? name,
    about: surface.about,
    topology: {
      services,
      dependencies,
      gateway: surface.gateway === undefined ? undefined : buildGateway(surface.gateway),
      clients,
    },
    demand: surface.demand.map((each) => buildDemand(each, clients[0]?.name ?? defaults.group)),
    ...(surface.connections.length === 0
      ? {}
      : { connections: surface.connections.map((each) => buildConnections(each, clients[0]?.name ?? defaults.group)) }),
    faults: surface.faults.filter((fault) => !isOfNetwork(fault)).map(buildFault),
    ...buildNetwork(surface),
    objectives: surface.objectives,
    warmUp: surface.warm_up,
    duration: surface.duration,
    expect: surface.expect,
    ...(surface.in_lab === undefined ? {} : { inLab: settingsOf(surface.in_lab) }),
  };
  const copies = Object.entries(surface.services).flatMap(([each, service]) =>
    service.copies === undefined || service.copies === 1 ? [] : [[each, service.copies] as const],
  );
  return withCopies(scenario, Object.fromEntries(copies));
}

const settingsOf = (values: Readonly<Record<string, string | number | boolean>>): readonly string[] =>
  Object.entries(values).map(([path, value]) => `${path}=${value}`);

function buildService(name: string, surface: ServiceSurface): Service {
  return {
    name,
    replicas: surface.replicas,
    workers: surface.workers,
    serviceTime: surface.service_time,
    cpuTime: surface.cpu_time,
    queue: surface.queue,
    cpuQuota: surface.cpu_quota,
    calls: surface.calls.map(buildCall),
    healthSharesPool: surface.health_shares_pool,
    ...(surface.cpu_scheduling === undefined ? {} : { cpuScheduling: surface.cpu_scheduling }),
    ...(surface.cores === undefined ? {} : { cores: surface.cores }),
    ...(surface.cold_start === undefined ? {} : { coldStart: surface.cold_start }),
    ...(surface.gc_pauses === undefined ? {} : { gcPauses: surface.gc_pauses }),
    ...(surface.zones === undefined ? {} : { zones: surface.zones }),
    ...(surface.autoscale === undefined ? {} : { autoscale: buildAutoscale(surface.autoscale) }),
  };
}

const buildAutoscale = ({ start_lag, scale_down_after, ...same }: AutoscaleSurface): Autoscale => ({
  ...same,
  startLag: start_lag,
  scaleDownAfter: scale_down_after,
});

const buildCall = ({ to, timeout, retries, back_off, budget, choice }: ServiceSurface['calls'][number]): Call => ({
  to,
  timeout,
  retries,
  choice,
  ...(back_off === undefined ? {} : { backOff: back_off }),
  ...(budget === undefined ? {} : { budget }),
});

function buildGateway(surface: GatewaySurface): Gateway {
  return {
    policy: surface.policy,
    timeout: surface.timeout,
    connectTimeout: surface.connect_timeout,
    retries: surface.retries,
    health: surface.health,
    ...(surface.count === undefined ? {} : { count: surface.count }),
    ...(surface.zones === undefined ? {} : { zones: surface.zones }),
  };
}

function buildClients(surface: ScenarioSurface, onlyService: string): readonly Clients[] {
  const named = Object.entries(surface.clients);
  const groups = named.length > 0 ? named : [[defaults.group, clientsSchema.parse({})] as const];
  return groups.map(([name, each]) => ({
    name,
    service: each.service ?? onlyService,
    via: each.via ?? (surface.gateway === undefined ? 'registry' : 'gateway'),
    choice: each.choice,
    timeout: each.timeout,
    ...(each.retry === undefined
      ? {}
      : { retry: { retries: each.retry.retries, backOff: each.retry.back_off, budget: each.retry.budget } }),
    ...(each.zone === undefined ? {} : { zone: each.zone }),
    ...(each.pinned === undefined ? {} : { pinned: each.pinned }),
    ...(each.users_per_connection === undefined ? {} : { usersPerConnection: each.users_per_connection }),
    ...(each.keep_alive === undefined
      ? {}
      : { keepAlive: { requests: each.keep_alive.requests, lifetime: each.keep_alive.lifetime } }),
  }));
}

function buildDemand(surface: DemandSurface, onlyGroup: string): Demand {
  const clients = surface.clients ?? onlyGroup;
  if (surface.closed !== undefined) {
    const { pacing, cookies, ...rest } = surface.closed;
    return {
      kind: 'closed',
      clients,
      ...rest,
      ...(pacing === undefined ? {} : { pacing }),
      ...(cookies ? { cookies } : {}),
    };
  }
  assert(surface.open !== undefined, 'a demand that passed the schema is closed or open');
  return { kind: 'open', clients, ...surface.open };
}

function buildConnections(surface: ConnectionsSurface, onlyGroup: string): HeldConnections {
  return {
    clients: surface.clients ?? onlyGroup,
    held: surface.held,
    openingPerSecond: surface.opening,
    ...(surface.new === undefined ? {} : { newPerSecond: surface.new }),
  };
}

/** A network that only goes wrong now and then is otherwise as if there were none: its messages take no time. */
function buildNetwork({ network, faults }: ScenarioSurface): { readonly network?: Network } {
  const own = faults.filter(isOfNetwork).map(buildNetworkFault);
  if (network === undefined && own.length === 0) return {};
  const { delay, loss, between_zones: betweenZones } = network ?? networkSchema.parse({ delay: 'constant 0s' });
  return { network: { delay, loss, faults: own, ...(betweenZones === undefined ? {} : { betweenZones }) } };
}

const isOfNetwork = ({ partition, link }: FaultSurface): boolean => partition !== undefined || link !== undefined;

function buildNetworkFault({ at, for: length, partition, link }: FaultSurface): NetworkFault {
  if (partition !== undefined) {
    return { at, for: length, kind: 'partition', of: partition.of, from: partition.from };
  }
  assert(link !== undefined, 'a fault of the network is a partition or of one link');
  return { at, for: length, kind: 'link', ...link };
}

function buildFault(surface: FaultSurface): Fault {
  return { at: surface.at, for: surface.for, ...buildFaultKind(surface) };
}

function buildFaultKind({ slow, burn, pause, fail, ...others }: FaultSurface): FaultKind {
  if (slow !== undefined) return { kind: 'slow', ...slow };
  if (burn !== undefined) return { kind: 'burn', ...burn };
  if (pause !== undefined) return { kind: 'pause', ...pause };
  if (fail !== undefined) return { kind: 'fail', ...fail };
  for (const kind of ['stop', 'resume', 'kill', 'restart'] as const) {
    const replica = others[kind];
    if (replica !== undefined) return { kind, replica };
  }
  throw new AssertionError(`a fault that passed the schema is one of ${faultKinds.join(', ')}`);
}
