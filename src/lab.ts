// lab: a scenario's topology and faults as real processes. Acts.

export * from './lab/contract.ts';
export { LabError } from './lab/lab-error.ts';
export { startLab } from './lab/start-lab.ts';
