// What is worth trying on a fleet when nobody says: the fixes that its own settings leave open, each of a size that its own numbers
// give, and beside them what is usually tried first (more processors, more replicas, longer waits), so that the list also tells
// what does not help.
//
//   call timeout     a fifth of what the caller's caller grants, but five times what calls usually take
//   queue            what can be worked off in half the time that anybody waits, and never fewer than the workers
//   back-off         ten times as long, a second at least
//   retry budget     one retry for ten requests

import { type Duration, ms, ns, seconds } from '../../base.ts';
import { distributionMean, type Scenario, type Service } from '../../scenario.ts';
import { asksAgain, type Change } from './changes.ts';

/** In the order of a check list; empty when a scenario leaves nothing open. */
export function proposedChanges(scenario: Scenario): readonly Change[] {
  const { topology } = scenario;
  const asked = topology.services.filter(({ name }) => topology.clients.some(({ service }) => service === name));
  const [first] = asked;
  if (first === undefined) return [];
  return [
    ...callTimeouts(scenario, asked),
    ...retryChanges(scenario),
    ...queueLimits(scenario, first),
    ...(first.healthSharesPool && topology.gateway?.health !== undefined ? [{ kind: 'health-pool' } as const] : []),
    ...policies(scenario),
    { kind: 'processor', faster: 2 },
    { kind: 'replicas', replicas: first.replicas + 1 },
    { kind: 'workers', workers: 2 * first.workers },
  ];
}

/** Where a call may last as long as its caller's caller waits, or for ever. */
function callTimeouts(scenario: Scenario, asked: readonly Service[]): readonly Change[] {
  const outer = patience(scenario);
  const calls = asked.flatMap((service) => service.calls);
  const loose = calls.filter(({ timeout, retries }) => timeout === undefined || timeout * (1 + retries) >= outer);
  if (loose.length === 0) return [];
  const usual = Math.max(...loose.map(({ to }) => meanOf(scenario, to)));
  const tries = 1 + Math.max(...loose.map(({ retries }) => retries));
  const timeout = Math.max(outer / (5 * tries), Math.min(5 * usual, outer / tries));
  return [{ kind: 'call-timeout', timeout: round(timeout) }];
}

function retryChanges(scenario: Scenario): readonly Change[] {
  if (!asksAgain(scenario)) return [];
  const { clients, services } = scenario.topology;
  const retries = [
    ...clients.flatMap(({ retry }) => retry ?? []),
    ...services.flatMap(({ calls }) => calls.filter((call) => call.retries > 0)),
  ];
  const longest = Math.max(...retries.map(({ backOff = 0 }) => backOff));
  return [
    ...(retries.some(({ budget }) => budget === undefined) ? [{ kind: 'retry-budget', share: 0.1 } as const] : []),
    { kind: 'back-off', backOff: round(Math.max(10 * longest, seconds(1))) },
  ];
}

function queueLimits(scenario: Scenario, service: Service): readonly Change[] {
  const held =
    distributionMean(service.serviceTime) +
    distributionMean(service.cpuTime) +
    service.calls.reduce((sum, { to }) => sum + meanOf(scenario, to), 0);
  const inTime = Math.floor((service.workers * patience(scenario)) / 2 / held);
  const limit = Math.max(service.workers, Math.min(inTime, 2 * service.workers));
  return limit >= service.queue.limit ? [] : [{ kind: 'queue-limit', limit }];
}

function policies({ topology }: Scenario): readonly Change[] {
  const listed = topology.clients.find(({ via }) => via === 'registry');
  if (listed !== undefined && listed.choice === 'pick-first') {
    return (['random', 'round-robin'] as const).map((policy) => ({ kind: 'policy', policy }));
  }
  const { gateway } = topology;
  if (gateway === undefined) return [];
  return (['least-request', 'random', 'round-robin'] as const)
    .filter((policy) => policy !== gateway.policy)
    .slice(0, 1)
    .map((policy) => ({ kind: 'policy', policy }));
}

/** How long the least patient of those who wait for an answer waits. */
const patience = ({ topology }: Scenario): number =>
  Math.min(...topology.clients.map(({ timeout }) => timeout), topology.gateway?.timeout ?? Infinity);

function meanOf({ topology }: Scenario, name: string): number {
  const called = [...topology.dependencies, ...topology.services].find((one) => one.name === name);
  return called === undefined ? 0 : distributionMean(called.serviceTime);
}

/** To one digit, as a person would set it. */
function round(value: number): Duration {
  const step = 10 ** Math.floor(Math.log10(Math.max(value, ms(1))));
  return ns(Math.round(value / step) * step);
}
