// A test file may never end: its tests are over, but a socket, a timer or a child process is left open. Then the run would
// never end either, and nobody would know which file it was. Preloaded into every test process, this ends such a file after
// a while and says what was left. One that spins cannot end itself: hung-files.ts sees to it.

import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const limitMs = Number(process.env['PLIMSOLL_TEST_FILE_LIMIT_MS'] ?? 90_000);

/** The test runner sets this in the processes that it starts for single files. */
const runsOneFile = process.env['NODE_TEST_CONTEXT'] !== undefined && isMainThread;

function giveUp(): void {
  const open = process.getActiveResourcesInfo().filter((kind) => !kind.endsWith('Wrap') || kind.startsWith('TCP'));
  const file = basename(process.argv[1] ?? 'a test file');
  process.stderr.write(
    `${file} has not ended after ${limitMs / 1000} s. Still open: ${open.join(', ') || 'unknown'}.\n`,
  );
  process.exit(1);
}

// Unreferenced: the deadline itself keeps nothing alive.
if (runsOneFile) setTimeout(giveUp, limitMs).unref();
