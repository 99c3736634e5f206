// `plimsoll selftest`: the ruler measured. A server whose response times are known is asked at several rates, and what was
// measured is printed beside what is true.

import { selftest, selftestText } from '../../load.ts';
import { exit, type ExitCode } from '../exit.ts';

export async function runSelftest(): Promise<ExitCode> {
  const rows = await selftest({ onRow: (row) => process.stdout.write(`${selftestText([row])}\n\n`) });
  return rows.every((row) => row.verdict !== 'off') ? exit.ok : exit.internal;
}
