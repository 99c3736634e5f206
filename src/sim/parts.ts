// A large scenario in independent parts, played one after the other. Services that do not call each other and are asked by different
// clients never meet: each has its own place in every load balancer. So two thousand of them may be imagined one by one, each
// small enough to stay in the processor's cache, and put together afterwards: the same picture as at once, at a fifth of the time.
//
//   part 1   ├ tick ┼ tick ┼ tick ┤
//   part 2   ├ tick ┼ tick ┼ tick ┤        all from one clock, so tick n of the whole is tick n of every part
//   …
//
// Each part draws from a seed of its own, made from the run's seed and the part's name.

import { assert, dice, type Duration, seconds } from '../base.ts';
import type { GatewayTick, RecordLine, TickLine, TopologyLine } from '../record.ts';
import type { Arrangement, Scenario } from '../scenario.ts';
import { type Player, Simulation, type SimulationOptions } from './simulation.ts';

/** From so many replicas on a scenario is played in parts, where it has any. */
const largeFleet = 2000;
/** A tick tells of every replica: of so many for each second of its length. */
const replicasPerSecond = 3400;

/** Plays a scenario, in parts where that is worth while. */
export function simulationOf(scenario: Scenario, options: SimulationOptions): Player {
  const replicas = scenario.topology.services.reduce((sum, service) => sum + service.replicas, 0);
  const parts = replicas < largeFleet ? [] : partsOf(scenario);
  return parts.length < 2 ? new Simulation(scenario, options) : new Parts(scenario, parts, options);
}

/** The scenario cut where nothing connects it: one for each group of services that clients or calls hold together. */
export function partsOf(scenario: Scenario): readonly Scenario[] {
  const { topology } = scenario;
  const root = new Map<string, string>();
  const find = (name: string): string => {
    const above = root.get(name) ?? name;
    return above === name ? name : find(above);
  };
  for (const { name, calls } of topology.services) for (const { to } of calls) root.set(find(to), find(name));
  const firstService = new Map<string, string>();
  for (const { name, service } of topology.clients) {
    const before = firstService.get(name);
    if (before !== undefined) root.set(find(service), find(before));
    firstService.set(name, service);
  }
  const parts = new Map<string, Part>();
  const holding = (service: string): Part => {
    const key = find(service);
    const known = parts.get(key) ?? { services: [], dependencies: [], clients: [], demand: [] };
    parts.set(key, known);
    return known;
  };
  for (const service of topology.services) holding(service.name).services.push(service);
  for (const dependency of topology.dependencies) holding(dependency.name).dependencies.push(dependency);
  for (const clients of topology.clients) holding(clients.service).clients.push(clients);
  for (const demand of scenario.demand) holding(firstService.get(demand.clients) ?? '').demand.push(demand);
  return [...parts.values()]
    .filter(({ demand }) => demand.length > 0)
    .map(({ demand, ...own }): Scenario => {
      const ids = new Set(own.services.map(({ name }) => name));
      return {
        ...scenario,
        topology: { ...topology, ...own },
        demand,
        faults: scenario.faults.filter(({ replica }) => ids.has(serviceOf(replica))),
      };
    });
}

interface Part {
  readonly services: Scenario['topology']['services'][number][];
  readonly dependencies: Scenario['topology']['dependencies'][number][];
  readonly clients: Scenario['topology']['clients'][number][];
  readonly demand: Scenario['demand'][number][];
}

const serviceOf = (replica: string): string => replica.replace(/-\d+$/, '');

class Parts implements Player {
  readonly #parts: readonly { readonly scenario: Scenario; readonly simulation: Simulation }[];
  readonly #whole: Scenario;

  constructor(whole: Scenario, parts: readonly Scenario[], { seed, tick }: SimulationOptions) {
    const replicas = whole.topology.services.reduce((sum, service) => sum + service.replicas, 0);
    const length: Duration = tick ?? seconds(Math.ceil(replicas / replicasPerSecond));
    this.#whole = whole;
    this.#parts = parts.map((scenario) => {
      const name = scenario.topology.services[0]?.name ?? '';
      const own = dice(seed, `part/${name}`).below(2 ** 31);
      return { scenario, simulation: new Simulation(scenario, { seed: own, tick: length, brief: true }) };
    });
  }

  get now(): number {
    return this.#parts[0]?.simulation.now ?? 0;
  }

  get events(): number {
    return this.#parts.reduce((sum, { simulation }) => sum + simulation.events, 0);
  }

  get digest(): string {
    const hash = this.#parts.reduce(
      (sum, { simulation }) => Math.imul(sum ^ Number.parseInt(simulation.digest, 16), 0x01000193),
      0x811c9dc5,
    );
    return (hash >>> 0).toString(16).padStart(8, '0');
  }

  topology(): Omit<TopologyLine, 'kind' | 'at_ns'> {
    const all = this.#parts.map(({ simulation }) => simulation.topology());
    const gateway = all[0]?.gateway;
    return {
      services: all.flatMap(({ services }) => services),
      ...(gateway === undefined ? {} : { gateway }),
      clients: all.flatMap(({ clients }) => clients),
    };
  }

  /** As of a simulation; but everything is told when all parts are over. */
  *play(arrangement: Arrangement): Generator<RecordLine, void> {
    const ticks: TickLine[][] = [];
    const before: RecordLine[] = [];
    const after: RecordLine[] = [];
    let end = 0;
    for (const { scenario, simulation } of this.#parts) {
      let place = 0;
      for (const line of simulation.play(partOf(arrangement, scenario))) {
        if (line.kind === 'tick') (ticks[place++] ??= []).push(line);
        else if (line.kind === 'event') before.push(line);
        else after.push(line);
      }
      end = Math.max(end, simulation.now);
    }
    // What comes late in one part keeps all of them from the next phase.
    for (const { simulation } of this.#parts) simulation.world.run(end);
    yield* before.toSorted((one, other) => ('at_ns' in one ? one.at_ns : 0) - ('at_ns' in other ? other.at_ns : 0));
    for (const parts of ticks) yield together(parts);
    for (const line of after) yield 'at_ns' in line ? { ...line, at_ns: end } : line;
    assert(this.#whole.topology.services.length > 0, 'a scenario has services');
  }
}

/** What of an arrangement concerns one part. */
function partOf(arrangement: Arrangement, { topology, demand }: Scenario): Arrangement {
  const services = new Set(topology.services.map(({ name }) => name));
  const groups = new Set(demand.map(({ clients }) => clients));
  const isOwn = (replica: string): boolean => services.has(serviceOf(replica));
  const own = <Value>(
    values: Readonly<Record<string, Value>>,
    holds: (key: string) => boolean,
  ): Record<string, Value> => Object.fromEntries(Object.entries(values).filter(([key]) => holds(key)));
  return {
    ...arrangement,
    demand: arrangement.demand.filter(({ clients }) => groups.has(clients)),
    clients: arrangement.clients.filter(({ name }) => groups.has(name)),
    faults: arrangement.faults.filter(({ replica }) => isOwn(replica)),
    replicas: own(arrangement.replicas, (name) => services.has(name)),
    slowness: own(arrangement.slowness, isOwn),
    workers: own(arrangement.workers, isOwn),
    stopped: arrangement.stopped !== undefined && isOwn(arrangement.stopped.replica) ? arrangement.stopped : undefined,
    killed: arrangement.killed.filter(isOwn),
  };
}

/** The same second of every part. */
function together(parts: readonly TickLine[]): TickLine {
  const [first] = parts;
  assert(first !== undefined, 'a tick belongs to a part');
  const gateways = parts.flatMap(({ gateway }) => gateway ?? []);
  return {
    ...first,
    replicas: parts.flatMap(({ replicas }) => replicas),
    clients: parts.flatMap(({ clients }) => clients),
    ...(gateways.length === 0 ? {} : { gateway: gatewayOf(gateways) }),
  };
}

function gatewayOf(gateways: readonly GatewayTick[]): GatewayTick {
  const total = (of: (tick: GatewayTick) => number | undefined): number =>
    gateways.reduce((sum, tick) => sum + (of(tick) ?? 0), 0);
  const errors = new Map<string, number>();
  for (const tick of gateways) {
    for (const [kind, count] of Object.entries(tick.errors ?? {})) errors.set(kind, (errors.get(kind) ?? 0) + count);
  }
  const has = (of: (tick: GatewayTick) => number | undefined): boolean =>
    gateways.some((tick) => of(tick) !== undefined);
  return {
    requests: total(({ requests }) => requests),
    ...(has(({ retries }) => retries) ? { retries: total(({ retries }) => retries) } : {}),
    ...(errors.size === 0 ? {} : { errors: Object.fromEntries(errors) }),
    in_flight_mean: total(({ in_flight_mean: inFlight }) => inFlight),
    healthy: total(({ healthy }) => healthy),
    total: total(({ total: all }) => all),
    ...(has(({ ejections }) => ejections) ? { ejections: total(({ ejections }) => ejections) } : {}),
  };
}
