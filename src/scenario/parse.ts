// From a person's YAML to a Scenario, or to every problem at once.
//
//   text ─► document with positions ─► schema, part by part ─► checks between parts ─► Scenario
//
// The parts are read one by one, so that a mistake in one does not hide those in the others.

import type { z } from 'zod';
import { type Duration, ns, seconds } from '../base.ts';
import { advise, check, defaultGroup, type Draft, groupNames, victimOf } from './check.ts';
import { explain } from './explain.ts';
import type { Clients, Demand, Fault, FaultKind, Gateway, Scenario, Service } from './model.ts';
import type { Problem } from './problem.ts';
import { readSource } from './source.ts';
import {
  clientsSchema,
  demandSchema,
  dependencySchema,
  type DemandSurface,
  faultSchema,
  type FaultSurface,
  gatewaySchema,
  type GatewaySurface,
  scenarioSchema,
  type ScenarioSurface,
  serviceSchema,
  type ServiceSurface,
} from './surface.ts';

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
  const value = withoutExtensions(source.value);
  const parsed = scenarioSchema.safeParse(value);
  const draft = draftOf(value);
  const problems = [...(parsed.success ? [] : explain(parsed.error.issues, source)), ...check(draft, source)];
  if (!parsed.success || problems.length > 0) return { problems: inOrder(problems, settings) };
  return { scenario: build(parsed.data, nameFrom(file)), warnings: inOrder(advise(draft, source), settings) };
}

/** Top-level keys that begin with x- are a person's own place for anchors. */
function withoutExtensions(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-')));
}

function draftOf(value: Readonly<Record<string, unknown>>): Draft {
  const warmUp = durationOr(value, 'warm_up', seconds(3));
  const length = durationOr(value, 'duration', seconds(15));
  return {
    services: readEach(value['services'], serviceSchema),
    dependencies: readEach(value['dependencies'], dependencySchema),
    hasGateway: 'gateway' in value,
    gateway: gatewaySchema.safeParse(value['gateway']).data,
    clients: readEach(value['clients'], clientsSchema),
    demand: listOf(value['demand']).map((each) => demandSchema.safeParse(each).data),
    faults: listOf(value['faults']).map((each) => faultSchema.safeParse(each).data),
    end: warmUp === undefined || length === undefined ? undefined : sum(warmUp, length),
  };
}

function durationOr(value: Readonly<Record<string, unknown>>, key: 'warm_up' | 'duration', otherwise: Duration) {
  return key in value ? scenarioSchema.shape[key].safeParse(value[key]).data : otherwise;
}

const sum = (first: Duration, second: Duration): Duration => ns(first + second);

function readEach<T extends z.ZodType>(value: unknown, schema: T): ReadonlyMap<string, z.output<T> | undefined> {
  const entries = isMapping(value) ? Object.entries(value) : [];
  return new Map(entries.map(([name, each]) => [name, schema.safeParse(each).data]));
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
  }));
  const clients = buildClients(surface, services[0]?.name ?? '');
  const groups = groupNames(new Map(clients.map((each) => [each.name, each])));
  return {
    name: surface.name ?? name,
    about: surface.about,
    topology: {
      services,
      dependencies,
      gateway: surface.gateway === undefined ? undefined : buildGateway(surface.gateway),
      clients,
    },
    demand: surface.demand.map((each) => buildDemand(each, groups[0] ?? defaultGroup)),
    faults: surface.faults.map(buildFault),
    objectives: surface.objectives,
    warmUp: surface.warm_up,
    duration: surface.duration,
    expect: surface.expect,
  };
}

function buildService(name: string, surface: ServiceSurface): Service {
  return {
    name,
    replicas: surface.replicas,
    workers: surface.workers,
    serviceTime: surface.service_time,
    cpuTime: surface.cpu_time,
    queue: surface.queue,
    cpuQuota: surface.cpu_quota,
    calls: surface.calls.map(({ to, timeout, retries, choice }) => ({ to, timeout, retries, choice })),
    healthSharesPool: surface.health_shares_pool,
  };
}

function buildGateway(surface: GatewaySurface): Gateway {
  return {
    policy: surface.policy,
    timeout: surface.timeout,
    connectTimeout: surface.connect_timeout,
    retries: surface.retries,
    health: surface.health,
  };
}

function buildClients(surface: ScenarioSurface, onlyService: string): readonly Clients[] {
  const named = Object.entries(surface.clients);
  const groups = named.length > 0 ? named : [[defaultGroup, clientsSchema.parse({})] as const];
  return groups.map(([name, each]) => ({
    name,
    service: each.service ?? onlyService,
    via: each.via ?? (surface.gateway === undefined ? 'registry' : 'gateway'),
    choice: each.choice,
    timeout: each.timeout,
  }));
}

function buildDemand(surface: DemandSurface, onlyGroup: string): Demand {
  const clients = surface.clients ?? onlyGroup;
  if (surface.closed !== undefined) return { kind: 'closed', clients, ...surface.closed };
  const open = surface.open;
  if (open === undefined) throw new TypeError('a demand that passed the schema is closed or open');
  return { kind: 'open', clients, ratePerSecond: open.rate, arrivals: open.arrivals, flow: open.flow };
}

function buildFault(surface: FaultSurface): Fault {
  return { at: surface.at, for: surface.for, ...buildFaultKind(surface) };
}

function buildFaultKind(surface: FaultSurface): FaultKind {
  const { kind, replica } = victimOf(surface);
  switch (kind) {
    case 'slow':
      return { kind, replica, factor: surface.slow?.factor ?? 1 };
    case 'burn':
      return { kind, replica, share: surface.burn?.share ?? 0 };
    case 'pause':
      return { kind, replica, length: surface.pause?.length ?? seconds(0) };
    default:
      return { kind, replica };
  }
}
