// `plimsoll load-line SCENARIO`, or of a RECORD: how much it may safely carry.

import { z } from 'zod';
import { fitFleet, loadLine, type LoadLineProgress } from '../../bench.ts';
import { loadLineSvg, loadLineText } from '../../report.ts';
import type { Scenario } from '../../scenario.ts';
import { type ExitCode, UsageError } from '../exit.ts';
import { LiveRegion } from '../live-region.ts';
import { isScenario, loadScenario } from '../load-scenario.ts';
import { readRecordAt } from '../read-evidence.ts';
import { tellEvenIfStopped } from '../stop-on-signals.ts';
import { paintFor } from '../terminal.ts';
import { typedFlags } from '../typed-flags.ts';

const whole = z
  .string()
  .regex(/^\d{1,9}$/, 'expected a whole number')
  .transform(Number);

const flags = z.object({
  set: z.array(z.string()).optional(),
  seed: whole,
  threads: whole.pipe(z.number().min(1)),
  json: z.boolean().optional(),
  svg: z.boolean().optional(),
  quiet: z.boolean().optional(),
});

export async function loadLineCommand(subject: string, options: object): Promise<ExitCode> {
  const { set, seed, threads, json, svg, quiet } = typedFlags(flags, options);
  const live = quiet === true ? undefined : new LiveRegion(process.stderr);
  const scenario = await scenarioOf(subject, set, (note) => live?.say(note));
  const began = performance.now();
  const onProgress = (progress: LoadLineProgress): void =>
    live?.show(
      { title: `load line of ${scenario.name}`, progress: progressText(progress), tick: undefined },
      (performance.now() - began) / 1000,
    );
  return tellEvenIfStopped(live, 'stopping: what has been found is told (once more ends at once)', async (stop) => {
    const line = await loadLine(scenario, { seed, workers: threads, stop, onProgress });
    if (json === true) return JSON.stringify(line, undefined, 2);
    return svg === true ? loadLineSvg(line) : loadLineText(line, paintFor(process.stdout)).join('\n');
  });
}

async function scenarioOf(
  subject: string,
  set: readonly string[] | undefined,
  say: (note: string) => void,
): Promise<Scenario> {
  if (isScenario(subject)) return loadScenario(subject, set ?? []).scenario;
  if (set !== undefined) {
    throw new UsageError('--set: changes the text of a scenario, and a record has none; expected a scenario beside it');
  }
  const { record, remarks } = await readRecordAt(subject);
  remarks.forEach(say);
  const fleet = fitFleet(record);
  if (typeof fleet === 'string') throw new UsageError(`${subject}: no fleet can be fitted: ${fleet}`);
  fleet.notes.forEach(say);
  return fleet.scenario;
}

function progressText({ edge, low, high, runs }: LoadLineProgress): string {
  const which = edge === 'fail' ? 'sinks' : 'is back';
  return `${which} between ${low.toFixed(0)}/s and ${high.toFixed(0)}/s, ${runs} imagined runs`;
}
