// The other end of `replicateAll`: one thread's share of the runs. A program of its own, so it begins to work when it is loaded.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../base.ts';
import type { ReplicationJob } from './replicate-all.ts';
import { replicate } from './replications.ts';

const given: unknown = workerData;
assert(isJobs(given) && parentPort !== null, 'this is a thread that replicateAll started');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort.postMessage(given.map(({ scenario, seed, arrangement }) => replicate(scenario, seed, arrangement)));

/** What another thread of this program sent is of its type; only that it was sent at all is checked. */
function isJobs(value: unknown): value is readonly ReplicationJob[] {
  return Array.isArray(value);
}
