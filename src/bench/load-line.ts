// The load line: how much a service may carry so that it still floats when something is wrong. A ship is not marked for calm water,
// so the fleet is judged with one replica less, every dependency as slow as its callers will bear, and retries on.
//
//   0 ──────── λ_recover ─────────────── λ_fail ──────►  requests a second
//     floats    whatever happens          and beyond it sinks
//     always    it comes back             even in calm water
//               ◄── floats until something happens, then stays down ──►
//
//   λ_fail      the most that is served, starting empty
//   λ_recover   the most at which it is back by itself 30 s after all replicas were five times slower for 15 s; the line is drawn here
//
// Both are found by bisection on "does it work at λ?", which is a matter of chance near the edge: a rate is called safe when every one
// of twenty runs works, so that it fails in fewer than one case in seven (0.86²⁰ = 5 %), and the edge is where half of the runs do.
//
// A call without a timeout bears any slowness, so no load at all is safe then; that is said, and the line without it is drawn.

import { assert, type Duration, ns, seconds } from '../base.ts';
import {
  type Demand,
  type Dependency,
  distributionMean,
  type Fault,
  type Scenario,
  type Service,
} from '../scenario.ts';
import { figureNamed } from './figures.ts';
import { replicateAll } from './replicate-all.ts';
import { seedsFrom } from './replications.ts';

export interface Edge {
  /** Every one of the runs worked. */
  readonly safe: number;
  /** Where about half of the runs work. */
  readonly half: number;
}

export interface LoadLine {
  readonly scenario: string;
  /** What was taken to be wrong, a phrase each. */
  readonly against: readonly string[];
  /** Calls that wait for ever: with one of their dependencies stalled no load is safe. */
  readonly unbounded: readonly string[];
  readonly fail: Edge;
  readonly recover: Edge;
  /** What the scenario asks; undefined where its users are closed. */
  readonly now: number | undefined;
  /** Workers ÷ time that a request holds one, as a first guess. */
  readonly capacity: number;
  readonly runs: number;
}

export interface LoadLineOptions {
  readonly seed: number;
  readonly workers: number;
  /** So many runs must all work for a rate to be called safe; 20 by default. */
  readonly certain?: number;
}

const few = 5;
const settle = seconds(10);
const judged = seconds(20);
const triggerLength = seconds(15);
const triggerFactor = 5;
/** Recovery has this long. */
const recoveryTime = seconds(30);
/** Of the requests, so many may fail. */
const failedMax = 0.01;
/** A call that is answered just in time. */
const almost = 0.98;

/** Searches both edges. Takes some hundred imagined runs. */
export async function loadLine(scenario: Scenario, options: LoadLineOptions): Promise<LoadLine> {
  const bad = badDay(scenario);
  const capacity = capacityOf(bad);
  let runs = 0;
  const works = async (make: (rate: number) => Scenario, rate: number, count: number): Promise<number> => {
    runs += count;
    const jobs = seedsFrom(options.seed, count).map((seed) => ({ scenario: make(rate), seed }));
    const results = await replicateAll(jobs, options.workers);
    return results.filter(({ figures }) =>
      isGood(figureNamed(figures, 'failed'), figureNamed(figures, 'throughput'), rate),
    ).length;
  };
  const certain = options.certain ?? 20;
  const fail = await edgeOf(capacity * 1.2, certain, (rate, count) => works((each) => calm(bad, each), rate, count));
  const recover = await edgeOf(fail.half, certain, (rate, count) => works((each) => struck(bad, each), rate, count));
  return {
    scenario: scenario.name,
    against: againstOf(scenario),
    unbounded: unboundedCalls(scenario),
    fail,
    recover: { safe: Math.min(recover.safe, fail.safe), half: Math.min(recover.half, fail.half) },
    now: nowOf(scenario),
    capacity,
    runs,
  };
}

/** From above: the rate at which half of the runs work, then down to where all of them do. */
async function edgeOf(
  above: number,
  certain: number,
  working: (rate: number, count: number) => Promise<number>,
): Promise<Edge> {
  let high = above;
  let low = 0;
  if ((await working(high, few)) === few) low = high;
  while (high - low > 0.02 * above) {
    const middle = (low + high) / 2;
    if ((await working(middle, few)) > few / 2) low = middle;
    else high = middle;
  }
  let safe = low;
  while (safe > 0.02 * above && (await working(safe, certain)) < certain) safe -= 0.03 * above;
  return { safe: Math.max(0, safe), half: (low + high) / 2 };
}

function isGood(failed: number | undefined, throughput: number | undefined, rate: number): boolean {
  // The rate of one run strays by its own root; what is missing beyond that stands in queues that grow.
  const least = 0.98 * rate - 3 * Math.sqrt(rate / (judged / 1e9));
  return (failed ?? 1) <= failedMax && (throughput ?? 0) >= least;
}

/** The scenario on a bad day: one replica less, dependencies as slow as their callers will bear, nothing else. */
function badDay(scenario: Scenario): Scenario {
  const { topology } = scenario;
  const services = topology.services.map((service): Service => ({ ...service, replicas: fewer(service, scenario) }));
  const left = new Set(
    services.flatMap(({ name, replicas }) => Array.from({ length: replicas }, (_, index) => `${name}-${index + 1}`)),
  );
  const dependencies = topology.dependencies.map((dependency): Dependency => {
    const longest = longestCall(dependency.name, topology.services);
    if (longest === undefined) return dependency;
    return {
      ...dependency,
      workers: 65_536,
      serviceTime: { kind: 'constant', value: ns(Math.round(longest * almost)) },
    };
  });
  return {
    ...scenario,
    topology: { ...topology, services, dependencies },
    // What belongs to the fleet stays: a replica that is slow from the beginning to the end.
    faults: scenario.faults.filter(
      (fault) => fault.kind === 'slow' && fault.at === 0 && fault.for === undefined && left.has(fault.replica),
    ),
    ...calmNetwork(scenario),
    objectives: [],
  };
}

/** Links that are slow from the beginning to the end stay, too. */
const calmNetwork = ({ network }: Scenario): Pick<Scenario, 'network'> =>
  network === undefined
    ? {}
    : {
        network: {
          ...network,
          faults: network.faults.filter((fault) => fault.kind === 'link' && fault.at === 0 && fault.for === undefined),
        },
      };

const isAsked = ({ topology }: Scenario, name: string): boolean =>
  topology.clients.some(({ service }) => service === name);

const fewer = (service: Service, scenario: Scenario): number =>
  isAsked(scenario, service.name) ? Math.max(1, service.replicas - 1) : service.replicas;

function longestCall(to: string, services: readonly Service[]): number | undefined {
  const timeouts = services.flatMap(({ calls }) =>
    calls.flatMap((call) => (call.to === to && call.timeout !== undefined ? [call.timeout] : [])),
  );
  return timeouts.length === 0 ? undefined : Math.max(...timeouts);
}

function againstOf(scenario: Scenario): readonly string[] {
  const { topology } = scenario;
  const slow = topology.dependencies.filter(({ name }) => longestCall(name, topology.services) !== undefined);
  return [
    ...topology.services
      .filter((service) => fewer(service, scenario) < service.replicas)
      .map(({ name, replicas }) => `${replicas - 1} of ${replicas} replicas of ${name}`),
    ...slow.map(({ name }) => `${name} as slow as its callers will bear`),
    ...topology.clients.flatMap(({ name, retry }) =>
      retry === undefined ? [] : [`${name} ask up to ${retry.retries + 1} times`],
    ),
  ];
}

const unboundedCalls = ({ topology }: Scenario): readonly string[] =>
  topology.services.flatMap(({ name, calls }) =>
    calls.flatMap((call) => (call.timeout === undefined ? [`${name} → ${call.to}`] : [])),
  );

/** Of the service that is asked; of several, the least. */
function capacityOf(scenario: Scenario): number {
  const { services, dependencies } = scenario.topology;
  const meanOf = (name: string): number => {
    const dependency = dependencies.find((each) => each.name === name);
    const service = services.find((each) => each.name === name);
    const own = dependency ?? service;
    return own === undefined ? 0 : distributionMean(own.serviceTime);
  };
  const capacities = services
    .filter(({ name }) => isAsked(scenario, name))
    .map((service) => {
      const held =
        distributionMean(service.serviceTime) +
        distributionMean(service.cpuTime) +
        service.calls.reduce((sum, call) => sum + meanOf(call.to), 0);
      return (service.replicas * service.workers * 1e9) / held;
    });
  assert(capacities.length > 0, 'clients ask a service');
  return Math.min(...capacities);
}

/** The rate, shared as the scenario's demand is, starting empty. */
function calm(scenario: Scenario, rate: number): Scenario {
  return { ...scenario, demand: openAt(scenario, rate), warmUp: settle, duration: judged };
}

/** The same after all replicas have been slow for a while. */
function struck(scenario: Scenario, rate: number): Scenario {
  const slow = scenario.topology.services
    .filter(({ name }) => isAsked(scenario, name))
    .flatMap(({ name, replicas }) =>
      Array.from({ length: replicas }, (_, index): Fault => {
        const replica = `${name}-${index + 1}`;
        return { at: settle, for: triggerLength, kind: 'slow', replica, factor: triggerFactor };
      }),
    );
  const warmUp = (settle + triggerLength + recoveryTime) as Duration;
  return { ...scenario, demand: openAt(scenario, rate), faults: slow, warmUp, duration: judged };
}

function openAt(scenario: Scenario, rate: number): readonly Demand[] {
  const size = (demand: Demand): number => (demand.kind === 'closed' ? demand.users : demand.ratePerSecond);
  const whole = scenario.demand.reduce((sum, demand) => sum + size(demand), 0);
  return scenario.demand.map((demand) => ({
    kind: 'open',
    clients: demand.clients,
    ratePerSecond: (rate * size(demand)) / whole,
    arrivals: 'poisson',
    flow: demand.flow,
  }));
}

function nowOf({ demand }: Scenario): number | undefined {
  const rates = demand.flatMap((each) => (each.kind === 'open' ? [each.ratePerSecond] : []));
  return rates.length < demand.length ? undefined : rates.reduce((sum, rate) => sum + rate, 0);
}
