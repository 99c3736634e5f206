// A phase as a table of plain numbers, for whoever prints it: so that no reporter computes a statistic. What was measured second by
// second has a margin beside it: half its 95 % interval, made wider as far as one second resembles the last.
//
// A queue near its limit remembers longer than any number of seconds in a row can show. Where the requests of a run are too few for
// that (20 batches of 25 ÷ (1 − ρ)² each), its margins are said to be too small.

import { batchLengthMin } from '../stats.ts';
import { type Evidence, utilisationOf } from './evidence.ts';
import type { PhaseEvidence } from './phase-evidence.ts';
import { type Estimate, reach } from './quantity.ts';

/** Plain data: survives JSON. Times in nanoseconds, shares 0–1. */
export interface PhaseSummary {
  readonly phase: string;
  readonly experiment?: string;
  readonly seconds: number;
  readonly throughput_per_s: number;
  readonly throughput_margin_per_s?: number;
  readonly offered_per_s?: number;
  readonly failed_share?: number;
  readonly in_flight?: number;
  readonly latency_mean_ns?: number;
  readonly latency_mean_margin_ns?: number;
  /** False: the run was too short for its load, and the margins are too small. Absent: nothing is known of that. */
  readonly margins_trusted?: boolean;
  readonly replicas: readonly ReplicaSummary[];
}

export interface ReplicaSummary {
  readonly id: string;
  readonly rate_per_s: number;
  readonly rate_margin_per_s?: number;
  readonly share: number;
  readonly in_flight?: number;
  readonly in_flight_margin?: number;
  readonly in_flight_from?: string;
  readonly held_share?: number;
  readonly held_share_margin?: number;
  readonly residence_ns?: number;
  readonly residence_margin_ns?: number;
  readonly service_mean_ns?: number;
  readonly utilisation?: number;
  readonly utilisation_margin?: number;
  readonly failed_share: number;
}

export function summaryOf(evidence: Evidence, phase: PhaseEvidence): PhaseSummary {
  return {
    phase: phase.name,
    ...(phase.experiment === undefined ? {} : { experiment: phase.experiment.did }),
    seconds: phase.seconds,
    throughput_per_s: phase.throughput.value,
    throughput_margin_per_s: marginOf(phase.throughput),
    ...(phase.offered === undefined ? {} : { offered_per_s: phase.offered.value }),
    ...(phase.failedShare === undefined ? {} : { failed_share: phase.failedShare }),
    ...(phase.inFlight === undefined ? {} : { in_flight: phase.inFlight.value }),
    ...(phase.latency === undefined
      ? {}
      : {
          latency_mean_ns: Math.round(phase.latency.value * 1e9),
          latency_mean_margin_ns: Math.round(marginOf(phase.latency) * 1e9),
        }),
    ...trustIn(evidence, phase),
    replicas: phase.replicas.map((replica) => {
      const used = utilisationOf(evidence, phase, replica.id);
      return {
        id: replica.id,
        rate_per_s: replica.rate.value,
        rate_margin_per_s: marginOf(replica.rate),
        share: replica.share,
        failed_share: replica.failedShare,
        ...(replica.inFlight === undefined
          ? {}
          : { in_flight: replica.inFlight.value, in_flight_margin: marginOf(replica.inFlight) }),
        ...(replica.inFlightFrom === undefined ? {} : { in_flight_from: replica.inFlightFrom }),
        ...(replica.held === undefined
          ? {}
          : { held_share: replica.held.value, held_share_margin: marginOf(replica.held) }),
        ...(replica.residence === undefined
          ? {}
          : {
              residence_ns: Math.round(replica.residence.value * 1e9),
              residence_margin_ns: Math.round(marginOf(replica.residence) * 1e9),
            }),
        ...(replica.service === undefined ? {} : { service_mean_ns: Math.round(replica.service.mean * 1e9) }),
        ...(used === undefined ? {} : { utilisation: used.value, utilisation_margin: marginOf(used) }),
      };
    }),
  };
}

const marginOf = ({ error }: Estimate): number => reach * error;

const batches = 20;

/** Of the fullest replica, and only where requests come whatever becomes of them: users who wait hold their own queue down. */
function trustIn(evidence: Evidence, phase: PhaseEvidence): Pick<PhaseSummary, 'margins_trusted'> {
  const demands = evidence.topology?.clients.map(({ demand }) => demand?.model) ?? [];
  if (demands.length === 0 || demands.some((model) => model !== 'open')) return {};
  const known = phase.replicas.flatMap((replica) => {
    const used = utilisationOf(evidence, phase, replica.id);
    return used === undefined ? [] : [replica.handed >= batches * batchLengthMin(used.value)];
  });
  return known.length === 0 ? {} : { margins_trusted: known.every(Boolean) };
}
