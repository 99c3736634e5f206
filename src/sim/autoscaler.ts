// How many replicas a service should have, after the algorithm that Kubernetes publishes for its horizontal pod autoscaler
// (kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale, "Algorithm details"):
//
//   desired = ⌈ current × mean load ÷ target ⌉        unless the ratio is within the tolerance of one
//
// Up, a replica that is not ready yet counts as idle; a replica that cannot be asked counts as idle on the way up and as exactly at its
// target on the way down. Whatever turns round by that is left alone. Up goes at once, but in one round to no more than twice as
// many, or four more. Down goes to the highest recommendation of a window that has passed: so a lull is waited out.
//
// It misbehaves by what it sees: the mean hides one hot replica among idle ones; a full replica is full, however much more is asked;
// and a load that comes before the replicas that it asked for finds the old ones. Nobody is busier than fully, so a target that full replicas exceed by less than the tolerance never asks
// for more. Replicas that nobody sends anything to change nothing, and are taken away again after the window.

import { assert } from '../base.ts';

/** In one round no more than this factor, or this many more, as the default behaviour has it. */
const growthMax = 2;
const additionMax = 4;
/** What sums of fractions may be off. */
const rounding = 1e-9;

export interface AutoscalerSettings {
  readonly min: number;
  readonly max: number;
  /** Load of a replica that is wanted, 0–1. */
  readonly target: number;
  /** Up to this share off the target nothing changes. */
  readonly tolerance: number;
  /** How long a lower recommendation must have stood. */
  readonly scaleDownAfter: number;
}

/** What a round sees. */
export interface Observation {
  /** Of the replicas that are ready and can be asked: the share of their time at work, 0–1. */
  readonly loads: readonly number[];
  /** Started and not ready yet. */
  readonly starting: number;
  /** Ready, and they did not answer. */
  readonly silent: number;
}

export class Autoscaler {
  readonly #settings: AutoscalerSettings;
  /** Recommendations of the window. What there is at the first look counts as the first of them. */
  #recent: { readonly at: number; readonly count: number }[] | undefined;

  constructor(settings: AutoscalerSettings) {
    assert(
      settings.min >= 1 && settings.min <= settings.max,
      'at least one replica, and no fewer at most than at least',
    );
    assert(settings.target > 0, 'a target above nothing');
    this.#settings = settings;
  }

  /** How many there should be from now on. */
  decide(observation: Observation, now: number): number {
    const { min, max, scaleDownAfter } = this.#settings;
    const current = observation.loads.length + observation.starting + observation.silent;
    const wanted = clamp(recommended(observation, this.#settings), min, max);
    const recent = (this.#recent ?? [{ at: now, count: current }]).filter(({ at }) => at > now - scaleDownAfter);
    recent.push({ at: now, count: wanted });
    this.#recent = recent;
    const highest = Math.max(...recent.map(({ count }) => count));
    const stable = wanted < current ? Math.min(current, highest) : wanted;
    return clamp(Math.min(stable, Math.max(growthMax * current, current + additionMax)), min, max);
  }
}

/** Without bounds and memory. */
export function recommended(
  { loads, starting, silent }: Observation,
  { target, tolerance }: Pick<AutoscalerSettings, 'target' | 'tolerance'>,
): number {
  const current = loads.length + starting + silent;
  if (loads.length === 0) return current;
  const total = loads.reduce((sum, load) => sum + load, 0);
  const ratio = total / loads.length / target;
  const isUp = ratio > 1;
  // Whoever is not known is taken to be as it speaks against the change.
  const assumedIdle = isUp ? starting + silent : 0;
  const assumedFull = isUp ? 0 : silent;
  if (assumedIdle + assumedFull === 0) {
    return isWithin(ratio, tolerance) ? current : Math.ceil(ratio * loads.length - rounding);
  }
  const counted = loads.length + assumedIdle + assumedFull;
  const cautious = (total + assumedFull * target) / counted / target;
  if (isWithin(cautious, tolerance) || cautious > 1 !== isUp) return current;
  const count = Math.ceil(cautious * counted - rounding);
  return isUp ? Math.max(current, count) : Math.min(current, count);
}

const isWithin = (ratio: number, tolerance: number): boolean => Math.abs(ratio - 1) <= tolerance + rounding;

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));
