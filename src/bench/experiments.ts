// From what the diagnosis would like to know to what a world can do: an experiment becomes an arrangement, the baseline with
// one thing changed. Everything that is not changed stays as it was, or the difference would have two causes.

import { type Duration, ms, seconds } from '../base.ts';
import type { ExperimentFacts, ExperimentKind } from '../record.ts';
import type { Arrangement, Clients, Demand } from '../scenario.ts';

/** How long each kind of experiment settles before it is judged, and how long it is judged. A pile-up grows at most as
 * fast as the difference of two rates, so those that must let one form take longest. */
const timing: Readonly<Record<ExperimentKind, { readonly warmUp: Duration; readonly duration: Duration }>> = {
  'stop-replica': { warmUp: seconds(2), duration: seconds(6) },
  'open-loop': { warmUp: seconds(3), duration: seconds(8) },
  'swap-policy': { warmUp: seconds(2), duration: seconds(12) },
  'slow-another': { warmUp: seconds(4), duration: seconds(7) },
  'kill-suspect': { warmUp: seconds(3), duration: seconds(7) },
  'scale-out': { warmUp: seconds(3), duration: seconds(7) },
  'scale-up': { warmUp: seconds(3), duration: seconds(7) },
  'random-choice': { warmUp: seconds(2), duration: seconds(7) },
  'through-forwarder': { warmUp: seconds(2), duration: seconds(7) },
  'less-load': { warmUp: seconds(3), duration: seconds(7) },
  'visit-alone': { warmUp: ms(500), duration: seconds(4) },
};

/** A replica is frozen after the settled part has shown for this long that the fleet was running. */
const stopAfter = seconds(4);
const stopFor = seconds(4);

/** New replicas cannot be taken back, so what adds them comes last. */
const order: readonly ExperimentKind[] = [
  'visit-alone',
  'stop-replica',
  'open-loop',
  'swap-policy',
  'random-choice',
  'through-forwarder',
  'slow-another',
  'less-load',
  'scale-up',
  'kill-suspect',
  'scale-out',
];

/** The experiments in the order in which they disturb each other least. */
export function inOrder<Plan extends { readonly kind: ExperimentKind }>(plans: readonly Plan[]): Plan[] {
  return plans.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
}

/** The baseline with one thing changed. `name` is the phase's: unique in its record. */
export function arrange(baseline: Arrangement, facts: ExperimentFacts, name: string): Arrangement {
  const lasting = baseline.faults.filter(
    (fault) => fault.for === undefined && fault.at < baseline.warmUp + baseline.duration,
  );
  const base: Arrangement = { ...baseline, ...timing[facts.kind], name, faults: lasting };
  const target = facts.target;
  switch (facts.kind) {
    case 'stop-replica':
      return target === undefined ? base : { ...base, stopped: { replica: target, at: stopAfter, for: stopFor } };
    case 'open-loop':
      return { ...base, demand: openAt(base.demand, facts.rate_per_s) };
    case 'swap-policy':
      return { ...base, policy: policyNamed(facts.policy) };
    case 'slow-another':
      return target === undefined ? base : { ...base, slowness: { [target]: facts.factor ?? 1.5 } };
    case 'kill-suspect':
      return target === undefined ? base : { ...base, killed: [target] };
    case 'scale-out':
      return { ...base, replicas: moreReplicas(base.replicas, facts) };
    case 'scale-up':
      return target === undefined ? base : { ...base, workers: { [target]: facts.workers ?? 8 } };
    case 'random-choice':
      return { ...base, clients: base.clients.map((clients) => rechosen(clients, 'registry', 'random')) };
    case 'through-forwarder':
      return { ...base, clients: base.clients.map((clients) => rechosen(clients, 'forwarder', clients.choice)) };
    case 'less-load':
      return { ...base, demand: base.demand.map((demand) => scaled(demand, facts.factor ?? 0.5)) };
    case 'visit-alone':
      return { ...base, visitAlone: true };
  }
}

function policyNamed(policy: string | undefined): Arrangement['policy'] {
  return policy === 'random' || policy === 'round-robin' ? policy : 'least-request';
}

/** The same requests, but due at a rate of their own. Several groups share it in proportion to their size. */
function openAt(demands: readonly Demand[], rate: number | undefined): readonly Demand[] {
  if (rate === undefined) return demands;
  const size = (demand: Demand): number => (demand.kind === 'closed' ? demand.users : demand.ratePerSecond);
  const whole = demands.reduce((sum, demand) => sum + size(demand), 0);
  return demands.map((demand) => ({
    kind: 'open',
    clients: demand.clients,
    ratePerSecond: (rate * size(demand)) / whole,
    arrivals: 'constant',
    flow: demand.flow,
  }));
}

function scaled(demand: Demand, factor: number): Demand {
  if (demand.kind === 'closed') return { ...demand, users: Math.max(1, Math.round(demand.users * factor)) };
  const { stages, bursts } = demand;
  return {
    ...demand,
    ratePerSecond: demand.ratePerSecond * factor,
    ...(stages === undefined
      ? {}
      : { stages: stages.map(({ over, toPerSecond }) => ({ over, toPerSecond: toPerSecond * factor })) }),
    ...(bursts === undefined ? {} : { bursts: { ...bursts, size: Math.max(1, Math.round(bursts.size * factor)) } }),
  };
}

function moreReplicas(replicas: Arrangement['replicas'], facts: ExperimentFacts): Arrangement['replicas'] {
  return Object.fromEntries(Object.entries(replicas).map(([service, count]) => [service, facts.replicas ?? count * 2]));
}

function rechosen(clients: Clients, via: Clients['via'], choice: Clients['choice']): Clients {
  return clients.via === 'gateway' ? clients : { ...clients, via, choice };
}
