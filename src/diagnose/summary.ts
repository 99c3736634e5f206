// A phase as a table of plain numbers, for whoever prints it: so that no reporter computes a statistic.

import { type Evidence, utilisationOf } from './evidence.ts';
import type { PhaseEvidence } from './phase-evidence.ts';

/** Plain data: survives JSON. Times in nanoseconds, shares 0–1. */
export interface PhaseSummary {
  readonly phase: string;
  readonly experiment?: string;
  readonly seconds: number;
  readonly throughput_per_s: number;
  readonly offered_per_s?: number;
  readonly failed_share?: number;
  readonly in_flight?: number;
  readonly latency_mean_ns?: number;
  readonly replicas: readonly ReplicaSummary[];
}

export interface ReplicaSummary {
  readonly id: string;
  readonly rate_per_s: number;
  readonly share: number;
  readonly in_flight?: number;
  readonly in_flight_from?: string;
  readonly held_share?: number;
  readonly residence_ns?: number;
  readonly service_mean_ns?: number;
  readonly utilisation?: number;
  readonly failed_share: number;
}

export function summaryOf(evidence: Evidence, phase: PhaseEvidence): PhaseSummary {
  return {
    phase: phase.name,
    ...(phase.experiment === undefined ? {} : { experiment: phase.experiment.did }),
    seconds: phase.seconds,
    throughput_per_s: phase.throughput.value,
    ...(phase.offered === undefined ? {} : { offered_per_s: phase.offered.value }),
    ...(phase.failedShare === undefined ? {} : { failed_share: phase.failedShare }),
    ...(phase.inFlight === undefined ? {} : { in_flight: phase.inFlight.value }),
    ...(phase.latency === undefined ? {} : { latency_mean_ns: Math.round(phase.latency.value * 1e9) }),
    replicas: phase.replicas.map((replica) => {
      const used = utilisationOf(evidence, phase, replica.id);
      return {
        id: replica.id,
        rate_per_s: replica.rate.value,
        share: replica.share,
        failed_share: replica.failedShare,
        ...(replica.inFlight === undefined ? {} : { in_flight: replica.inFlight.value }),
        ...(replica.inFlightFrom === undefined ? {} : { in_flight_from: replica.inFlightFrom }),
        ...(replica.held === undefined ? {} : { held_share: replica.held.value }),
        ...(replica.residence === undefined ? {} : { residence_ns: Math.round(replica.residence.value * 1e9) }),
        ...(replica.service === undefined ? {} : { service_mean_ns: Math.round(replica.service.mean * 1e9) }),
        ...(used === undefined ? {} : { utilisation: used.value }),
      };
    }),
  };
}
