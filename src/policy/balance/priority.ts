// Levels of endpoints: those of level 0 serve everything as long as they can, the rest waits. Each level is worth its share of
// healthy endpoints times an allowance (1.4: a level of which 72 % are healthy still counts as whole), and what it is not worth
// goes to the next. The arithmetic is Envoy's:
//
//   health(P) = min(100, 140 · healthy ÷ total)       total = min(100, Σ health)
//   load(P)   = min(what is left, health(P) · 100 ÷ total)
//
// Panic: when all levels together are worth less than 100 and less than `panicBelow` of a level's endpoints are healthy, the
// verdict "unhealthy" is no longer believed for that level and its load is spread over everybody in it. Two opposite things
// can be true of a level that looks ill: the check is wrong, or most are really dead. Spreading serves the first and wastes
// requests on the second, so the threshold is set in sight and 0 turns it off: then a level without anybody healthy takes
// nothing, and if that is so of all, there is no endpoint.
//
// Whole percents, rounded so that they add up to 100; what rounding leaves over goes to the first level that takes anything.

import { assert } from '../../base.ts';

export interface LevelHealth {
  readonly healthy: number;
  readonly total: number;
}

export interface PriorityOptions {
  /** How far a level may shrink before its load spills over: 1.4 by default. 1: at once. */
  readonly allowance?: number;
  /** Share of a level's endpoints below which panic begins, 0 to 1: 0.5 by default. */
  readonly panicBelow?: number;
}

export interface LevelLoad {
  /** Percent of the requests, whole. */
  readonly percent: number;
  /** Its load goes to everybody in it, healthy or not. */
  readonly panic: boolean;
}

/** Percents that add up to 100, or all 0 when nobody is there to take a request. */
export function priorityLoads(levels: readonly LevelHealth[], options: PriorityOptions = {}): readonly LevelLoad[] {
  const allowance = options.allowance ?? 1.4;
  const panicBelow = options.panicBelow ?? 0.5;
  assert(allowance >= 1, 'an allowance does not make a level worth less than it is');
  assert(panicBelow >= 0 && panicBelow <= 1, 'a panic threshold is a share');
  const worth = levels.map(({ healthy, total }) =>
    total === 0 ? 0 : Math.min(100, Math.floor((allowance * 100 * healthy) / total)),
  );
  const sum = Math.min(
    100,
    worth.reduce((all, one) => all + one, 0),
  );
  const panics = levels.map(({ healthy, total }) => sum < 100 && total > 0 && healthy < panicBelow * total);
  if (sum === 0) return nobodyIsHealthy(levels, panics);
  let left = 100;
  const percents = worth.map((one) => {
    const percent = Math.min(left, Math.round((one * 100) / sum));
    left -= percent;
    return percent;
  });
  const first = percents.findIndex((percent) => percent > 0);
  return percents.map((percent, level) => ({
    percent: level === first ? percent + left : percent,
    panic: panics[level] ?? false,
  }));
}

/** Everything to the first level that panics and has somebody in it. */
function nobodyIsHealthy(levels: readonly LevelHealth[], panics: readonly boolean[]): readonly LevelLoad[] {
  const first = levels.findIndex(({ total }, level) => total > 0 && panics[level] === true);
  return levels.map((_, level) => ({ percent: level === first ? 100 : 0, panic: panics[level] ?? false }));
}
