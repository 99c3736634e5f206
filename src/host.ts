// host: what this computer gives. Acts.

export { clockResolution, now, wallClockAt } from './host/clock.ts';
export { environmentOf, type MachineFacts } from './host/environment.ts';
export { cpuTimeOf, type LoopLag, LoopWatch } from './host/process-facts.ts';
export { RecordFile } from './host/record-file.ts';
export { chanceSeed } from './host/seed.ts';
