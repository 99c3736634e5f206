// A phase as words and cells, the same in a terminal and on a page.

import { type Duration, formatDuration } from '../base.ts';
import type { PhaseSummary, ReplicaSummary } from '../diagnose.ts';

/** How much was done in it: `678 ± 4/s over 24 s, 1.2 % failed`. */
export function phaseFigures(phase: PhaseSummary): string {
  const failed = (phase.failed_share ?? 0) > 0 ? `, ${percent(phase.failed_share)} failed` : '';
  const trust = phase.margins_trusted === false ? '; intervals not trustworthy: too short a run for its load' : '';
  return `${within(phase.throughput_per_s, phase.throughput_margin_per_s, 0)}/s over ${phase.seconds.toFixed(0)} s${failed}${trust}`;
}

/** The three vectors whose skew tells the patterns apart (rate, in flight, time), side by side. */
export const replicaTitles = ['replica', 'rate', 'share', 'in flight', 'of all', 'time inside', 'service', 'busy'];

/** A cell for each title. */
export function replicaCells(replica: ReplicaSummary): string[] {
  return [
    replica.id,
    `${within(replica.rate_per_s, replica.rate_margin_per_s, 1)}/s`,
    percent(replica.share),
    replica.in_flight === undefined ? '?' : within(replica.in_flight, replica.in_flight_margin, 1),
    percent(replica.held_share, replica.held_share_margin),
    time(replica.residence_ns, replica.residence_margin_ns),
    time(replica.service_mean_ns),
    percent(replica.utilisation, replica.utilisation_margin),
  ];
}

function percent(share: number | undefined, margin?: number): string {
  return share === undefined ? '?' : `${within(100 * share, margin === undefined ? undefined : 100 * margin, 1)} %`;
}

function time(nanoseconds: number | undefined, margin?: number): string {
  if (nanoseconds === undefined) return '?';
  const value = formatDuration(nanoseconds as Duration);
  return margin === undefined || margin === 0 ? value : `${value} ± ${percentOf(margin, nanoseconds)}`;
}

const percentOf = (margin: number, value: number): string => `${((100 * margin) / value).toFixed(0)} %`;

/** `46.3 ± 3.3`: half a 95 % interval to either side. */
function within(value: number, margin: number | undefined, digits: number): string {
  const text = value.toFixed(digits);
  return margin === undefined || margin === 0 ? text : `${text} ± ${margin.toFixed(digits)}`;
}
