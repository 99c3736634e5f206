// A balancer for each level of priority, and the arithmetic of `priority.ts` between them. Endpoints without a priority stand
// on level 0.

import { dice, type Instant } from '../../base.ts';
import type { Balancer, Fleet, PickOutcome, PickRequest } from './balancer.ts';
import { Layered } from './layered.ts';
import { type LevelLoad, priorityLoads, type PriorityOptions } from './priority.ts';

export interface ByPriorityOptions extends PriorityOptions {
  readonly seed: number;
  /** Makes the balancer of one level. */
  readonly level: (level: number) => Balancer;
}

export function byPriority(options: ByPriorityOptions): ByPriority {
  return new ByPriority(options);
}

export class ByPriority implements Balancer {
  readonly name = 'by-priority';
  readonly #options: ByPriorityOptions;
  readonly #layered: Layered;
  #loads: readonly LevelLoad[] = [];

  constructor(options: ByPriorityOptions) {
    this.#options = options;
    this.#layered = new Layered(dice(options.seed, 'balance/by-priority'), options.level);
  }

  /** What each level takes at present, and which of them panic. */
  get loads(): readonly LevelLoad[] {
    return this.#loads;
  }

  pick(request: PickRequest, now: Instant): number | undefined {
    return this.#layered.pick(request, now);
  }

  started(endpoint: number, now: Instant): void {
    this.#layered.started(endpoint, now);
  }

  finished(endpoint: number, outcome: PickOutcome, now: Instant): void {
    this.#layered.finished(endpoint, outcome, now);
  }

  inFlight(endpoint: number): number {
    return this.#layered.inFlight(endpoint);
  }

  score(endpoint: number, now: Instant): number | undefined {
    return this.#layered.score(endpoint, now);
  }

  drawn(): readonly number[] {
    return this.#layered.drawn();
  }

  rebuild(fleet: Fleet): void {
    const levels = levelsOf(fleet);
    this.#loads = priorityLoads(
      levels.map((members) => ({
        total: members.length,
        healthy: members.filter((index) => fleet.healthy[index] === true).length,
      })),
      this.#options,
    );
    this.#layered.rebuild(
      fleet,
      levels.map((members, level) => {
        const load = this.#loads[level];
        const inLevel = fleet.endpoints.map((_, index) => members.includes(index));
        return {
          share: load?.percent ?? 0,
          members: inLevel.map((is, index) => is && (load?.panic === true || fleet.healthy[index] === true)),
        };
      }),
    );
  }
}

/** Indices of the endpoints that have a weight, by level. A level that nobody stands on is empty. */
function levelsOf(fleet: Fleet): readonly (readonly number[])[] {
  const levels: number[][] = [];
  fleet.endpoints.forEach((endpoint, index) => {
    const level = endpoint.priority ?? 0;
    while (levels.length <= level) levels.push([]);
    if (endpoint.weight > 0) levels[level]?.push(index);
  });
  return levels;
}
