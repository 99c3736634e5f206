// record: what did happen, as data. Pure.

export * from './record/lines.ts';
export * from './record/dossier.ts';
export { type SettingKey, settingKeys } from './record/dossier-keys.ts';
export { readRecord, type ReadNotes, type ReadProblem, type ReadResult, RecordReader } from './record/read.ts';
export { quantilesOf } from './record/quantiles.ts';
export { histogramOfLine, measuredTicks, type PhaseRecord, recordOf, type RunRecord } from './record/run-record.ts';
export type { Truth } from './record/truth.ts';
export { encodeLine, RecordWriter } from './record/write.ts';
