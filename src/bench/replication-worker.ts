// The other end of a pool of replications: one thread, which plays each run that it is sent and answers with its figures. A program
// of its own, so it begins to listen when it is loaded.

import { parentPort } from 'node:worker_threads';
import { assert } from '../base.ts';
import type { ReplicationJob } from './replicate-all.ts';
import { replicate } from './replications.ts';

const port = parentPort;
assert(port !== null, 'this is a thread that a pool started');
port.on('message', ({ scenario, seed, arrangement }: ReplicationJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  port.postMessage(replicate(scenario, seed, arrangement));
});
