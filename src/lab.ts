// lab: a scenario's topology and faults as real processes. Acts.

export * from './lab/contract.ts';
