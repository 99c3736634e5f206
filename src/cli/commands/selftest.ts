// `plimsoll selftest`: the ruler measured, on every engine that there is here. A server whose response times are known is asked at
// several rates, and what was measured is printed beside what is true.

import { selftest, type SelftestRow, selftestText } from '../../load.ts';
import { chooseEngine, type EngineChoice } from '../../net.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';

export async function runSelftest(options: { readonly engine?: string }): Promise<ExitCode> {
  const onRow = (row: SelftestRow): void => void process.stdout.write(`${selftestText([row])}\n\n`);
  const rows: SelftestRow[] = [];
  for (const engine of await enginesFor(options.engine)) rows.push(...(await selftest({ engine, onRow })));
  return rows.every((row) => row.verdict !== 'off') ? exit.ok : exit.internal;
}

async function enginesFor(wanted: string | undefined): Promise<readonly EngineChoice[]> {
  if (wanted === 'node') return ['node'];
  if (wanted !== undefined && wanted !== 'uring') {
    throw new UsageError(`--engine: found "${wanted}", expected uring or node`);
  }
  const uring = chooseEngine('uring');
  if ('impossible' in uring) {
    if (wanted === 'uring') throw new UsageError(`--engine uring: ${uring.impossible}`);
    process.stderr.write(`not on io_uring: ${uring.impossible}\n`);
    return ['node'];
  }
  await uring.engine.close();
  return wanted === 'uring' ? ['uring'] : ['uring', 'node'];
}
