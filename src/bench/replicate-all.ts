// Many imagined runs on several threads. What goes to a thread and what comes back is data; the results are in the order of the
// jobs, so they do not hang on how many threads there were.
//
//   run(jobs) ──► next job ──► thread ──► result ──┐
//                     ▲                            │
//                     └────────────────────────────┘
//
// A pool lives as long as a search does: a thread takes a third of a second to start, as long as ten runs. Without threads the runs are
// played here, and between two of them the loop turns, so that a signal is heard and progress is drawn.

import { setImmediate as nextTurn } from 'node:timers/promises';
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

export interface PoolOptions {
  /** With one everything happens in this thread. */
  readonly workers: number;
  /** Aborted: no further run begins, and `run` rejects with its reason. */
  readonly stop?: AbortSignal | undefined;
  /** Hears of each run, with the count of all so far. */
  readonly onRun?: ((finished: number) => void) | undefined;
}

/** One result a job. */
export async function replicateAll(jobs: readonly ReplicationJob[], workers: number): Promise<readonly Replication[]> {
  const pool = new ReplicationPool({ workers: Math.max(1, Math.min(workers, jobs.length)) });
  try {
    return await pool.run(jobs);
  } finally {
    await pool.close();
  }
}

export class ReplicationPool {
  readonly #options: PoolOptions;
  readonly #threads: readonly Worker[];
  #finished = 0;

  constructor(options: PoolOptions) {
    const { workers } = options;
    assert(Number.isInteger(workers) && workers >= 1, 'there is at least one worker');
    this.#options = options;
    this.#threads =
      workers === 1
        ? []
        : Array.from({ length: workers }, () => new Worker(new URL('replication-worker.ts', import.meta.url)));
  }

  /** Runs played so far. */
  get finished(): number {
    return this.#finished;
  }

  /** One result a job. One call at a time. */
  async run(jobs: readonly ReplicationJob[]): Promise<readonly Replication[]> {
    const results: Replication[] = [];
    let next = 0;
    const work = async (play: (job: ReplicationJob) => Promise<Replication>): Promise<void> => {
      for (let job = jobs[next]; job !== undefined; job = jobs[next]) {
        this.#options.stop?.throwIfAborted();
        const place = next;
        next += 1;
        results[place] = await play(job);
        this.#finished += 1;
        this.#options.onRun?.(this.#finished);
      }
    };
    if (this.#threads.length === 0) await work(playHere);
    else await Promise.all(this.#threads.map((thread) => work((job) => playIn(thread, job))));
    return results;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}

async function playHere({ scenario, seed, arrangement }: ReplicationJob): Promise<Replication> {
  await nextTurn();
  return replicate(scenario, seed, arrangement);
}

function playIn(thread: Worker, job: ReplicationJob): Promise<Replication> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const onMessage = (result: Replication): void => settle(() => resolve(result));
    const onError = (error: unknown): void => settle(() => reject(error));
    const onExit = (code: number): void =>
      settle(() => reject(new Error(`a thread of replications ended by itself with code ${code}`)));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(job);
  });
}
