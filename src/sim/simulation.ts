// A simulation played like a lab: one arrangement after another in the same imagined fleet, each told in lines of the record
// as it happens. What goes in and what comes out is data, so whoever conducts a run can conduct it here or there.
//
//   const sim = new Simulation(scenario, { seed: 1 });
//   for (const line of sim.play(baselineOf(scenario))) …      ticks, events, histograms, ledgers
//   for (const line of sim.play(arrangement)) …               the same fleet, some replica stopped

import { assert, type Duration, ns, seconds } from '../base.ts';
import type { LedgerLine, RecordLine, TopologyLine } from '../record.ts';
import {
  type Arrangement,
  type Clients,
  constant,
  type Demand,
  type Fault,
  type NetworkFault,
  type Scenario,
} from '../scenario.ts';
import type { EventHandler } from './kernel.ts';
import { isEmpty } from './tally.ts';
import { clientFacts, gatewayFacts, serviceFacts, zoneFacts } from './topology-facts.ts';
import { histogramLine, Ticker } from './ticks.ts';
import { World } from './world.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Length of a tick; by default one second for each 3,400 stations or part of them, so that a record stays in bounds. */
  readonly tick?: Duration;
  /** Ticks tell of a replica only what the diagnosis lives on, and nobody keeps latencies of replicas: for parts of a large fleet. */
  readonly brief?: boolean;
}

/** Whoever plays a scenario phase by phase. */
export interface Player {
  /** Nanoseconds of imagined time so far. */
  readonly now: number;
  /** Events handled so far. */
  readonly events: number;
  /** Says what has happened so far: equal scenarios, seeds and arrangements give equal digests. */
  readonly digest: string;
  topology(): Omit<TopologyLine, 'kind' | 'at_ns'>;
  play(arrangement: Arrangement): Generator<RecordLine, void>;
}

/** A tick tells of every station: of so many a second at most. */
const stationsPerSecond = 3400;
/** How long answers may still come in after a phase has stopped asking: as in the lab. */
const grace = seconds(2);

export class Simulation implements Player {
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #tick: Duration;
  readonly #brief: boolean;
  #phases = 0;
  #slowness: Arrangement['slowness'] = {};
  #workers: Arrangement['workers'] = {};

  constructor(scenario: Scenario, options: SimulationOptions) {
    this.#scenario = scenario;
    this.#brief = options.brief ?? false;
    this.#world = new World(scenario, options.seed, this.#brief);
    this.#tick = options.tick ?? seconds(Math.ceil(this.#world.fleet.stations.length / stationsPerSecond));
    assert(this.#tick > 0, 'a tick takes time');
  }

  /** Nanoseconds of imagined time so far. */
  get now(): number {
    return this.#world.now;
  }

  /** Events handled so far. */
  get events(): number {
    return this.#world.handled;
  }

  /** Says what has happened so far: equal scenarios, seeds and arrangements give equal digests. */
  get digest(): string {
    return this.#world.digest;
  }

  /** The inside, for tests and debugging: stations with their areas, single steps, a trace of events. */
  get world(): World {
    return this.#world;
  }

  set trace(trace: EventHandler | undefined) {
    this.#world.trace = trace;
  }

  topology(): Omit<TopologyLine, 'kind' | 'at_ns'> {
    return topologyOf(this.#scenario, this.#world);
  }

  /**
   * Plays one phase: warm-up, judged part, and up to two seconds for what is still under way. Yields events and ticks in order
   * of time, at the end a histogram for each group and replica and a ledger for each group.
   * Read it to the end: what has not been asked for has not happened.
   */
  *play(arrangement: Arrangement): Generator<RecordLine, void> {
    const world = this.#world;
    const events: RecordLine[] = [];
    world.onScaling = (event, at_ns) => events.push({ kind: 'event', at_ns, ...event });
    this.#prepare(arrangement, events);
    const began = world.now;
    const measureFrom = began + arrangement.warmUp;
    this.#phases += 1;
    this.#schedule(arrangement, events);
    world.begin(demandsOf(arrangement, world), {
      policy: arrangement.policy,
      measureFrom,
      phase: this.#phases,
    });
    const ticker = new Ticker(world, this.#brief);
    for (const boundary of this.#boundaries(began, arrangement)) {
      world.run(boundary);
      yield* events.splice(0);
      yield ticker.tick(arrangement.name);
    }
    world.end(grace);
    this.#undo(arrangement, events);
    yield* events.splice(0);
    yield* this.#totals(arrangement.name);
  }

  /** Brings the fleet from how the phase before left it to how this one wants it. */
  #prepare(arrangement: Arrangement, events: RecordLine[]): void {
    const world = this.#world;
    for (const [service, wanted] of Object.entries(arrangement.replicas)) world.setReplicas(service, wanted);
    for (const id of changed(this.#slowness, arrangement.slowness)) {
      world.fleet.setSlowness(id, arrangement.slowness[id] ?? 1);
    }
    for (const id of changed(this.#workers, arrangement.workers)) {
      const station = world.fleet.station(id);
      const usual = world.fleet.siteOf(station).service.workers;
      station.setWorkers(arrangement.workers[id] ?? usual, world.now);
    }
    this.#slowness = arrangement.slowness;
    this.#workers = arrangement.workers;
    if (arrangement.policy !== undefined) world.setPolicy(arrangement.policy);
    for (const replica of arrangement.killed) {
      world.inject({ kind: 'kill', replica }, world.now);
      events.push({ kind: 'event', at_ns: world.now, event: 'replica-exited', target: replica });
    }
  }

  #undo(arrangement: Arrangement, events: RecordLine[]): void {
    const world = this.#world;
    for (const replica of arrangement.killed) {
      world.inject({ kind: 'restart', replica }, world.now);
      events.push({ kind: 'event', at_ns: world.now, event: 'replica-started', target: replica });
    }
  }

  /** What happens inside the phase: the experiment's freeze and, in the first phase, the scenario's faults. */
  #schedule(arrangement: Arrangement, events: RecordLine[]): void {
    const world = this.#world;
    const began = world.now;
    const { stopped } = arrangement;
    if (stopped !== undefined) {
      const { replica, at, for: length } = stopped;
      world.plan(began + at, (now) => {
        world.inject({ kind: 'stop', replica }, now);
        events.push({ kind: 'event', at_ns: now, event: 'replica-stopped', target: replica });
      });
      world.plan(began + at + length, (now) => {
        world.inject({ kind: 'resume', replica }, now);
        events.push({ kind: 'event', at_ns: now, event: 'replica-continued', target: replica });
      });
    }
    if (this.#phases > 1) return;
    for (const fault of arrangement.faults) this.#scheduleFault(fault, began);
    for (const fault of this.#scenario.network?.faults ?? []) this.#scheduleDisturbance(fault, began);
  }

  #scheduleDisturbance(fault: NetworkFault, began: number): void {
    const world = this.#world;
    const begin = began + fault.at;
    const act = (): void => {
      const end = world.disturb(fault);
      if (fault.for !== undefined) world.plan(begin + fault.for, end);
    };
    if (begin === world.now) act();
    else world.plan(begin, act);
  }

  #scheduleFault(fault: Fault, began: number): void {
    const world = this.#world;
    const begin = began + fault.at;
    if (begin === world.now) world.inject(fault, world.now);
    else world.plan(begin, (now) => world.inject(fault, now));
    if (fault.for === undefined) return;
    const end = begin + fault.for;
    const { replica } = fault;
    switch (fault.kind) {
      case 'slow':
        world.plan(end, (now) => world.inject({ kind: 'slow', replica, factor: 1 }, now));
        break;
      case 'burn':
        world.plan(end, (now) => world.inject({ kind: 'burn', replica, share: 0 }, now));
        break;
      case 'stop':
        world.plan(end, (now) => world.inject({ kind: 'resume', replica }, now));
        break;
      case 'kill':
        world.plan(end, (now) => world.inject({ kind: 'restart', replica }, now));
        break;
      case 'fail':
        world.plan(end, (now) => world.inject({ ...fault, share: 0 }, now));
        break;
      case 'resume':
      case 'restart':
      case 'pause':
        break;
    }
  }

  /** Ends of the ticks: those of the warm-up, its end, then those of the judged part. A sliver at an end is joined to the tick
   * before it, for it would have no statistics worth the name. */
  *#boundaries(began: number, arrangement: Arrangement): Generator<number> {
    let at = began;
    for (const end of [began + arrangement.warmUp, began + arrangement.warmUp + arrangement.duration]) {
      while (at < end) {
        at += this.#tick;
        if (end - at < this.#tick / 2) at = end;
        yield at;
      }
    }
  }

  *#totals(phase: string): Generator<RecordLine> {
    const world = this.#world;
    const at_ns = world.now;
    for (const { name, measured } of world.groups) {
      yield histogramLine(measured.latency, { at_ns, phase, of: { group: name, what: 'latency' } });
    }
    for (const station of world.fleet.stations) {
      const latency = world.books.measured[station.index]?.latency;
      if (latency === undefined || isEmpty(latency)) continue;
      yield histogramLine(latency, { at_ns, phase, of: { replica: station.id, what: 'latency' } });
    }
    for (const { name, measured } of world.groups) {
      const ledger: LedgerLine = {
        kind: 'ledger',
        at_ns,
        phase,
        group: name,
        planned: measured.planned,
        answered: measured.answered,
        failed: measured.failed,
        timed_out: measured.timedOut,
        refused: 0,
        in_flight_at_end: measured.inFlightAtEnd,
        never_sent: 0,
      };
      yield ledger;
    }
  }
}

/** Who asks in this phase: the arrangement's demand, or one closed user at each replica alone. */
function demandsOf(arrangement: Arrangement, world: World): Parameters<World['begin']>[0] {
  const clientsOf = (name: string): Clients => {
    const found = arrangement.clients.find((clients) => clients.name === name);
    assert(found !== undefined, `the group ${name} is in the topology`);
    return found;
  };
  if (!arrangement.visitAlone) {
    return arrangement.demand.map((demand) => ({ demand, clients: clientsOf(demand.clients), alone: undefined }));
  }
  const first = arrangement.demand[0];
  assert(first !== undefined, 'a scenario has a demand');
  const clients = clientsOf(first.clients);
  const demand: Demand = { kind: 'closed', clients: clients.name, users: 1, flow: first.flow, think: constant(ns(0)) };
  const site = world.fleet.sites.find((each) => each.name === clients.service);
  return (site?.stations.slice(0, site.listed) ?? []).map((station) => ({ demand, clients, alone: station.id }));
}

function changed(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): readonly string[] {
  const ids = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...ids].filter((id) => before[id] !== after[id]);
}

function topologyOf(scenario: Scenario, world: World): Omit<TopologyLine, 'kind' | 'at_ns'> {
  const { topology, demand } = scenario;
  return {
    services: world.fleet.sites.map((site) => {
      const service = topology.services.find((each) => each.name === site.name);
      return {
        name: site.name,
        role: site.role,
        replicas: site.stations.map((station) => ({
          id: station.id,
          workers: station.workers,
          ...(service?.cpuQuota === undefined ? {} : { cpu_quota: service.cpuQuota }),
          ...zoneFacts(site.service, station.place),
        })),
        ...(service === undefined ? {} : serviceFacts(service)),
      };
    }),
    ...(topology.gateway === undefined ? {} : { gateway: { program: 'plimsoll', ...gatewayFacts(topology.gateway) } }),
    clients: topology.clients.map((group) =>
      clientFacts(
        group,
        demand.find((each) => each.clients === group.name),
      ),
    ),
  };
}
