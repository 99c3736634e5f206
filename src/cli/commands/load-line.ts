// `plimsoll load-line SCENARIO`: how much it may safely carry.

import { z } from 'zod';
import { loadLine } from '../../bench.ts';
import { loadLineText } from '../../report.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { loadScenario } from '../load-scenario.ts';
import { paintFor } from '../terminal.ts';

const whole = z
  .string()
  .regex(/^\d{1,9}$/, 'expected a whole number')
  .transform(Number);

const flags = z.object({
  set: z.array(z.string()).optional(),
  seed: whole,
  threads: whole.pipe(z.number().min(1)),
  json: z.boolean().optional(),
});

export async function loadLineCommand(nameOrFile: string, options: object): Promise<ExitCode> {
  const parsed = flags.safeParse(options);
  if (!parsed.success) {
    throw new UsageError(parsed.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n'));
  }
  const { set, seed, threads, json } = parsed.data;
  const { scenario } = loadScenario(nameOrFile, set ?? []);
  const line = await loadLine(scenario, { seed, workers: threads });
  if (json === true) process.stdout.write(`${JSON.stringify(line, undefined, 2)}\n`);
  else process.stdout.write(`${loadLineText(line, paintFor(process.stdout)).join('\n')}\n`);
  return exit.ok;
}
