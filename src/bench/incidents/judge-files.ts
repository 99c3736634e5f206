// Files in, verdict out: what `plimsoll diagnose` does, without a shell around it.

import { type Diagnosis, diagnose, diagnoseDossier, together } from '../../diagnose.ts';
import { readDossier, readForeign } from '../../observe.ts';
import { recordOf } from '../../record.ts';
import type { Signal } from './writers.ts';

export function judgeFiles(files: readonly Signal[]): Diagnosis {
  const { dossier } = readDossier(files);
  const logs = files.filter(({ name }) => {
    const format = dossier.sources.find(({ file }) => file === name)?.format ?? '';
    return /^(?:HAProxy log|HAProxy statistics|Envoy access log|nginx access log|nginx configuration)/.test(format);
  });
  const timed = readForeign(logs, 'bench');
  const record = timed.kind === 'record' ? diagnose(recordOf(timed.lines)) : undefined;
  return together(record, diagnoseDossier(dossier));
}
