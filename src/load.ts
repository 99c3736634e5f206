// load: a scenario's demand on real sockets. Acts.

export * from './load/contract.ts';
export { type LoadOptions, startLoad } from './load/run.ts';
