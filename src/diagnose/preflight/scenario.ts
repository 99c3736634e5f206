// The same questions of a scenario, which knows more than a configuration does: who asks whom, how often, with how many workers.

import { type Duration, formatDuration, inSeconds, seconds } from '../../base.ts';
import { amplification, type CallSettings, type UnsafeName, unsafeSettings } from '../../policy.ts';
import { type Clients, distributionMean, type Scenario, type Service } from '../../scenario.ts';
import { say } from '../wording.ts';
import type { Finding, RuleName, Severity } from './rule.ts';

/** Where a path of the scenario stands in its file. */
export type LineOf = (path: readonly (string | number)[]) => number;

export interface ScenarioFacts {
  readonly file: string;
  readonly lineOf: LineOf;
  /** How many times the usual load can be carried; default 1.5. */
  readonly spare?: number;
}

/** Which rule of the static check an unsafe setting of `policy` belongs to. */
export const ruleOfUnsafe: Readonly<Record<UnsafeName, RuleName>> = {
  'inner-timeout': 'timeout-order',
  'retry-storm': 'retry-product',
  'workers-exhausted': 'workers-at-timeout',
  'eviction-empties-fleet': 'nobody-left',
  'eviction-overloads-rest': 'eviction-headroom',
};

/** Findings of one scenario, in the order of its file. */
export function preflightScenario(scenario: Scenario, facts: ScenarioFacts): readonly Finding[] {
  const { clients, services } = scenario.topology;
  return [
    ...clients.flatMap((group) => ofClients(scenario, group, facts)),
    ...services.flatMap((service) => ofService(scenario, service, facts)),
  ].toSorted((one, other) => (one.where.line ?? 0) - (other.where.line ?? 0));
}

function ofClients({ topology }: Scenario, group: Clients, facts: ScenarioFacts): Finding[] {
  const { gateway } = topology;
  const service = topology.services.find(({ name }) => name === group.service);
  const calls = service?.calls ?? [];
  const at = finder(facts);
  const found: Finding[] = [];
  const through = group.via === 'gateway' ? gateway : undefined;
  if (through !== undefined && through.timeout >= group.timeout) {
    found.push(
      at('timeout-order', 'error', ['gateway', 'timeout'], {
        because: `the gateway gives a request ${formatDuration(through.timeout)}, and ${group.name} give up after ${formatDuration(group.timeout)}`,
        instead: `a timeout of the gateway below ${formatDuration(group.timeout)}`,
      }),
    );
  }
  const levels = [
    group.retry?.retries ?? 0,
    through?.retries ?? 0,
    Math.max(0, ...calls.map(({ retries }) => retries)),
  ];
  const product = amplification(levels);
  const spare = facts.spare ?? 1.5;
  if (levels.filter((retries) => retries > 0).length > 1 && product > spare) {
    const budget = group.retry?.budget;
    found.push(
      at('retry-product', budget === undefined ? 'error' : 'warning', ['clients', group.name], {
        because: `${levels
          .filter((retries) => retries > 0)
          .map((retries) => `(${retries} + 1)`)
          .join(
            ' × ',
          )} = ${product} attempts for one request when everything fails, and ${spare} times the load can be carried`,
        instead: 'retries on one level only, with a budget there',
      }),
    );
  }
  const several = (service?.replicas ?? 1) > 1;
  if (group.via === 'registry' && group.choice === 'pick-first' && several) {
    found.push(
      at('pick-first', 'error', ['clients', group.name, 'choice'], {
        because: `${group.name} take the first of ${service?.replicas ?? 0} replicas of ${group.service}: the others are idle`,
        instead: 'random or round-robin over the whole list',
      }),
    );
  }
  if (group.pinned === true && group.keepAlive === undefined && several) {
    found.push(
      at('connection-pinning', 'warning', ['clients', group.name, 'pinned'], {
        because: `each user of ${group.name} keeps the replica that its connection was first made to: requests follow connections`,
        instead: 'a balancer of requests, or connections that are made anew',
      }),
    );
  }
  return found;
}

function ofService(scenario: Scenario, service: Service, facts: ScenarioFacts): Finding[] {
  const { gateway } = scenario.topology;
  const at = finder(facts);
  const path = ['services', service.name];
  const rate = rateOf(scenario, service);
  const outer = patienceFor(scenario, service);
  const unsafe = service.calls.flatMap((call, index) =>
    outer === undefined
      ? []
      : unsafeSettings({
          outer: { ...outer, retries: 0 },
          calls: [settingsOf(call)],
          workers: service.workers,
          ...(rate === undefined ? {} : { ratePerSecond: rate / service.replicas }),
        }).map((one) =>
          at(ruleOfUnsafe[one.name], 'error', [...path, 'calls', index], {
            because: `${one.where}: ${one.because}`,
            instead: one.instead,
          }),
        ),
  );
  const probe =
    gateway?.health !== undefined && service.healthSharesPool && isBehindGateway(scenario, service)
      ? [
          at('probe-shares-workers', 'warning', [...path, 'health_shares_pool'], {
            because: `when ${service.workers} workers are busy for ${sayUntil(gateway.health)}, every replica of ${service.name} is taken out`,
            instead: 'health_shares_pool: false, or shed load before the checks fail',
          }),
        ]
      : [];
  return [...unsafe, ...probe, ...headroom(service, rate, at, path)];
}

function settingsOf(call: Service['calls'][number]): CallSettings {
  return { name: call.to, timeout: call.timeout, retries: call.retries, backOffMax: seconds(0) };
}

/** h = R − ⌈λ ÷ c⌉ replicas may be missing, where c is what one can do. */
function headroom(service: Service, rate: number | undefined, at: Finder, path: readonly string[]): Finding[] {
  const each = service.workers / inSeconds(distributionMean(service.serviceTime));
  if (rate === undefined || !Number.isFinite(each) || each <= 0) return [];
  const needed = Math.ceil(rate / each);
  const spareReplicas = service.replicas - needed;
  if (spareReplicas >= 1) return [];
  const whole = `${say(rate, 'requests/s')} ÷ ${say(each, 'requests/s')} = ${needed} of ${service.replicas} replicas are needed`;
  return [
    at('eviction-headroom', spareReplicas < 0 ? 'error' : 'warning', [...path, 'replicas'], {
      because:
        spareReplicas < 0
          ? `${whole}: it is more than they can do`
          : `${whole}: when one is out the others cannot carry it`,
      instead: `at least ${needed + 1} replicas`,
    }),
  ];
}

/** Open demand that reaches the service, requests a second; undefined where users wait for their answers. */
function rateOf({ demand, topology }: Scenario, service: Service): number | undefined {
  const groups = new Set(topology.clients.filter((one) => one.service === service.name).map(({ name }) => name));
  const own = demand.filter(({ clients }) => groups.has(clients));
  if (own.length === 0 || own.some(({ kind }) => kind === 'closed')) return undefined;
  return own.reduce((sum, one) => sum + (one.kind === 'open' ? one.ratePerSecond : 0), 0);
}

/** Whoever gives up first on a request to the service. */
function patienceFor({ topology }: Scenario, service: Service): { name: string; timeout: Duration } | undefined {
  const { gateway, clients } = topology;
  const own = clients.filter((one) => one.service === service.name);
  const all = own.flatMap((group) => [
    { name: group.name, timeout: group.timeout },
    ...(group.via === 'gateway' && gateway !== undefined ? [{ name: 'the gateway', timeout: gateway.timeout }] : []),
  ]);
  return all.toSorted((one, other) => one.timeout - other.timeout)[0];
}

function isBehindGateway({ topology }: Scenario, service: Service): boolean {
  return topology.clients.some((one) => one.service === service.name && one.via === 'gateway');
}

function sayUntil({ interval, fall, timeout }: { interval: Duration; fall: number; timeout: Duration }): string {
  const until = interval * (fall - 1) + timeout;
  return `${formatDuration(interval)} × (${fall} − 1) + ${formatDuration(timeout)} = ${formatDuration(seconds(until / 1e9))}`;
}

type Finder = (
  rule: RuleName,
  severity: Severity,
  path: readonly (string | number)[],
  said: { readonly because: string; readonly instead: string },
) => Finding;

function finder({ file, lineOf }: ScenarioFacts): Finder {
  return (rule, severity, path, said) => ({ rule, severity, where: { file, line: lineOf(path) }, also: [], ...said });
}
