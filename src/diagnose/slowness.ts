// Is one replica really slower than its siblings, or did it draw longer work by chance?
//
// A request's worker time has no queueing in it, so it may be pooled over every phase in which nobody touched the replica:
// a queue that is still settling does not change how long a worker takes. Per phase p, with n pieces of work of mean S:
//
//   dᵢₚ = ln Sᵢₚ − ln S̄(others)ₚ        variance  v·(1/nᵢₚ + 1/Σnⱼₚ)
//
// and over phases the inverse-variance mean. v is the squared coefficient of variation of one piece of work, taken from
// how the mean scatters from second to second, so it holds for any distribution. The largest of R replicas is judged at a
// level that allows for there having been R to choose from.
//
// Where nobody reports worker times (a balancer's log), the time between two answers of a replica that has work waiting stands
// in: it is S divided by the workers, which siblings have alike. It can only hide a slow replica, because the less loaded ones
// may have had idle workers meanwhile; so it proves, and never refutes.

import { normalAbove, normalQuantile } from '../stats.ts';
import { type Estimate, sum } from './quantity.ts';
import { measuredTicks, tickOf } from './phase-evidence.ts';
import type { SeenPhase } from './seen.ts';
import type { ExperimentFacts, ReplicaTick, TickLine } from '../record.ts';

export interface Slowness {
  readonly id: string;
  /** Its mean worker time ÷ the others': 1.15 is 15 % slower. The error is of the logarithm. */
  readonly ratio: Estimate;
  /** How many standard errors from 1. */
  readonly z: number;
  /** Chance that the slowest of equal replicas would look at least this slow. */
  readonly luck: number;
  readonly from: 'worker-time' | 'answers';
  /** Mean over those phases, in seconds: worker time, or time between two answers. */
  readonly mean: Estimate;
}

/** How often a fleet of equal replicas may have one called slower. */
export const luckMax = 0.02;

/** One entry for each of `ids` that can be compared, slowest first; empty when fewer than two can. They are compared with
 * all `siblings`, among which may be replicas that an experiment added. */
export function slownessOf(
  phases: readonly SeenPhase[],
  ids: readonly string[],
  siblings: readonly string[] = ids,
): Slowness[] {
  const reported = phases.some((phase) => phase.ticks.some((tick) => tick.replicas.some(hasWorkerTime)));
  const from = reported ? 'worker-time' : 'answers';
  const samples = phases.map((phase, index) => phaseSamples(phase, index > 0, siblings, from));
  const variation = variationOf(samples);
  const found = ids.flatMap((id) => {
    const one = compare(id, samples, variation, ids.length);
    return one === undefined ? [] : [{ ...one, from } satisfies Slowness];
  });
  return found.toSorted((one, other) => other.ratio.value - one.ratio.value);
}

/** How many standard errors the slowest of `replicas` equal ones must show to be called slower. */
export function criticalZ(replicas: number): number {
  return normalQuantile(1 - luckMax / replicas);
}

/** Whether the experiment did something to this replica that could change how long its work takes. */
export function touches(experiment: ExperimentFacts | undefined, id: string): boolean {
  return experiment?.target === id;
}

function hasWorkerTime(replica: ReplicaTick): boolean {
  return (replica.service_count ?? 0) > 0 && (replica.service_sum_ns ?? 0) > 0;
}

interface TickSample {
  readonly count: number;
  readonly mean: number;
}

type PhaseSamples = ReadonlyMap<string, readonly TickSample[]>;

/** In the first phase processes warm up, and its warm-up stays out; later ones only let the queues settle. */
function phaseSamples(
  phase: SeenPhase,
  settled: boolean,
  ids: readonly string[],
  from: Slowness['from'],
): PhaseSamples {
  const ticks: readonly TickLine[] = settled ? phase.ticks : measuredTicks(phase);
  const samples = new Map<string, readonly TickSample[]>();
  for (const id of ids) {
    if (touches(phase.line.experiment, id)) continue;
    const own = ticks.flatMap((tick) => sampleOf(tickOf(tick, id), from));
    if (own.length > 0) samples.set(id, own);
  }
  return samples;
}

function sampleOf(replica: ReplicaTick | undefined, from: Slowness['from']): TickSample[] {
  const { service_sum_ns = 0, service_count = 0, backlogged_ns = 0, backlogged_finished = 0 } = replica ?? {};
  const [sum_ns, count] =
    from === 'worker-time' ? [service_sum_ns, service_count] : [backlogged_ns, backlogged_finished];
  return sum_ns > 0 && count >= 1 ? [{ count, mean: sum_ns / 1e9 / count }] : [];
}

/** Squared coefficient of variation of one piece of work, from the scatter of tick means around their phase's mean. Work
 * that always takes exactly as long still differs by how it is timed: 2 % is the floor. */
function variationOf(phases: readonly PhaseSamples[]): number {
  let scatter = 0;
  let freedom = 0;
  for (const samples of phases) {
    for (const ticks of samples.values()) {
      const usable = ticks.filter((tick) => tick.count >= 5);
      const { mean } = pooled(usable);
      if (usable.length < 2) continue;
      scatter += sum(usable.map((tick) => tick.count * (tick.mean / mean - 1) ** 2));
      freedom += usable.length - 1;
    }
  }
  return Math.max(0.02 ** 2, freedom === 0 ? 1 : scatter / freedom);
}

function compare(
  id: string,
  phases: readonly PhaseSamples[],
  variation: number,
  replicas: number,
): Omit<Slowness, 'from'> | undefined {
  let weights = 0;
  let weighted = 0;
  const all: TickSample[] = [];
  for (const samples of phases) {
    const own = samples.get(id);
    const others = [...samples].flatMap(([other, ticks]) => (other === id ? [] : ticks));
    if (own === undefined || others.length === 0) continue;
    const mine = pooled(own);
    const theirs = pooled(others);
    const weight = 1 / (variation * (1 / mine.count + 1 / theirs.count));
    weights += weight;
    weighted += weight * Math.log(mine.mean / theirs.mean);
    all.push(mine);
  }
  if (weights === 0) return undefined;
  const difference = weighted / weights;
  const error = 1 / Math.sqrt(weights);
  const whole = pooled(all);
  return {
    id,
    ratio: { value: Math.exp(difference), error },
    z: difference / error,
    luck: Math.min(1, normalAbove(difference / error) * replicas),
    mean: { value: whole.mean, error: whole.mean * Math.sqrt(variation / whole.count) },
  };
}

function pooled(ticks: readonly TickSample[]): TickSample {
  const count = sum(ticks.map((tick) => tick.count));
  return { count, mean: sum(ticks.map((tick) => tick.count * tick.mean)) / count };
}
