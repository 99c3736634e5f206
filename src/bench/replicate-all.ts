// Many imagined runs on several threads. What goes to a thread and what comes back is data; the results are in the order of the
// jobs, so they do not hang on how many threads there were.

import { Worker } from 'node:worker_threads';
import { assert } from '../base.ts';
import type { Arrangement, Scenario } from '../scenario.ts';
import { replicate, type Replication } from './replications.ts';

export interface ReplicationJob {
  readonly scenario: Scenario;
  readonly seed: number;
  /** The scenario's own baseline when absent. */
  readonly arrangement?: Arrangement;
}

/** One result a job. With one worker everything happens in this thread. */
export async function replicateAll(jobs: readonly ReplicationJob[], workers: number): Promise<readonly Replication[]> {
  assert(Number.isInteger(workers) && workers >= 1, 'there is at least one worker');
  const count = Math.min(workers, jobs.length);
  if (count <= 1) return jobs.map(({ scenario, seed, arrangement }) => replicate(scenario, seed, arrangement));
  const results: Replication[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const places = jobs.flatMap((_job, place) => (place % count === index ? [place] : []));
      const own = await inThread(places.flatMap((place) => jobs[place] ?? []));
      for (const [at, place] of places.entries()) {
        const result = own[at];
        assert(result !== undefined, 'a thread answers every job');
        results[place] = result;
      }
    }),
  );
  return results;
}

function inThread(jobs: readonly ReplicationJob[]): Promise<readonly Replication[]> {
  const worker = new Worker(new URL('replication-worker.ts', import.meta.url), { workerData: jobs });
  return new Promise((resolve, reject) => {
    worker.once('message', (results: readonly Replication[]) => resolve(results));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`a thread of replications ended by itself with code ${code}`)));
  });
}
