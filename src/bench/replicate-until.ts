// As many replications as an error takes. The half-width of an interval falls as 1/√n, so after the first round one knows about how many
// more are needed; they are played in rounds, because what a round says of its own error is itself only an estimate.
//
//   n ← 10;  while the widest interval ÷ its figure > ε and n < most:  n ← n · (widest ÷ ε)², at most doubled
//
// To stop just when an interval happens to be narrow makes it miss a little more often than it says (Chow and Robbins, Annals of
// Mathematical Statistics 36, 1965: exact only as ε → 0), which is why no round is smaller than ten.

import { assert } from '../base.ts';
import type { Arrangement, Scenario } from '../scenario.ts';
import { latencyShares } from './figures.ts';
import { ReplicationPool } from './replicate-all.ts';
import { type FigureInterval, intervalsOf, type Replication, seedsFrom } from './replications.ts';

export interface UntilOptions {
  readonly scenario: Scenario;
  readonly arrangement: Arrangement;
  readonly seed: number;
  readonly workers: number;
  /** Half an interval ÷ its figure: 0.01 is 1 %. */
  readonly relativeError: number;
  /** So many at most. */
  readonly most: number;
  readonly stop?: AbortSignal;
  readonly onRun?: (finished: number) => void;
}

export interface Until {
  readonly replications: readonly Replication[];
  /** What the widest interval came to. */
  readonly reached: number;
  readonly figure: string;
}

const first = 10;
/** Shares of failures and of what was in flight may be zero, and an error of nothing is no part of it. */
const steered = ['throughput', ...Object.keys(latencyShares)];

/** Stopped: what has been played by whole rounds. Rejects when not even the first was. */
export async function replicateUntil(options: UntilOptions): Promise<Until> {
  const { scenario, arrangement, seed, relativeError, most, stop, onRun } = options;
  assert(relativeError > 0 && most >= first, 'an error above nothing, and room for a first round');
  const pool = new ReplicationPool({ workers: options.workers, stop, onRun });
  const replications: Replication[] = [];
  let wanted = first;
  try {
    for (;;) {
      const seeds = seedsFrom(seed + replications.length, wanted - replications.length);
      replications.push(...(await pool.run(seeds.map((each) => ({ scenario, seed: each, arrangement })))));
      const widest = widestOf(replications);
      const count = replications.length;
      if (widest.reached <= relativeError || count >= most || stop?.aborted === true)
        return { replications, ...widest };
      const needed = Math.ceil(count * (widest.reached / relativeError) ** 2);
      wanted = Math.min(most, Math.max(count + first, Math.min(needed, 2 * count)));
    }
  } catch (error) {
    if (stop?.aborted !== true || replications.length === 0) throw error;
    return { replications, ...widestOf(replications) };
  } finally {
    await pool.close();
  }
}

function widestOf(replications: readonly Replication[]): { readonly reached: number; readonly figure: string } {
  const errors = intervalsOf(replications)
    .filter(({ name, value }) => steered.includes(name) && value > 0)
    .map((interval) => ({ figure: interval.name, reached: relativeOf(interval) }));
  const [widest] = errors.toSorted((one, other) => other.reached - one.reached);
  return widest ?? { figure: 'throughput', reached: 0 };
}

const relativeOf = ({ value, low, high }: FigureInterval): number => (high - low) / 2 / value;
