// What could be changed about a fleet, one thing at a time: each change is a sentence and a new scenario, or why it cannot be made.

import { type Duration, formatDuration, ns } from '../../base.ts';
import {
  type Call,
  type Clients,
  constant,
  type Distribution,
  type Network,
  type PolicyName,
  type Scenario,
  type Service,
} from '../../scenario.ts';

export type Change =
  | { readonly kind: 'policy'; readonly policy: PolicyName }
  | { readonly kind: 'retry-budget'; readonly share: number }
  | { readonly kind: 'retries'; readonly retries: number }
  | { readonly kind: 'back-off'; readonly backOff: Duration }
  | { readonly kind: 'users'; readonly users: number }
  | { readonly kind: 'think'; readonly think: Duration }
  | { readonly kind: 'rate'; readonly ratePerSecond: number }
  | { readonly kind: 'replicas'; readonly replicas: number }
  | { readonly kind: 'workers'; readonly workers: number }
  | { readonly kind: 'queue-limit'; readonly limit: number }
  | { readonly kind: 'drop-abandoned' }
  | { readonly kind: 'timeout'; readonly timeout: Duration }
  | { readonly kind: 'call-timeout'; readonly timeout: Duration }
  /** Health checks are answered without a worker. */
  | { readonly kind: 'health-pool' }
  /** So many times as fast: what a request needs of it takes a part of the time. What a worker waits for takes as long as before. */
  | { readonly kind: 'processor'; readonly faster: number }
  /** What each message takes, one way, wherever it goes. */
  | { readonly kind: 'network-delay'; readonly delay: Duration }
  /** Of all messages, the share that is lost and sent again. */
  | { readonly kind: 'network-loss'; readonly share: number }
  /** The most replicas that an autoscaler may have. */
  | { readonly kind: 'autoscale-max'; readonly max: number }
  /** Service times are multiplied, whatever they consist of. */
  | { readonly kind: 'service-time'; readonly factor: number };

/** In a few words, as a row's title. */
export function changeText(change: Change): string {
  switch (change.kind) {
    case 'policy':
      return `policy ${change.policy}`;
    case 'retry-budget':
      return `retry budget ${change.share * 100} %`;
    case 'retries':
      return `${change.retries} retries`;
    case 'back-off':
      return `back-off ${formatDuration(change.backOff)}`;
    case 'users':
      return `${change.users} users`;
    case 'think':
      return `think time ${formatDuration(change.think)}`;
    case 'rate':
      return `${change.ratePerSecond}/s`;
    case 'replicas':
      return `${change.replicas} replicas`;
    case 'workers':
      return `${change.workers} workers each`;
    case 'queue-limit':
      return `at most ${change.limit} waiting in each`;
    case 'drop-abandoned':
      return 'what nobody waits for is dropped';
    case 'timeout':
      return `gateway's timeout ${formatDuration(change.timeout)}`;
    case 'call-timeout':
      return `calls give up after ${formatDuration(change.timeout)}`;
    case 'health-pool':
      return 'health checks with workers of their own';
    case 'processor':
      return `processors ${change.faster} times as fast`;
    case 'network-delay':
      return `messages take ${formatDuration(change.delay)} each way`;
    case 'network-loss':
      return `${change.share * 100} % of the messages are lost`;
    case 'autoscale-max':
      return `up to ${change.max} replicas`;
    case 'service-time':
      return `service time × ${change.factor}`;
  }
}

/** The scenario with the change made, or why it cannot be. */
export function changed(scenario: Scenario, change: Change): Scenario | string {
  const { topology } = scenario;
  switch (change.kind) {
    case 'policy':
      return withPolicy(scenario, change.policy);
    case 'retry-budget':
      return withRetry(scenario, { budget: change.share });
    case 'retries':
      return withRetry(scenario, { retries: change.retries });
    case 'back-off':
      return withRetry(scenario, { backOff: change.backOff });
    case 'users':
      return withDemand(scenario, 'closed', (each) =>
        each.kind === 'closed' ? { ...each, users: change.users } : each,
      );
    case 'think':
      return withDemand(scenario, 'closed', (each) =>
        each.kind === 'closed' ? { ...each, think: constant(change.think) } : each,
      );
    case 'rate':
      return withDemand(scenario, 'open', (each) =>
        each.kind === 'open' ? { ...each, ratePerSecond: change.ratePerSecond } : each,
      );
    case 'replicas': {
      const faults = scenario.faults.filter(
        ({ replica }) => placeOf(replica) <= change.replicas || !isAsked(scenario, replica),
      );
      return {
        ...withServices(scenario, (service) => ({ ...service, replicas: change.replicas })),
        ...withNetworkFaults(scenario, (replica) => placeOf(replica) <= change.replicas || !isAsked(scenario, replica)),
        faults,
      };
    }
    case 'workers':
      return withServices(scenario, (service) => ({ ...service, workers: change.workers }));
    case 'queue-limit':
      return withServices(scenario, (service) => ({ ...service, queue: { ...service.queue, limit: change.limit } }));
    case 'drop-abandoned':
      return withServices(scenario, (service) => ({ ...service, queue: { ...service.queue, abandoned: 'dropped' } }));
    case 'timeout':
      if (topology.gateway === undefined) return 'there is no gateway that could have another timeout';
      return { ...scenario, topology: { ...topology, gateway: { ...topology.gateway, timeout: change.timeout } } };
    case 'call-timeout':
      if (topology.services.every((service) => service.calls.length === 0)) return 'no service calls another';
      return withServices(scenario, (service) => ({
        ...service,
        calls: service.calls.map((call) => ({ ...call, timeout: change.timeout })),
      }));
    case 'health-pool':
      if (topology.gateway?.health === undefined) return 'nobody checks the health of the replicas';
      return withServices(scenario, (service) => ({ ...service, healthSharesPool: false }));
    case 'processor':
      return withServices(scenario, (service) => ({
        ...service,
        cpuTime: multiplied(service.cpuTime, 1 / change.faster),
      }));
    case 'network-delay':
      return withNetwork(scenario, { delay: constant(change.delay), betweenZones: constant(change.delay) });
    case 'network-loss':
      return withNetwork(scenario, { loss: change.share });
    case 'autoscale-max':
      if (topology.services.every(({ autoscale }) => autoscale === undefined)) return 'no service has an autoscaler';
      return { ...scenario, topology: { ...topology, services: topology.services.map(scaledTo(change.max)) } };
    case 'service-time':
      return withServices(scenario, (service) => ({
        ...service,
        serviceTime: multiplied(service.serviceTime, change.factor),
        cpuTime: multiplied(service.cpuTime, change.factor),
      }));
  }
}

/** Where messages took no time, they do now. */
function withNetwork(scenario: Scenario, change: Partial<Network>): Scenario {
  const network = scenario.network ?? { delay: constant(ns(0)), loss: 0, faults: [] };
  return { ...scenario, network: { ...network, ...change } };
}

/** Without those of links of replicas that are not `there`. */
const withNetworkFaults = ({ network }: Scenario, there: (replica: string) => boolean): Pick<Scenario, 'network'> =>
  network === undefined
    ? {}
    : {
        network: {
          ...network,
          faults: network.faults.filter((fault) => fault.kind !== 'link' || there(fault.replica)),
        },
      };

const scaledTo =
  (most: number) =>
  (service: Service): Service => {
    const { autoscale, replicas } = service;
    if (autoscale === undefined) return service;
    const max = Math.max(autoscale.min, most);
    return { ...service, replicas: Math.min(replicas, max), autoscale: { ...autoscale, max } };
  };

/** Clients that choose from the list themselves are put behind a gateway when the policy is none that they know. */
function withPolicy(scenario: Scenario, policy: PolicyName): Scenario {
  const { topology } = scenario;
  const behind = topology.clients.some(({ via }) => via === 'gateway');
  const clients = topology.clients.map((group): Clients => {
    if (behind) return group;
    return policy === 'least-request' ? { ...group, via: 'gateway' } : { ...group, via: 'registry', choice: policy };
  });
  const gateway = topology.gateway ?? plainGateway(topology.clients);
  return { ...scenario, topology: { ...topology, clients, gateway: { ...gateway, policy } } };
}

const plainGateway = (clients: readonly Clients[]): NonNullable<Scenario['topology']['gateway']> => ({
  policy: 'round-robin',
  timeout: Math.max(...clients.map(({ timeout }) => timeout)) as Duration,
  connectTimeout: 1e9 as Duration,
  retries: 0,
  health: undefined,
});

/** Of clients that ask again, and of calls that are made again. */
function withRetry(
  scenario: Scenario,
  change: Partial<Pick<Call, 'retries' | 'backOff' | 'budget'>>,
): Scenario | string {
  const { topology } = scenario;
  if (!asksAgain(scenario)) return 'nobody is known to ask again';
  const clients = topology.clients.map((group) =>
    group.retry === undefined ? group : { ...group, retry: { ...group.retry, ...change } },
  );
  const services = topology.services.map((service) => ({
    ...service,
    calls: service.calls.map((call) => (call.retries === 0 ? call : { ...call, ...change })),
  }));
  return { ...scenario, topology: { ...topology, clients, services } };
}

export const asksAgain = ({ topology }: Scenario): boolean =>
  topology.clients.some(({ retry }) => retry !== undefined) ||
  topology.services.some(({ calls }) => calls.some(({ retries }) => retries > 0));

/** Every time of it multiplied. */
export function multiplied(distribution: Distribution, factor: number): Distribution {
  const by = (value: Duration): Duration => ns(Math.round(value * factor));
  switch (distribution.kind) {
    case 'constant':
      return { ...distribution, value: by(distribution.value) };
    case 'exponential':
      return { ...distribution, mean: by(distribution.mean) };
    case 'uniform':
      return { ...distribution, min: by(distribution.min), max: by(distribution.max) };
    case 'log-normal':
      return { ...distribution, median: by(distribution.median), p99: by(distribution.p99) };
  }
}

function withDemand(
  scenario: Scenario,
  kind: Scenario['demand'][number]['kind'],
  change: (demand: Scenario['demand'][number]) => Scenario['demand'][number],
): Scenario | string {
  if (scenario.demand.every((each) => each.kind !== kind)) {
    return kind === 'closed'
      ? 'the demand is open: there are no users'
      : 'the demand is closed: it has no rate of its own';
  }
  return { ...scenario, demand: scenario.demand.map(change) };
}

/** The services that clients ask; those behind them stay as they are. */
function withServices(scenario: Scenario, change: (service: Service) => Service): Scenario {
  const { topology } = scenario;
  const services = topology.services.map((service) =>
    topology.clients.some((group) => group.service === service.name) ? change(service) : service,
  );
  return { ...scenario, topology: { ...topology, services } };
}

const placeOf = (replica: string): number => Number(/-(\d+)$/.exec(replica)?.[1] ?? 0);

const isAsked = ({ topology }: Scenario, replica: string): boolean =>
  topology.clients.some(({ service }) => replica === `${service}-${placeOf(replica)}`);
