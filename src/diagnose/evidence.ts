// Everything a theory may reason from, computed once: the settings as far as they are known, the baseline in numbers, each
// experiment in numbers, and who is slower than whom over all of them together.

import type { TopologyLine } from '../record.ts';
import { type Choice, choiceOf, type Loop, loopOf } from './demand.ts';
import { type PhaseEvidence, phaseEvidence, type ReplicaEvidence } from './phase-evidence.ts';
import type { Estimate } from './quantity.ts';
import { sum } from './quantity.ts';
import type { SeenPhase, SeenRecord } from './seen.ts';
import { type Slowness, slownessOf } from './slowness.ts';

export interface Evidence {
  readonly ids: readonly string[];
  readonly topology: TopologyLine | undefined;
  readonly baseline: PhaseEvidence;
  readonly experiments: readonly PhaseEvidence[];
  readonly loop: Loop;
  readonly choice: Choice;
  /** Slowest first; empty when nothing tells how fast the replicas work. */
  readonly slowness: readonly Slowness[];
  /** The replica with most inside it during the baseline. */
  readonly hottest: string | undefined;
  /** The replica that a theory of one odd replica would accuse: the slowest, or the hottest where worker times are unknown. */
  readonly suspect: string | undefined;
  /** When the stopped replica of a phase stood still, in nanoseconds of the record. */
  readonly stops: ReadonlyMap<string, StopWindow>;
}

export interface StopWindow {
  readonly target: string;
  readonly fromNs: number;
  readonly toNs: number;
}

/** Undefined: the record has no baseline with ticks of at least one replica. */
export function evidenceOf(record: SeenRecord): Evidence | undefined {
  const belongs = belonging(record.topology);
  const first = record.phases.findIndex((phase) => phase.line.experiment === undefined && phase.ticks.length > 0);
  const seen = record.phases[first];
  if (seen === undefined) return undefined;
  const baseline = phaseEvidence(seen, belongs);
  if (baseline === undefined || baseline.replicas.length === 0) return undefined;
  const later = record.phases.slice(first + 1).filter((phase) => phase.line.experiment !== undefined);
  const experiments = later.flatMap((phase) => phaseEvidence(phase, belongs) ?? []);
  const ids = baseline.replicas.map((replica) => replica.id);
  const siblings = new Set([...ids, ...experiments.flatMap((phase) => phase.replicas.map((replica) => replica.id))]);
  const slowness = slownessOf([seen, ...later], ids, [...siblings]);
  const hottest = hottestOf(baseline);
  return {
    ids,
    topology: record.topology,
    baseline,
    experiments,
    loop: loopOf(record.topology, baseline),
    choice: choiceOf(record.topology, baseline),
    slowness,
    hottest,
    suspect: (slowness[0]?.from === 'worker-time' ? slowness[0].id : undefined) ?? hottest,
    stops: new Map(later.flatMap((phase) => stopWindow(phase))),
  };
}

export function replicaOf(phase: PhaseEvidence, id: string | undefined): ReplicaEvidence | undefined {
  return phase.replicas.find((replica) => replica.id === id);
}

export function othersOf(phase: PhaseEvidence, id: string | undefined): ReplicaEvidence[] {
  return phase.replicas.filter((replica) => replica.id !== id);
}

export function slownessFor(evidence: Evidence, id: string | undefined): Slowness | undefined {
  return evidence.slowness.find((one) => one.id === id);
}

/** Size of a replica's fixed worker pool, from its settings. */
export function workersOf(evidence: Evidence, id: string | undefined): number | undefined {
  for (const service of evidence.topology?.services ?? []) {
    const found = service.replicas.find((replica) => replica.id === id)?.workers;
    if (found !== undefined && found > 0) return found;
  }
  return undefined;
}

/** What a replica can do: workers ÷ mean worker time, requests a second. */
export function capacityOf(evidence: Evidence, id: string | undefined): Estimate | undefined {
  const workers = workersOf(evidence, id);
  const service = serviceOf(evidence, id);
  if (workers === undefined || service === undefined || service.value <= 0) return undefined;
  return { value: workers / service.value, error: ((workers / service.value) * service.error) / service.value };
}

/** Mean worker time in seconds: pooled over the phases that left the replica alone, or, with nobody to compare it with, of the
 * baseline. */
export function serviceOf(evidence: Evidence, id: string | undefined): Estimate | undefined {
  const slow = slownessFor(evidence, id);
  if (slow?.from === 'worker-time') return slow.mean;
  const service = replicaOf(evidence.baseline, id)?.service;
  return service === undefined ? undefined : { value: service.mean, error: service.mean / Math.sqrt(service.count) };
}

/** Whether worker times are known, which settle who is slower; otherwise it is told from outside, if at all. */
export function knowsWorkerTimes({ slowness }: Evidence): boolean {
  return slowness[0]?.from === 'worker-time';
}

/** The least capacity of any replica times their number: all that strict rotation lets through. */
export function rotationLimit(evidence: Evidence): Estimate | undefined {
  const capacities = evidence.ids.map((id) => capacityOf(evidence, id));
  const known = capacities.filter((capacity) => capacity !== undefined);
  if (known.length < evidence.ids.length) return undefined;
  const least = known.toSorted((one, other) => one.value - other.value)[0];
  if (least === undefined) return undefined;
  return { value: least.value * evidence.ids.length, error: least.error * evidence.ids.length };
}

/** What all replicas together can do when nobody is left idle while another has a queue. */
export function wholeCapacity(evidence: Evidence): Estimate | undefined {
  const capacities = evidence.ids.map((id) => capacityOf(evidence, id));
  const known = capacities.filter((capacity) => capacity !== undefined);
  if (known.length < evidence.ids.length) return undefined;
  return {
    value: sum(known.map((capacity) => capacity.value)),
    error: Math.hypot(...known.map((capacity) => capacity.error)),
  };
}

/** Mean worker time over the fleet, weighted by how much each served. */
export function meanService(evidence: Evidence): number | undefined {
  const samples = evidence.baseline.replicas.flatMap((replica) => replica.service ?? []);
  const count = sum(samples.map((sample) => sample.count));
  return count === 0 ? undefined : sum(samples.map((sample) => sample.count * sample.mean)) / count;
}

/** Utilisation of a replica: busy workers ÷ workers, or by the utilisation law X·S ÷ workers. */
export function utilisationOf(evidence: Evidence, phase: PhaseEvidence, id: string): Estimate | undefined {
  const replica = replicaOf(phase, id);
  const given = phase.experiment?.target === id ? phase.experiment?.workers : undefined;
  const workers = given ?? workersOf(evidence, id);
  if (replica === undefined || workers === undefined) return undefined;
  if (replica.busyWorkers !== undefined) {
    return { value: replica.busyWorkers.value / workers, error: replica.busyWorkers.error / workers };
  }
  if (replica.service === undefined || replica.served === undefined) return undefined;
  return { value: (replica.served * replica.service.mean) / workers, error: 0.01 };
}

/** Up to this many times the knee a queue comes and goes, and nobody is held up for long. */
export const kneeMargin = 1.6;

/** How many users it takes before a queue stands all the time: N* = X(S + Z), at what rotation lets through. Without
 * workers and service times the fastest replica's time inside stands in for S, which makes it larger than it is. */
export function kneeOf(evidence: Evidence): number | undefined {
  const think = evidence.loop.thinkSeconds ?? 0;
  const limit = rotationLimit(evidence);
  const service = meanService(evidence);
  if (limit !== undefined && service !== undefined) return limit.value * (service + think);
  const residences = evidence.baseline.replicas.flatMap((replica) => replica.residence?.value ?? []);
  if (residences.length < evidence.ids.length) return undefined;
  return evidence.baseline.throughput.value * (Math.min(...residences) + think);
}

/** Replicas of the service that the clients ask; with no topology, whoever answered. Dependencies stay out, replicas that
 * an experiment added come in. */
function belonging(topology: TopologyLine | undefined): (id: string) => boolean {
  if (topology === undefined) return () => true;
  const named = topology.clients.flatMap((client) => client.service ?? [])[0];
  const services = topology.services.filter((service) => service.role === 'service');
  const front = services.find((service) => service.name === named) ?? services[0];
  if (front === undefined) return () => true;
  const elsewhere = new Set(
    topology.services.filter((service) => service !== front).flatMap((service) => service.replicas.map(({ id }) => id)),
  );
  const own = new Set(front.replicas.map((replica) => replica.id));
  return (id) => own.has(id) || (id.startsWith(`${front.name}-`) && !elsewhere.has(id));
}

function hottestOf(phase: PhaseEvidence): string | undefined {
  const known = phase.replicas.filter((replica) => replica.inFlight !== undefined);
  return known.toSorted((one, other) => (other.inFlight?.value ?? 0) - (one.inFlight?.value ?? 0))[0]?.id;
}

function stopWindow(phase: SeenPhase): [string, StopWindow][] {
  const experiment = phase.line.experiment;
  const target = experiment?.target;
  if (experiment?.kind !== 'stop-replica' || target === undefined) return [];
  const last = phase.ticks.at(-1);
  const end = last === undefined ? phase.line.at_ns : last.at_ns + last.span_ns;
  const stopped = phase.events.find((event) => event.event === 'replica-stopped' && event.target === target);
  const continued = phase.events.find((event) => event.event === 'replica-continued' && event.target === target);
  if (stopped !== undefined) {
    return [[phase.line.name, { target, fromNs: stopped.at_ns, toNs: Math.min(end, continued?.at_ns ?? end) }]];
  }
  const silent = phase.ticks.filter((tick) => {
    const replica = tick.replicas.find(({ id }) => id === target);
    return replica !== undefined && (replica.state === 'silent' || replica.state === 'stopped');
  });
  const from = silent[0];
  const to = silent.at(-1);
  if (from === undefined || to === undefined) return [];
  return [[phase.line.name, { target, fromNs: from.at_ns, toNs: to.at_ns + to.span_ns }]];
}
