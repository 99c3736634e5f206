// What is compared of one run: the figures of its baseline phase, each with the error that the scatter of its own seconds gives.
//
//   throughput, failed, p50, p90, p99     what clients feel
//   worker time, CPU per request          what a request costs
//   fullest share, largest share          where the load stands, where the requests go: which mechanism is at work
//   generator lag                         the ruler

import type { ComparedRun, FigureKind } from '../../diagnose.ts';
import { evaluate } from '../../load.ts';
import { ns } from '../../base.ts';
import { measuredTicks, type PhaseRecord, type RunRecord, type TickLine } from '../../record.ts';
import type { Objective } from '../../scenario.ts';
import { meanOf, varianceOf } from '../../stats.ts';
import { figureNamed, figuresOf, latencyShares } from '../figures.ts';

interface Figure {
  readonly value: number;
  readonly error: number | undefined;
}

export interface Smallest {
  /** For every figure that has none of its own. */
  readonly all: number;
  readonly own: ReadonlyMap<string, number>;
}

/** Tails scatter more from run to run, and people plan with more room there. */
export const defaultSmallest: Smallest = {
  all: 0.05,
  own: new Map([
    ['p99', 0.1],
    ['failed', 0.001],
  ]),
};

/** Everything that can be compared, in the order in which it is shown. */
export function figureKinds({ all, own }: Smallest): readonly FigureKind[] {
  const of = (name: string, otherwise = all): number => own.get(name) ?? otherwise;
  const time = { unit: 'nanoseconds', better: 'less', scale: 'ratio' } as const;
  const share = { unit: 'share', better: 'less', scale: 'difference' } as const;
  return [
    {
      name: 'throughput',
      unit: 'per-second',
      role: 'gate',
      better: 'more',
      scale: 'ratio',
      smallest: of('throughput'),
    },
    { name: 'failed', ...share, role: 'gate', smallest: of('failed', defaultSmallest.own.get('failed')) },
    ...Object.keys(latencyShares).map((name) => ({ name, ...time, role: 'gate' as const, smallest: of(name) })),
    { name: 'worker time', ...time, role: 'price', smallest: of('worker time') },
    { name: 'slowest worker time', ...time, role: 'price', smallest: of('slowest worker time') },
    { name: 'CPU per request', ...time, role: 'price', smallest: of('CPU per request') },
    { name: 'gateway CPU per request', ...time, role: 'price', smallest: of('gateway CPU per request') },
    { name: 'fullest share', ...share, role: 'mechanism', smallest: of('fullest share', 0.1) },
    { name: 'largest share', ...share, role: 'mechanism', smallest: of('largest share', 0.1) },
    { name: 'throttled', ...share, role: 'mechanism', smallest: of('throttled', 0.01) },
    { name: 'generator lag', ...share, role: 'ruler', smallest: of('generator lag', 0.05) },
  ];
}

/** Undefined: the record has no phase with measured seconds in it. */
export function comparedRun(
  record: RunRecord,
  order: number | undefined,
  objectives: readonly Objective[],
): ComparedRun | undefined {
  const phase = baselinePhase(record);
  if (phase === undefined) return undefined;
  return {
    order,
    figures: figuresOfRun(phase, balancedIn(record)),
    objectives: objectivesIn(phase, objectives),
  };
}

/** Experiments may differ from run to run; what is compared is the same arrangement. */
export function baselinePhase({ phases }: RunRecord): PhaseRecord | undefined {
  const phase = phases.find(({ line, ticks }) => line.experiment === undefined && ticks.length > 0);
  return phase === undefined || measuredTicks(phase).length === 0 ? undefined : phase;
}

function balancedIn({ topology }: RunRecord): (id: string) => boolean {
  const dependencies = new Set(
    topology.services
      .filter(({ role }) => role === 'dependency')
      .flatMap(({ replicas }) => replicas.map(({ id }) => id)),
  );
  return (id) => !dependencies.has(id);
}

function figuresOfRun(phase: PhaseRecord, isBalanced: (id: string) => boolean): ReadonlyMap<string, Figure> {
  const ticks = measuredTicks(phase);
  const { figures } = figuresOf(phase, isBalanced);
  const found = new Map<string, Figure>();
  const put = (name: string, value: number | undefined, byTick: readonly (number | undefined)[]): void => {
    if (value !== undefined && Number.isFinite(value)) found.set(name, { value, error: errorOf(byTick) });
  };
  put('throughput', figureNamed(figures, 'throughput'), ticks.map(throughputIn));
  put('failed', figureNamed(figures, 'failed'), ticks.map(failedIn));
  for (const name of ['p50', 'p90', 'p99'] as const) {
    put(
      name,
      figureNamed(figures, name),
      ticks.map((tick) => quantileIn(tick, name)),
    );
  }
  const workerTimes = ticks.map((tick) => workerTimeIn([tick], isBalanced));
  put('worker time', workerTimeIn(ticks, isBalanced), workerTimes);
  put('slowest worker time', slowestIn(ticks, isBalanced), []);
  put(
    'CPU per request',
    cpuIn(ticks, isBalanced),
    ticks.map((tick) => cpuIn([tick], isBalanced)),
  );
  put(
    'gateway CPU per request',
    gatewayCpuIn(ticks),
    ticks.map((tick) => gatewayCpuIn([tick])),
  );
  const inside = (id: string, tick: TickLine): number =>
    tick.replicas.find((one) => one.id === id)?.in_flight_mean ?? 0;
  const handed = (id: string, tick: TickLine): number => {
    const replica = tick.replicas.find((one) => one.id === id);
    return replica?.started ?? replica?.finished ?? 0;
  };
  putLargest(found, 'fullest share', ticks, isBalanced, inside);
  putLargest(found, 'largest share', ticks, isBalanced, handed);
  put('throttled', throttledIn(ticks), []);
  put(
    'generator lag',
    lagIn(ticks),
    ticks.map((tick) => lagIn([tick])),
  );
  return found;
}

const count = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const secondsOf = (ticks: readonly TickLine[]): number => count(ticks.map(({ span_ns }) => span_ns)) / 1e9;

const throughputIn = (tick: TickLine): number | undefined =>
  tick.clients.length === 0 ? undefined : count(tick.clients.map(({ answered }) => answered)) / secondsOf([tick]);

function failedIn(tick: TickLine): number | undefined {
  const answered = count(tick.clients.map((client) => client.answered));
  const failed = count(tick.clients.flatMap((client) => Object.values(client.errors ?? {})));
  return answered + failed === 0 ? undefined : failed / (answered + failed);
}

/** Of all groups, weighted by their answers: only for how it scatters. */
function quantileIn(tick: TickLine, name: 'p50' | 'p90' | 'p99'): number | undefined {
  const known = tick.clients.flatMap(({ latency }) => latency ?? []);
  const all = count(known.map((latency) => latency.count));
  return all === 0 ? undefined : count(known.map((latency) => latency.count * latency[`${name}_ns`])) / all;
}

function workerTimeIn(ticks: readonly TickLine[], isBalanced: (id: string) => boolean): number | undefined {
  const own = ticks.flatMap(({ replicas }) => replicas.filter(({ id }) => isBalanced(id)));
  const pieces = count(own.map(({ service_count = 0 }) => service_count));
  return pieces === 0 ? undefined : count(own.map(({ service_sum_ns = 0 }) => service_sum_ns)) / pieces;
}

/** Of the replica that takes longest for a request: in strict rotation the whole fleet goes at its pace. */
function slowestIn(ticks: readonly TickLine[], isBalanced: (id: string) => boolean): number | undefined {
  const ids = new Set(ticks.flatMap(({ replicas }) => replicas.map(({ id }) => id)).filter(isBalanced));
  const times = [...ids].flatMap((own) => workerTimeIn(ticks, (id) => id === own) ?? []);
  return times.length < 2 ? undefined : Math.max(...times);
}

function cpuIn(ticks: readonly TickLine[], isBalanced: (id: string) => boolean): number | undefined {
  const own = ticks.flatMap(({ replicas }) =>
    replicas.filter(({ id, cpu_ns }) => isBalanced(id) && cpu_ns !== undefined),
  );
  const finished = count(own.map((replica) => replica.finished ?? 0));
  return finished === 0 ? undefined : count(own.map(({ cpu_ns = 0 }) => cpu_ns)) / finished;
}

function gatewayCpuIn(ticks: readonly TickLine[]): number | undefined {
  const own = ticks.flatMap(({ gateway }) => (gateway?.cpu_ns === undefined ? [] : [gateway]));
  const requests = count(own.map((gateway) => gateway.requests ?? 0));
  return requests === 0 ? undefined : count(own.map(({ cpu_ns = 0 }) => cpu_ns)) / requests;
}

/** Time that quotas took away, of all replicas' time. */
function throttledIn(ticks: readonly TickLine[]): number | undefined {
  const own = ticks.flatMap(({ replicas }) => replicas.flatMap(({ throttled_ns }) => throttled_ns ?? []));
  const seconds = secondsOf(ticks);
  return own.length === 0 || seconds === 0 ? undefined : count(own) / 1e9 / seconds;
}

/** Mean lateness of the generator ÷ mean latency. */
function lagIn(ticks: readonly TickLine[]): number | undefined {
  const lags = ticks.flatMap(({ clients }) => clients.flatMap(({ lag }) => lag ?? []));
  const latencies = ticks.flatMap(({ clients }) => clients.flatMap(({ latency }) => latency ?? []));
  const total = count(latencies.map((one) => one.count * one.mean_ns));
  return total === 0 || lags.length === 0 ? undefined : count(lags.map((one) => one.count * one.mean_ns)) / total;
}

/** The share of the replica that has most over the whole run. */
function putLargest(
  found: Map<string, Figure>,
  name: string,
  ticks: readonly TickLine[],
  isBalanced: (id: string) => boolean,
  amountOf: (id: string, tick: TickLine) => number,
): void {
  const ids = [...new Set(ticks.flatMap(({ replicas }) => replicas.map(({ id }) => id)))].filter(isBalanced);
  const areas = ids.map((id) => count(ticks.map((tick) => amountOf(id, tick) * tick.span_ns)));
  const all = count(areas);
  if (all === 0) return;
  const most = ids[areas.indexOf(Math.max(...areas))] ?? '';
  const byTick = ticks.map((tick) => {
    const total = count(ids.map((id) => amountOf(id, tick)));
    return total === 0 ? undefined : amountOf(most, tick) / total;
  });
  found.set(name, { value: Math.max(...areas) / all, error: errorOf(byTick) });
}

/** Standard error of a mean over seconds, of which the second resembles the first: batches of four stand for what is independent.
 * Undefined for too few. */
function errorOf(byTick: readonly (number | undefined)[]): number | undefined {
  const known = byTick.filter((value) => value !== undefined);
  const size = known.length >= 16 ? 4 : known.length >= 8 ? 2 : 1;
  const batches = Array.from({ length: Math.floor(known.length / size) }, (_, index) =>
    meanOf(known.slice(index * size, (index + 1) * size)),
  ).filter((value) => value !== undefined);
  const variance = batches.length < 4 ? undefined : varianceOf(batches);
  return variance === undefined ? undefined : Math.sqrt(variance / batches.length);
}

function objectivesIn(phase: PhaseRecord, objectives: readonly Objective[]): ComparedRun['objectives'] {
  if (objectives.length === 0) return [];
  const { latency } = figuresOf(phase);
  const planned = count(phase.ledgers.map((ledger) => ledger.planned));
  const answered = count(phase.ledgers.map((ledger) => ledger.answered));
  const span = ns(Math.round(secondsOf(measuredTicks(phase)) * 1e9));
  const outcome = { planned, sent: planned, answered, latency };
  return evaluate(objectives, () => outcome, span).map((one) => ({
    name: `${one.metric} ${one.expression}`,
    observed: one.observed,
    met: one.met,
  }));
}
