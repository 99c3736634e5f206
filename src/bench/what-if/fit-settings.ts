// The settings of a fitted fleet, as its record tells them: who balances and how, who checks whose health, who asks, who asks again. They
// are settings, not measurements, so nothing is estimated here; what a record leaves out is assumed and said.

import { type Duration, ms, ns, seconds } from '../../base.ts';
import { measuredTicks, type PhaseRecord, type ServiceFacts, type TopologyLine } from '../../record.ts';
import {
  type Call,
  type Choice,
  type ClientRetry,
  type Clients,
  constant,
  type Demand,
  type Gateway,
  type PolicyName,
} from '../../scenario.ts';

export function gatewayOf({ gateway }: TopologyLine, notes: string[]): Gateway | undefined {
  if (gateway === undefined) return undefined;
  const policies: readonly string[] = ['round-robin', 'random', 'least-request'];
  const known = policies.includes(gateway.policy ?? '');
  if (!known) notes.push(`the gateway's policy is not known, so round-robin is assumed`);
  const policy: PolicyName =
    gateway.policy === 'random' || gateway.policy === 'least-request' ? gateway.policy : 'round-robin';
  return {
    policy,
    timeout: gateway.timeout_ns === undefined ? seconds(30) : ns(gateway.timeout_ns),
    connectTimeout: seconds(1),
    retries: gateway.retries ?? 0,
    health: healthOf(gateway),
    ...(gateway.count === undefined ? {} : { count: gateway.count }),
  };
}

function healthOf({ health }: NonNullable<TopologyLine['gateway']>): Gateway['health'] {
  if (health === undefined) return undefined;
  const { interval_ns: interval, timeout_ns: timeout, fall, rise } = health;
  return { path: '/healthz', interval: ns(interval), timeout: ns(timeout), fall, rise };
}

export function clientsOf(
  { clients, gateway }: TopologyLine,
  onlyService: string,
  notes: string[],
): readonly Clients[] {
  return clients.map((group): Clients => ({
    name: group.group,
    service: group.service ?? onlyService,
    via: group.via === 'unknown' ? (gateway === undefined ? 'registry' : 'gateway') : group.via,
    choice: choiceOf(group.choice),
    timeout: group.timeout_ns === undefined ? seconds(60) : ns(group.timeout_ns),
    ...retryOf(group, notes),
    ...(group.zone === undefined ? {} : { zone: group.zone }),
    ...(group.pinned === undefined ? {} : { pinned: group.pinned }),
  }));
}

const usualBackOff = ms(100);

function retryOf(
  { group, retries, retry_budget: budget, back_off_ns: backOff }: TopologyLine['clients'][number],
  notes: string[],
): { readonly retry?: ClientRetry } {
  if (retries === undefined || retries === 0) return {};
  if (backOff === undefined)
    notes.push(`${group}: how long they wait before they ask again is not told; 100 ms assumed`);
  return { retry: { retries, backOff: backOff === undefined ? usualBackOff : ns(backOff), budget } };
}

export function callsOf({ calls = [] }: Pick<ServiceFacts, 'calls'>): readonly Call[] {
  return calls.map(({ to, timeout_ns: timeout, retries, back_off_ns: backOff, retry_budget: budget }) => ({
    to,
    timeout: timeout === undefined ? undefined : ns(timeout),
    retries: retries ?? 0,
    choice: 'round-robin',
    ...(backOff === undefined ? {} : { backOff: ns(backOff) }),
    ...(budget === undefined ? {} : { budget }),
  }));
}

const choiceOf = (choice: string | undefined): Choice =>
  choice === 'pick-first' || choice === 'random' ? choice : 'round-robin';

/** Who asks. Where the record does not say, the rate that was seen, as an open demand. */
export function demandOf(
  { clients }: TopologyLine,
  phase: PhaseRecord,
  path: Duration,
  notes: string[],
): readonly Demand[] | string {
  if (clients.length === 0) return 'the record names no clients';
  return clients.map(({ group, demand, connections, turnaround_p50_ns: turnaround }): Demand => {
    const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
    if (demand?.model === 'closed') {
      // What is spent on the way keeps a user from asking just as a thought does.
      return { kind: 'closed', clients: group, users: demand.users, flow, think: constant(ns(demand.think_ns + path)) };
    }
    if (demand !== undefined) {
      const arrivals = demand.arrivals === 'constant' ? 'constant' : 'poisson';
      return { kind: 'open', clients: group, ratePerSecond: demand.rate_per_s, arrivals, flow };
    }
    if (connections !== undefined && turnaround !== undefined && turnaround < 50e6) {
      notes.push(`${group}: ${connections} connections that ask again at once are taken to be closed users`);
      return { kind: 'closed', clients: group, users: connections, flow, think: constant(ns(turnaround)) };
    }
    const ticks = measuredTicks(phase);
    const planned = sum(
      ticks.flatMap((tick) => tick.clients.filter((one) => one.group === group).map((one) => one.planned)),
    );
    const ratePerSecond = Math.max(0.001, planned / (sum(ticks.map((tick) => tick.span_ns)) / 1e9));
    notes.push(
      `${group}: the record does not say who asks, so the ${ratePerSecond.toFixed(0)}/s that were seen are open`,
    );
    return { kind: 'open', clients: group, ratePerSecond, arrivals: 'poisson', flow };
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
