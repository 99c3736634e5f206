// `plimsoll diagnose PATH… [--prometheus URL --from --to]`: evidence in, verdict out.

import { z } from 'zod';
import { type Diagnosis, diagnose, diagnoseDossier, dossierRemarks, together } from '../../diagnose.ts';
import { type Outcome, resultJson, resultMarkdown, resultPage, resultText } from '../../report.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { prometheusFile, prometheusQuery } from '../prometheus-flags.ts';
import { type Evidence, readEvidence } from '../read-evidence.ts';
import { columnsOf, paintFor } from '../terminal.ts';

const flags = z.object({
  json: z.boolean().optional(),
  markdown: z.boolean().optional(),
  html: z.boolean().optional(),
  prometheus: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  step: z.string().optional(),
});

export async function diagnoseFiles(paths: readonly string[], options: object): Promise<ExitCode> {
  const form = flags.parse(options);
  const query = prometheusQuery(form);
  if (paths.length === 0 && query === undefined)
    throw new UsageError('nothing to read; give files, or --prometheus URL');
  const evidence = await readEvidence(paths, query === undefined ? [] : [await prometheusFile(query)]);
  for (const remark of evidence.remarks) process.stderr.write(`${remark}\n`);
  for (const remark of evidence.dossier === undefined ? [] : dossierRemarks(evidence.dossier)) {
    process.stderr.write(`${remark}\n`);
  }
  const diagnosis = diagnosisOf(evidence);
  const outcome: Outcome = {
    record: evidence.record,
    sources: evidence.dossier?.sources ?? [],
    diagnosis,
    objectives: [],
    limits: [],
    file: evidence.file,
  };
  process.stdout.write(`${said(outcome, form).join('\n')}\n`);
  const { pattern, basis } = diagnosis.verdict;
  const calm = pattern === 'healthy' || pattern === 'undecided' || pattern === 'benign-accept-order';
  return calm && basis !== 'configured' ? exit.ok : exit.fault;
}

function diagnosisOf({ record, dossier }: Evidence): Diagnosis {
  const seen = record === undefined ? undefined : diagnose(record);
  const read = dossier === undefined ? undefined : diagnoseDossier(dossier);
  return together(seen, read);
}

function said(outcome: Outcome, { json, markdown, html }: z.infer<typeof flags>): readonly string[] {
  if (json === true) return [JSON.stringify(resultJson(outcome), undefined, 2)];
  if (markdown === true) return resultMarkdown(outcome);
  if (html === true) return [resultPage(outcome)];
  return resultText(outcome, columnsOf(process.stdout), paintFor(process.stdout));
}
