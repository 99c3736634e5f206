// The real world in small: the lab's processes and the load room's sockets, played phase by phase.
//
//   each second:   load.snapshot() ─┐
//                  lab.scrape() ────┴─► one tick
//
// What an operator could see goes into the record; which fault was injected does not.

import { type Duration, inMs, inSeconds, seconds } from '../base.ts';
import type { Lab, LabReplica, LabScrape } from '../lab.ts';
import {
  type HeldGroup,
  type LoadGroup,
  type LoadRun,
  type LoadTarget,
  type ObjectiveResult,
  startLoad,
} from '../load.ts';
import type { Engine } from '../net.ts';
import type { RecordLine, TopologyLine } from '../record.ts';
import { type Arrangement, type Clients, constant, type Demand, type Fault, type Scenario } from '../scenario.ts';
import { clientFacts, gatewayFacts, serviceFacts, zoneFacts } from '../sim.ts';
import { tickFrom } from './tick.ts';
import type { PhaseOutcome, World } from './world.ts';

export interface LabWorldOptions {
  readonly scenario: Scenario;
  readonly lab: Lab;
  readonly engine: Engine;
  readonly seed: number;
  readonly now: () => number;
}

/** How long answers may still come in after a phase has stopped asking. */
const grace = seconds(2);
const scrapeTimeout = seconds(0.4);

export function labWorld(options: LabWorldOptions): World {
  const { scenario, lab, engine, now } = options;
  let current = { slowness: {} as Readonly<Record<string, number>>, workers: {} as Readonly<Record<string, number>> };
  let policy = scenario.topology.gateway?.policy;
  let phases = 0;
  let faultsBegun = false;

  return {
    name: 'lab',
    programs: programsOf(lab),
    available: availableIn(scenario),
    topology: () => topologyOf(scenario, lab),
    now,
    close: () => lab.close(),

    async play(arrangement, tell, stop) {
      phases += 1;
      await prepare(arrangement);
      const groups = await groupsFor(arrangement);
      const log = await lab.logTo(arrangement.name);
      const held = await heldConnections(arrangement);
      const load = startLoad(
        {
          groups,
          seed: options.seed + phases,
          objectives: scenario.objectives,
          ...(held.length === 0 ? {} : { held }),
        },
        engine,
      );
      const timers = schedule(arrangement, tell);
      // Experiments bring about what objectives forbid: only the baseline is ended by one.
      const mayAbort = phases === 1;
      let broken: readonly ObjectiveResult[];
      try {
        broken = await watch({ arrangement, load, tell, stop, mayAbort });
      } finally {
        timers.cancel();
      }
      const result = await load.stop(stop.aborted ? seconds(0) : grace);
      await undo(arrangement, tell);
      if (log !== undefined) await lab.saveStatistics(arrangement.name);
      const at_ns = now();
      for (const histogram of result.histograms) {
        tell({ kind: 'histogram', at_ns, phase: arrangement.name, ...histogram });
      }
      for (const ledger of result.ledgers) tell({ kind: 'ledger', at_ns, phase: arrangement.name, ...ledger });
      for (const limit of result.limits) tell({ kind: 'event', at_ns, event: 'limit-reached', detail: limit });
      return { objectives: result.objectives, limits: result.limits, broken } satisfies PhaseOutcome;
    },
  };

  /** Brings the fleet from how the phase before left it to how this one wants it. */
  async function prepare(arrangement: Arrangement): Promise<void> {
    for (const [service, wanted] of Object.entries(arrangement.replicas)) {
      const missing = wanted - lab.replicas.filter((replica) => replica.service === service).length;
      if (missing > 0) await lab.addReplicas(service, missing);
    }
    for (const id of changed(current.slowness, arrangement.slowness)) {
      await lab.setSlowness(id, arrangement.slowness[id] ?? 1);
    }
    for (const id of changed(current.workers, arrangement.workers)) {
      const usual = lab.replicas.find((replica) => replica.id === id)?.workers ?? 1;
      await lab.setWorkers(id, arrangement.workers[id] ?? usual);
    }
    current = { slowness: arrangement.slowness, workers: arrangement.workers };
    if (arrangement.policy !== undefined && arrangement.policy !== policy) {
      await lab.setPolicy(arrangement.policy);
      policy = arrangement.policy;
    }
    for (const replica of arrangement.killed) await lab.inject({ kind: 'kill', replica });
  }

  async function undo(arrangement: Arrangement, tell: (line: RecordLine) => void): Promise<void> {
    if (arrangement.stopped !== undefined) await lab.inject({ kind: 'resume', replica: arrangement.stopped.replica });
    for (const replica of arrangement.killed) {
      await lab.inject({ kind: 'restart', replica });
      tell({ kind: 'event', at_ns: now(), event: 'replica-started', target: replica });
    }
  }

  /** Timers for what happens inside the phase: the experiment's freeze and, in the baseline, the scenario's faults. */
  function schedule(arrangement: Arrangement, tell: (line: RecordLine) => void): { cancel(): void } {
    const timers: NodeJS.Timeout[] = [];
    const at = (when: Duration, act: () => Promise<void>): void => {
      const run = (): void => {
        act().catch((error: unknown) => {
          tell({ kind: 'event', at_ns: now(), event: 'lab-failed', detail: String(error) });
        });
      };
      timers.push(setTimeout(run, inMs(when)));
    };
    const stopped = arrangement.stopped;
    if (stopped !== undefined) {
      at(stopped.at, async () => {
        await lab.inject({ kind: 'stop', replica: stopped.replica });
        tell({ kind: 'event', at_ns: now(), event: 'replica-stopped', target: stopped.replica });
      });
      at((stopped.at + stopped.for) as Duration, async () => {
        await lab.inject({ kind: 'resume', replica: stopped.replica });
        tell({ kind: 'event', at_ns: now(), event: 'replica-continued', target: stopped.replica });
      });
    }
    if (!faultsBegun) {
      faultsBegun = true;
      for (const fault of arrangement.faults) scheduleFault(fault, at);
    }
    return { cancel: () => timers.forEach((timer) => clearTimeout(timer)) };
  }

  function scheduleFault(fault: Fault, at: (when: Duration, act: () => Promise<void>) => void): void {
    at(fault.at, () => lab.inject(fault));
    if (fault.for === undefined) return;
    const end = (fault.at + fault.for) as Duration;
    switch (fault.kind) {
      case 'slow':
        at(end, () => lab.inject({ kind: 'slow', replica: fault.replica, factor: 1 }));
        break;
      case 'stop':
        at(end, () => lab.inject({ kind: 'resume', replica: fault.replica }));
        break;
      case 'kill':
        at(end, () => lab.inject({ kind: 'restart', replica: fault.replica }));
        break;
      case 'burn':
        at(end, () => lab.inject({ kind: 'burn', replica: fault.replica, share: 0 }));
        break;
      case 'fail':
        at(end, () => lab.inject({ ...fault, share: 0 }));
        break;
      case 'resume':
      case 'restart':
      case 'pause':
        break;
    }
  }

  async function groupsFor(arrangement: Arrangement): Promise<LoadGroup[]> {
    if (arrangement.visitAlone) return visits(arrangement);
    const groups: LoadGroup[] = [];
    for (const demand of arrangement.demand) {
      const clients = arrangement.clients.find((one) => one.name === demand.clients);
      if (clients === undefined) continue;
      const targets = await targetsFor(clients);
      groups.push({ ...asTheyAsk(clients), demand, targets });
    }
    return groups;
  }

  /** The connections that are held beside the requests. */
  async function heldConnections({ clients, visitAlone }: Arrangement): Promise<HeldGroup[]> {
    if (visitAlone) return [];
    const groups: HeldGroup[] = [];
    for (const { clients: name, held, newPerSecond, openingPerSecond } of scenario.connections ?? []) {
      const group = clients.find((one) => one.name === name);
      if (group === undefined) continue;
      groups.push({
        group: name,
        targets: await targetsFor(group),
        held,
        rampPerSecond: openingPerSecond,
        ...(newPerSecond === undefined ? {} : { newPerSecond }),
      });
    }
    return groups;
  }

  /** One closed user at each replica, with no balancer in between. */
  function visits(arrangement: Arrangement): LoadGroup[] {
    const first = arrangement.demand[0];
    const clients = arrangement.clients.find((one) => one.name === first?.clients);
    if (first === undefined || clients === undefined) return [];
    return lab.replicas
      .filter((replica) => replica.service === clients.service)
      .map((replica) => ({
        ...asTheyAsk(clients),
        group: `visit ${replica.id}`,
        demand: {
          kind: 'closed',
          clients: clients.name,
          users: 1,
          flow: first.flow,
          think: constant(seconds(0)),
        } satisfies Demand,
        targets: [{ id: replica.id, host: replica.host, port: replica.port }],
      }));
  }

  async function targetsFor(clients: Clients): Promise<LoadTarget[]> {
    if (clients.via === 'registry') {
      return nearOf(clients).map((replica) => ({ id: replica.id, host: replica.host, port: replica.port }));
    }
    const proxy = clients.via === 'forwarder' ? await lab.forwarder() : lab.gateway;
    return proxy === undefined ? [] : [{ id: clients.via, host: proxy.host, port: proxy.port }];
  }

  /** The replicas in the clients' zone; all of them where there is none, or none in it. */
  function nearOf({ service, zone }: Clients): readonly LabReplica[] {
    const all = lab.replicas.filter((replica) => replica.service === service);
    const zones = scenario.topology.services.find(({ name }) => name === service)?.zones;
    const near = zones === undefined ? [] : all.filter((_, place) => zones[place % zones.length] === zone);
    return near.length === 0 ? all : near;
  }

  /** One tick a second until the phase is over, or an objective ends it: then those that do not hold are returned. The tick that
   * `measure` begins with is the first that counts. */
  async function watch(phase: {
    readonly arrangement: Arrangement;
    readonly load: LoadRun;
    readonly tell: (line: RecordLine) => void;
    readonly stop: AbortSignal;
    readonly mayAbort: boolean;
  }): Promise<readonly ObjectiveResult[]> {
    const { arrangement, load, tell, stop } = phase;
    const began = now();
    const end = began + arrangement.warmUp + arrangement.duration;
    let scrapedAt = began;
    let before: LabScrape = await lab.scrape(scrapeTimeout);
    let measuring = false;
    let tickFromNs = began;
    load.snapshot();
    for (const boundary of boundaries(began, arrangement)) {
      await pause(boundary - now(), stop);
      const at = now();
      const snapshot = load.snapshot();
      const judged = measuring;
      if (!measuring && boundary >= began + arrangement.warmUp) {
        measuring = true;
        load.measure();
      }
      const scrape = await lab.scrape(scrapeTimeout);
      tell(
        tickFrom({
          phase: arrangement.name,
          at_ns: tickFromNs,
          span_ns: at - tickFromNs,
          snapshot,
          before,
          after: scrape,
          scrapedBefore: scrapedAt,
          scrapedAfter: at,
        }),
      );
      scrapedAt = at;
      before = scrape;
      tickFromNs = at;
      if (phase.mayAbort && judged && snapshot.broken !== undefined) {
        for (const { metric, expression } of snapshot.broken) {
          tell({ kind: 'event', at_ns: at, event: 'objective-broken', detail: `${metric} ${expression}` });
        }
        return snapshot.broken;
      }
      if (stop.aborted || boundary >= end) break;
    }
    return [];
  }
}

/** How the clients of a group choose, wait, ask again and keep their connections. */
const asTheyAsk = (clients: Clients): Omit<LoadGroup, 'demand' | 'targets'> => ({
  group: clients.name,
  choice: clients.choice,
  timeout: clients.timeout,
  ...(clients.retry === undefined ? {} : { retry: clients.retry }),
  ...(clients.pinned === undefined ? {} : { pinned: clients.pinned }),
  ...(clients.keepAlive === undefined ? {} : { keepAlive: clients.keepAlive }),
});

/** Ends of the ticks: the warm-up's seconds, its end, then whole seconds of the measured part. */
function* boundaries(began: number, arrangement: Arrangement): Generator<number> {
  const second = seconds(1);
  const measured = began + arrangement.warmUp;
  const end = measured + arrangement.duration;
  let at = began;
  while (at < measured) {
    at = Math.min(at + second, measured);
    // A sliver of a tick would have no statistics worth the name.
    if (measured - at < second / 2) at = measured;
    yield at;
  }
  while (at < end) {
    at = Math.min(at + second, end);
    if (end - at < second / 2) at = end;
    yield at;
  }
}

function pause(distanceNs: number, stop: AbortSignal): Promise<void> {
  if (distanceNs <= 0 || stop.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, distanceNs / 1e6);
    function done(): void {
      clearTimeout(timer);
      stop.removeEventListener('abort', done);
      resolve();
    }
    stop.addEventListener('abort', done);
  });
}

function changed(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): readonly string[] {
  const ids = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...ids].filter((id) => before[id] !== after[id]);
}

function programsOf(lab: Lab): Readonly<Record<string, string>> {
  return lab.gateway === undefined ? {} : { [lab.gateway.program]: lab.gateway.version };
}

function availableIn(scenario: Scenario): World['available'] {
  const registry = scenario.topology.clients.some((clients) => clients.via === 'registry');
  const gateway = scenario.topology.gateway !== undefined;
  return [
    'stop-replica',
    'open-loop',
    ...(gateway ? (['swap-policy'] as const) : []),
    'slow-another',
    'kill-suspect',
    'scale-out',
    'scale-up',
    ...(registry ? (['random-choice', 'through-forwarder'] as const) : []),
    'less-load',
    'visit-alone',
  ];
}

function topologyOf(scenario: Scenario, lab: Lab): Omit<TopologyLine, 'kind' | 'at_ns'> {
  const { topology, demand } = scenario;
  return {
    services: [
      ...topology.services.map((service) => ({
        name: service.name,
        role: 'service' as const,
        replicas: replicasOf(lab, service.name).map((replica, place) => ({
          ...replicaFacts(replica),
          ...zoneFacts(service, place),
        })),
        ...serviceFacts(service),
      })),
      ...topology.dependencies.map((dependency) => ({
        name: dependency.name,
        role: 'dependency' as const,
        replicas: replicasOf(lab, dependency.name).map(replicaFacts),
      })),
    ],
    ...(lab.gateway === undefined || topology.gateway === undefined
      ? {}
      : {
          gateway: {
            program: lab.gateway.program,
            version: lab.gateway.version,
            ...gatewayFacts(topology.gateway),
          },
        }),
    clients: topology.clients.map((group) =>
      clientFacts(
        group,
        demand.find((one) => one.clients === group.name),
      ),
    ),
  };
}

const replicasOf = (lab: Lab, service: string): readonly LabReplica[] =>
  lab.replicas.filter((replica) => replica.service === service);

function replicaFacts(replica: LabReplica): TopologyLine['services'][number]['replicas'][number] {
  return {
    id: replica.id,
    address: `${replica.host}:${replica.port}`,
    workers: replica.workers,
    ...(replica.cpuQuota === undefined ? {} : { cpu_quota: replica.cpuQuota }),
  };
}

/** How long a whole run of these phases takes, for the progress display. */
export function lengthOf(arrangements: readonly Arrangement[]): number {
  return arrangements.reduce((sum, one) => sum + inSeconds(one.warmUp) + inSeconds(one.duration), 0);
}
