// `plimsoll run SCENARIO --world sim --replications N`: no verdict, but every figure with its interval.

import { intervalsOf, replicateAll, seedsFrom, settled } from '../../bench.ts';
import { intervalsText } from '../../report.ts';
import type { Scenario } from '../../scenario.ts';
import { exit, type ExitCode } from '../exit.ts';
import { paintFor } from '../terminal.ts';

export interface ReplicationOptions {
  readonly replications: number;
  readonly workers: number;
  readonly seed: number;
  readonly json: boolean;
}

export async function replications(scenario: Scenario, options: ReplicationOptions): Promise<ExitCode> {
  const { arrangement, warmUp } = settled(scenario, options.seed);
  const jobs = seedsFrom(options.seed, options.replications).map((seed) => ({ scenario, seed, arrangement }));
  const figures = intervalsOf(await replicateAll(jobs, options.workers));
  const view = { scenario: scenario.name, replications: options.replications, warmUp, figures };
  if (options.json) process.stdout.write(`${JSON.stringify(view, undefined, 2)}\n`);
  else process.stdout.write(`${intervalsText(view, paintFor(process.stdout)).join('\n')}\n`);
  return exit.ok;
}
