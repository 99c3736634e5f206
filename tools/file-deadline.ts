// A test file whose tests have ended may still hold a socket, a timer or a child process, and then its process never ends
// and neither does the run; the runner's own time limit covers tests, not files. Preloaded into every test process, this
// ends such a file after a while and says what was left open.

import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const limitMs = Number(process.env['PLIMSOLL_TEST_FILE_LIMIT_MS'] ?? 90_000);

/** Set by the test runner in the processes that it starts for single files. */
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
