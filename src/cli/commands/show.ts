// `plimsoll show RECORD`: what was recorded, and the verdict if one was given; nothing is judged anew. A record that was cut
// off by a crash opens as well as any other.

import { z } from 'zod';
import { diagnose } from '../../diagnose.ts';
import { inFlightChart, recordText, resultPage } from '../../report.ts';
import { exit, type ExitCode } from '../exit.ts';
import { readRecordAt } from '../read-evidence.ts';
import { columnsOf, paintFor } from '../terminal.ts';

const flags = z.object({ json: z.boolean().optional(), svg: z.boolean().optional(), html: z.boolean().optional() });

export async function show(path: string, options: object): Promise<ExitCode> {
  const { json, svg, html } = flags.parse(options);
  const { record, remarks } = await readRecordAt(path);
  for (const remark of remarks) process.stderr.write(`${remark}\n`);
  if (svg === true) {
    const ticks = record.phases.flatMap((phase) => phase.ticks);
    process.stdout.write(
      inFlightChart({ title: `${record.header.scenario}: requests in flight in each replica`, ticks }),
    );
  } else if (html === true) {
    const outcome = { record, diagnosis: diagnose(record), objectives: [], limits: [], file: path };
    process.stdout.write(resultPage(outcome));
  } else if (json === true) process.stdout.write(`${JSON.stringify(record, undefined, 2)}\n`);
  else {
    const { phases } = diagnose(record);
    process.stdout.write(
      `${recordText(record, phases, columnsOf(process.stdout), paintFor(process.stdout)).join('\n')}\n`,
    );
  }
  return exit.ok;
}
