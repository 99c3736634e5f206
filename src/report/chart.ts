// The pictures of a run: what was in flight in each replica, what each answered, how long the clients waited. A large fleet
// is drawn by the few that stand out most; the caption says so.

import { type Duration, formatDuration } from '../base.ts';
import type { ReplicaTick, TickLine } from '../record.ts';
import { lineChart, type Series } from './line-chart.ts';

export interface ChartInput {
  readonly title: string;
  readonly ticks: readonly TickLine[];
}

/** More lines than this nobody can follow. */
export const linesMax = 12;

/** Requests inside each replica. Dependencies are left out: they are not balanced. */
export function inFlightChart({ title, ticks }: ChartInput): string {
  const series = outstanding(replicaSeries(ticks, (replica) => replica.in_flight_mean));
  return lineChart({ title, ticks, series, say: (level) => String(Math.round(level * 10) / 10) });
}

/** Answers of each replica, a second. */
export function rateChart({ title, ticks }: ChartInput): string {
  const series = replicaSeries(ticks, (replica, tick) =>
    replica.finished === undefined ? undefined : (replica.finished * 1e9) / tick.span_ns,
  );
  return lineChart({ title, ticks, series: outstanding(series), say: (level) => `${Math.round(level)}/s` });
}

/** The median and the 99th percentile that each group of clients waited, from when a request was due. */
export function latencyChart({ title, ticks }: ChartInput): string {
  const groups = [...new Set(ticks.flatMap((tick) => tick.clients.map((one) => one.group)))];
  const series = groups.flatMap((group) =>
    (['p50', 'p99'] as const).map((quantile): Series => {
      const name = groups.length === 1 ? quantile : `${group} ${quantile}`;
      const levels = ticks.map(
        (tick) => tick.clients.find((one) => one.group === group)?.latency?.[`${quantile}_ns` as const],
      );
      return { name, levels };
    }),
  );
  const say = (level: number): string => formatDuration(level as Duration);
  return lineChart({ title, ticks, series: series.slice(0, linesMax), say, scale: 'decades' });
}

/** How many replicas answered anything; a chart shows `linesMax` of them at most. */
export function replicaCount(ticks: readonly TickLine[]): number {
  return replicaIds(ticks).length;
}

function replicaSeries(
  ticks: readonly TickLine[],
  level: (replica: ReplicaTick, tick: TickLine) => number | undefined,
): Series[] {
  const levels = new Map(replicaIds(ticks).map((id) => [id, ticks.map((): number | undefined => undefined)]));
  for (const [at, tick] of ticks.entries()) {
    for (const replica of tick.replicas) {
      const own = levels.get(replica.id);
      if (own !== undefined) own[at] = level(replica, tick);
    }
  }
  return [...levels].map(([name, own]) => ({ name, levels: own }));
}

/** Those that reached highest, in the order of their names. */
function outstanding(series: readonly Series[]): readonly Series[] {
  if (series.length <= linesMax) return series;
  const height = ({ levels }: Series): number => levels.reduce<number>((most, one) => Math.max(most, one ?? 0), 0);
  const chosen = new Set(series.toSorted((one, other) => height(other) - height(one)).slice(0, linesMax));
  return series.filter((one) => chosen.has(one));
}

function replicaIds(ticks: readonly TickLine[]): string[] {
  const ids = new Set<string>();
  for (const tick of ticks) {
    for (const replica of tick.replicas) if ((replica.finished ?? 0) > 0) ids.add(replica.id);
  }
  return [...ids].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}
