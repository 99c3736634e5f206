// Random tests that fail once in a hundred runs teach nobody anything at the hundredth. Preloaded into the test processes, this
// gives every property test the same seed each time, so that the run of a change is the run of its reviewer:
//
//   PLIMSOLL_PROPERTY_SEED=7 npm test         another seed
//   PLIMSOLL_PROPERTY_SEED=random npm test    a new one for each test; a failure prints it

import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const wanted = process.env['PLIMSOLL_PROPERTY_SEED'] ?? '20261130';
const file = process.argv[1] ?? '';

// Loading fast-check costs a tenth of a second, which the files that do not use it need not pay.
if (
  isMainThread &&
  wanted !== 'random' &&
  file.endsWith('.test.ts') &&
  readFileSync(file, 'utf8').includes('fast-check')
) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(wanted) });
}
