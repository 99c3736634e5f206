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
// Both are found by bisection on "does it work at λ?", which is a matter of chance near the edge: the edge is where half of the runs
// do, and a rate is called safe when every one of twenty runs works, so that it fails in fewer than one case in seven (0.86²⁰ = 5 %).
// A run works when of what was asked at most one in a hundred failed, and at most one in a hundred was left behind: a queue
// that grows is found by that, long before anybody in it times out.
//
// A call without a timeout bears any slowness, so no load at all is safe then; that is said, and the line without it is drawn.
//
// Of a scenario that consists of many copies of one service one copy is searched: they share nothing.

import { assert, type Duration, ns, seconds } from '../base.ts';
import {
  type Demand,
  type Dependency,
  distributionMean,
  type Fault,
  oneCopyOf,
  type Scenario,
  type Service,
} from '../scenario.ts';
import { figureNamed } from './figures.ts';
import { ReplicationPool } from './replicate-all.ts';
import { leftBehind, type Replication, seedsFrom } from './replications.ts';

export interface Edge {
  /** Every one of the runs worked. Undefined when the search was stopped before. */
  readonly safe: number | undefined;
  /** Where about half of the runs work. */
  readonly half: number;
  /** The edge lies between these. */
  readonly low: number;
  readonly high: number;
}

export interface LoadLine {
  readonly scenario: string;
  /** What was taken to be wrong, a phrase each. */
  readonly against: readonly string[];
  /** Calls that wait for ever: with one of their dependencies stalled no load is safe. */
  readonly unbounded: readonly string[];
  readonly fail: Edge;
  /** Undefined when the search was stopped before it began. */
  readonly recover: Edge | undefined;
  /** What the scenario asks; undefined where its users are closed. */
  readonly now: number | undefined;
  /** Workers ÷ time that a request holds one, or what its processors can do where that is less, as a first guess. */
  readonly capacity: number;
  readonly runs: number;
  /** So many runs in a row are called safe. */
  readonly certain: number;
  /** Of so many equal services, all together. */
  readonly copies: number;
}

export interface LoadLineOptions {
  readonly seed: number;
  readonly workers: number;
  /** So many runs must all work for a rate to be called safe; 20 by default. */
  readonly certain?: number;
  /** Aborted: what has been found is told. */
  readonly stop?: AbortSignal;
  readonly onProgress?: (progress: LoadLineProgress) => void;
}

export interface LoadLineProgress {
  readonly edge: 'fail' | 'recover';
  /** Where the edge lies, as far as is known, of one copy. */
  readonly low: number;
  readonly high: number;
  readonly runs: number;
}

const few = 5;
const settle = seconds(10);
const judged = seconds(20);
const triggerLength = seconds(15);
const triggerFactor = 5;
/** Recovery has this long. */
const recoveryTime = seconds(30);
/** Of the requests, so many may fail, and as many be left behind. */
const failedMax = 0.01;
/** A call that is answered just in time: of its timeout, and of the time that its messages take on average, so much. */
const almost = 0.98;
const wayFactor = 2;
/** The search ends when the edge is known to this part of it, or of where it began. */
const precision = 0.02;
const precisionOfAll = 0.002;
/** From a rate that is not safe to the next below it. */
const step = 0.97;

/** Searches both edges. Takes some hundred imagined runs. Rejects when it is stopped before anything is found. */
export async function loadLine(scenario: Scenario, options: LoadLineOptions): Promise<LoadLine> {
  const { scenario: one, of: copies } = oneCopyOf(scenario);
  const bad = badDay(one);
  const capacity = capacityOf(bad);
  const { seed, certain = 20, stop } = options;
  const pool = new ReplicationPool({ workers: options.workers, stop });
  const searchFor = (edge: LoadLineProgress['edge'], make: (rate: number) => Scenario, above: number): Search => ({
    above,
    certain,
    works: async (rate, from, count) => {
      const seeds = seedsFrom(seed + from, count);
      const runs = await pool.run(seeds.map((each) => ({ scenario: make(rate), seed: each })));
      return runs.filter((run) => isGood(run, rate, bad)).length;
    },
    tell: (low, high) => options.onProgress?.({ edge, low, high, runs: pool.finished }),
    stop,
  });
  try {
    const fail = await edgeOf(searchFor('fail', (rate) => calm(bad, rate), capacity * 1.2));
    if (fail === undefined) throw stop?.reason;
    const recover =
      stop?.aborted === true ? undefined : await edgeOf(searchFor('recover', (rate) => struck(bad, rate), fail.half));
    return {
      scenario: scenario.name,
      against: againstOf(one, copies),
      unbounded: unboundedCalls(one),
      fail: scaled(fail, copies),
      recover: recover === undefined ? undefined : scaled(notAbove(recover, fail), copies),
      now: nowOf(scenario),
      capacity: capacity * copies,
      runs: pool.finished,
      certain,
      copies,
    };
  } finally {
    await pool.close();
  }
}

interface Search {
  /** The edge lies below this, or as good as there. */
  readonly above: number;
  readonly certain: number;
  /** Of so many runs from this one on: how many work at a rate. */
  readonly works: (rate: number, from: number, count: number) => Promise<number>;
  readonly tell: (low: number, high: number) => void;
  readonly stop: AbortSignal | undefined;
}

/** From above: the rate at which half of the runs work, then down to where all of them do. Undefined when it was stopped before
 * anything was known of it. */
async function edgeOf(search: Search): Promise<Edge | undefined> {
  const { above, stop } = search;
  let high = above;
  let low = 0;
  try {
    if ((await search.works(high, 0, few)) === few) low = high;
    while (high - low > Math.max(precision * high, precisionOfAll * above)) {
      const middle = (low + high) / 2;
      if ((await search.works(middle, 0, few)) > few / 2) low = middle;
      else high = middle;
      search.tell(low, high);
    }
    return { low, high, half: (low + high) / 2, safe: await safeBelow(search, low) };
  } catch (error) {
    if (stop?.aborted !== true) throw error;
    return low === 0 && high === above ? undefined : { low, high, half: (low + high) / 2, safe: undefined };
  }
}

async function safeBelow(search: Search, low: number): Promise<number> {
  let rate = low;
  while (rate > precisionOfAll * search.above && !(await isSafe(search, rate))) {
    rate *= step;
    search.tell(0, rate);
  }
  return rate > precisionOfAll * search.above ? rate : 0;
}

/** Some at a time: the first that does not work is enough. */
async function isSafe({ works, certain }: Search, rate: number): Promise<boolean> {
  for (let from = 0; from < certain; from += few) {
    const count = Math.min(few, certain - from);
    if ((await works(rate, from, count)) < count) return false;
  }
  return true;
}

function isGood({ figures }: Replication, rate: number, bad: Scenario): boolean {
  const asked = rate * (judged / 1e9);
  // What is in flight comes and goes by the root of it.
  const inFlight = 3 * Math.sqrt(2 * bad.topology.services.reduce((sum, one) => sum + one.replicas * one.workers, 0));
  const left = (figureNamed(figures, leftBehind) ?? 1) * asked;
  return (figureNamed(figures, 'failed') ?? 1) <= failedMax && left <= failedMax * asked + inFlight;
}

/** Nothing comes back at a rate that cannot be served. */
function notAbove(edge: Edge, most: Edge): Edge {
  return {
    safe: edge.safe === undefined ? undefined : Math.min(edge.safe, most.safe ?? most.low),
    half: Math.min(edge.half, most.half),
    low: Math.min(edge.low, most.low),
    high: Math.min(edge.high, most.high),
  };
}

const scaled = ({ safe, half, low, high }: Edge, by: number): Edge => ({
  safe: safe === undefined ? undefined : safe * by,
  half: half * by,
  low: low * by,
  high: high * by,
});

/** The scenario on a bad day: one replica less, dependencies as slow as their callers will bear, nothing else. */
function badDay(scenario: Scenario): Scenario {
  const { topology } = scenario;
  const services = topology.services.map((service): Service => ({
    ...service,
    replicas: fewer(service, scenario),
    autoscale: undefined,
  }));
  const left = new Set(
    services.flatMap(({ name, replicas }) => Array.from({ length: replicas }, (_, index) => `${name}-${index + 1}`)),
  );
  const dependencies = topology.dependencies.map((dependency): Dependency => {
    const longest = longestCall(dependency.name, topology.services);
    if (longest === undefined) return dependency;
    return {
      ...dependency,
      workers: 65_536,
      serviceTime: { kind: 'constant', value: ns(Math.max(0, Math.round(longest * almost - onTheWay(scenario)))) },
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

/** There and back, at its slowest. */
const onTheWay = ({ network }: Scenario): number =>
  network === undefined ? 0 : wayFactor * 2 * distributionMean(network.betweenZones ?? network.delay);

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

function againstOf(scenario: Scenario, copies: number): readonly string[] {
  const { topology } = scenario;
  const each = copies === 1 ? '' : `, in each of ${copies} services`;
  const slow = topology.dependencies.filter(({ name }) => longestCall(name, topology.services) !== undefined);
  return [
    ...topology.services
      .filter((service) => fewer(service, scenario) < service.replicas)
      .map(({ name, replicas }) => `${replicas - 1} of ${replicas} replicas of ${name}${each}`),
    ...topology.services.flatMap(({ name, autoscale }) =>
      autoscale === undefined ? [] : [`no replica of ${name} that comes later`],
    ),
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
      const processor = distributionMean(service.cpuTime);
      const held =
        distributionMean(service.serviceTime) +
        processor +
        service.calls.reduce((sum, call) => sum + meanOf(call.to), 0);
      const cores = service.cores ?? 1;
      const byProcessor = processor === 0 ? Infinity : Math.min(cores, service.cpuQuota ?? cores) / processor;
      return service.replicas * 1e9 * Math.min(service.workers / held, byProcessor);
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
