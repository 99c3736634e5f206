// A phase as words and cells, the same in a terminal and on a page.

import { type Duration, formatDuration } from '../base.ts';
import type { PhaseSummary, ReplicaSummary } from '../diagnose.ts';

/** How much was done in it: `678/s over 24 s, 1.2 % failed`. */
export function phaseFigures(phase: PhaseSummary): string {
  const failed = (phase.failed_share ?? 0) > 0 ? `, ${percent(phase.failed_share)} failed` : '';
  return `${phase.throughput_per_s.toFixed(0)}/s over ${phase.seconds.toFixed(0)} s${failed}`;
}

/** The three vectors whose skew tells the patterns apart (rate, in flight, time), side by side. */
export const replicaTitles = ['replica', 'rate', 'share', 'in flight', 'of all', 'time inside', 'service', 'busy'];

/** A cell for each title. */
export function replicaCells(replica: ReplicaSummary): string[] {
  return [
    replica.id,
    `${replica.rate_per_s.toFixed(1)}/s`,
    percent(replica.share),
    replica.in_flight === undefined ? '?' : replica.in_flight.toFixed(1),
    percent(replica.held_share),
    time(replica.residence_ns),
    time(replica.service_mean_ns),
    percent(replica.utilisation),
  ];
}

function percent(share: number | undefined): string {
  return share === undefined ? '?' : `${(share * 100).toFixed(1)} %`;
}

function time(nanoseconds: number | undefined): string {
  return nanoseconds === undefined ? '?' : formatDuration(nanoseconds as Duration);
}
