// One phase of a record as a handful of figures with names: what is compared between worlds, averaged over replications and
// predicted for a change. Whichever world the record came from, the figures are the same.
//
//   throughput, failed, p50, p90, p99, where clients ask again the tries that a request came to, and for each replica its share
//   of what was in flight

import { measuredTicks, histogramOfLine, type PhaseRecord, type TickLine } from '../record.ts';
import { Histogram } from '../stats.ts';

export type FigureUnit = 'per-second' | 'share' | 'nanoseconds' | 'count';

export interface Figure {
  /** `throughput`, `p99`, `in flight at api-2`, … */
  readonly name: string;
  readonly unit: FigureUnit;
  readonly value: number;
}

/** Everything that is said of one phase. Histograms are kept whole: percentiles of several runs are not averaged. */
export interface PhaseFigures {
  readonly figures: readonly Figure[];
  /** Of all client groups together; unfinished requests count as lower bounds. */
  readonly latency: Histogram;
}

export const latencyShares = { p50: 0.5, p90: 0.9, p99: 0.99 } as const;

/** The figures of the judged part. `services`: the ids of the replicas that are balanced; others are left aside. */
export function figuresOf(phase: PhaseRecord, isBalanced: (id: string) => boolean = () => true): PhaseFigures {
  const ticks = measuredTicks(phase);
  const spanSeconds = sum(ticks.map((tick) => tick.span_ns)) / 1e9;
  const answered = sum(ticks.flatMap((tick) => tick.clients.map((client) => client.answered)));
  const planned = sum(phase.ledgers.map((ledger) => ledger.planned));
  const good = sum(phase.ledgers.map((ledger) => ledger.answered));
  const latency = new Histogram();
  for (const line of phase.histograms) {
    if (line.of.group !== undefined && line.of.what === 'latency') latency.add(histogramOfLine(line));
  }
  return {
    figures: [
      { name: 'throughput', unit: 'per-second', value: spanSeconds === 0 ? 0 : answered / spanSeconds },
      { name: 'failed', unit: 'share', value: planned === 0 ? 0 : 1 - good / planned },
      ...quantileFigures(latency),
      ...triesFigure(ticks),
      ...heldShares(ticks, isBalanced),
    ],
    latency,
  };
}

export function quantileFigures(latency: Histogram): readonly Figure[] {
  return Object.entries(latencyShares).flatMap(([name, share]) => {
    const value = latency.quantile(share)?.value;
    return value === undefined ? [] : [{ name, unit: 'nanoseconds' as const, value }];
  });
}

/** Tries for each request, where clients ask again: 1 when none fails. */
function triesFigure(ticks: readonly TickLine[]): readonly Figure[] {
  const clients = ticks.flatMap((tick) => tick.clients);
  const planned = sum(clients.map((client) => client.planned));
  if (planned === 0 || clients.every(({ retries }) => retries === undefined)) return [];
  const retries = sum(clients.map((client) => client.retries ?? 0));
  return [{ name: 'tries', unit: 'count', value: 1 + retries / planned }];
}

/** Each replica's share of all that was in flight at the replicas, weighted by time. */
function heldShares(ticks: readonly TickLine[], isBalanced: (id: string) => boolean): readonly Figure[] {
  const areas = new Map<string, number>();
  for (const tick of ticks) {
    for (const { id, in_flight_mean: mean } of tick.replicas) {
      if (mean !== undefined && isBalanced(id)) areas.set(id, (areas.get(id) ?? 0) + mean * tick.span_ns);
    }
  }
  const all = sum([...areas.values()]);
  if (all === 0) return [];
  return [...areas].map(([id, area]) => ({ name: `in flight at ${id}`, unit: 'share' as const, value: area / all }));
}

export const figureNamed = (figures: readonly Figure[], name: string): number | undefined =>
  figures.find((figure) => figure.name === name)?.value;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
