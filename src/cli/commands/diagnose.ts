// `plimsoll diagnose PATH…`: evidence in, verdict out.

import { z } from 'zod';
import { diagnose } from '../../diagnose.ts';
import { resultJson, resultText } from '../../report.ts';
import { exit, type ExitCode } from '../exit.ts';
import { readEvidence } from '../read-evidence.ts';
import { columnsOf, paintFor } from '../terminal.ts';

const flags = z.object({ json: z.boolean().optional() });

export function diagnoseFiles(paths: readonly string[], options: object): ExitCode {
  const { json } = flags.parse(options);
  const { record, remarks, file } = readEvidence(paths);
  for (const remark of remarks) process.stderr.write(`${remark}\n`);
  const diagnosis = diagnose(record);
  const outcome = { record, diagnosis, objectives: [], limits: [], file };
  if (json === true) process.stdout.write(`${JSON.stringify(resultJson(outcome), undefined, 2)}\n`);
  else process.stdout.write(`${resultText(outcome, columnsOf(process.stdout), paintFor(process.stdout)).join('\n')}\n`);
  const { pattern } = diagnosis.verdict;
  return pattern === 'healthy' || pattern === 'undecided' ? exit.ok : exit.fault;
}
