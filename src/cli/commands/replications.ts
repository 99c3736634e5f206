// `plimsoll run SCENARIO --world sim --replications N`, or `--until-relative-error 1%`: no verdict, but every figure with its interval.

import { intervalsOf, ReplicationPool, type Replication, replicateUntil, seedsFrom, settled } from '../../bench.ts';
import { intervalsText } from '../../report.ts';
import type { Arrangement, Scenario } from '../../scenario.ts';
import type { ExitCode } from '../exit.ts';
import type { LiveRegion } from '../live-region.ts';
import { tellEvenIfStopped } from '../stop-on-signals.ts';
import { paintFor } from '../terminal.ts';

export interface ReplicationOptions {
  /** So many; with an error to be reached, so many at most. */
  readonly replications: number;
  /** Half an interval ÷ its figure. Undefined: as many as there are to be. */
  readonly relativeError: number | undefined;
  readonly workers: number;
  readonly seed: number;
  readonly json: boolean;
  readonly live: LiveRegion | undefined;
}

export async function replications(scenario: Scenario, options: ReplicationOptions): Promise<ExitCode> {
  const { live, json } = options;
  return tellEvenIfStopped(live, 'stopping (once more ends at once)', async (stop) => {
    const { arrangement, warmUp } = settled(scenario, options.seed);
    const { runs, reached } = await played(scenario, arrangement, options, stop);
    const figures = intervalsOf(runs);
    const view = { scenario: scenario.name, replications: runs.length, warmUp, ...reached, figures };
    return json ? JSON.stringify(view, undefined, 2) : intervalsText(view, paintFor(process.stdout)).join('\n');
  });
}

interface Played {
  readonly runs: readonly Replication[];
  readonly reached: { readonly relativeError?: number; readonly widest?: string };
}

async function played(
  scenario: Scenario,
  arrangement: Arrangement,
  { replications: count, relativeError, workers, seed, live }: ReplicationOptions,
  stop: AbortSignal,
): Promise<Played> {
  const began = performance.now();
  const onRun = (finished: number): void =>
    live?.show(
      { title: scenario.name, progress: `${finished} of ${count} replications`, tick: undefined },
      (performance.now() - began) / 1000,
    );
  if (relativeError !== undefined) {
    const found = await replicateUntil({
      scenario,
      arrangement,
      seed,
      workers,
      relativeError,
      most: count,
      stop,
      onRun,
    });
    return { runs: found.replications, reached: { relativeError: found.reached, widest: found.figure } };
  }
  const pool = new ReplicationPool({ workers: Math.min(workers, count), stop, onRun });
  try {
    const jobs = seedsFrom(seed, count).map((each) => ({ scenario, seed: each, arrangement }));
    return { runs: await pool.run(jobs), reached: {} };
  } finally {
    await pool.close();
  }
}
