// load: a scenario's demand on real sockets. Acts.

export * from './load/contract.ts';
export { machineLimits } from './load/machine-limits.ts';
export { evaluate, type Outcome } from './load/objectives.ts';
export { type MachineLimits, preflight, type Shortage } from './load/preflight.ts';
export { Outputs, type OutputsWanted } from './load/outputs/outputs.ts';
export { type Probe, probe } from './load/probe.ts';
export { type CrewOptions, startCrew } from './load/crew.ts';
export { type Agent, type AgentOptions, startAgent } from './load/machines/agent.ts';
export {
  machinesTold,
  type MachinePlace,
  reachMachines,
  type Reached,
  type RemoteThread,
} from './load/machines/remote-hand.ts';
export { type LoadOptions, startLoad } from './load/run.ts';
export { readSource } from './load/sources/read-source.ts';
export type { Source, SourceFormat, SourceProblem, SourceRequest } from './load/sources/source.ts';
export { selftest, type SelftestCase, selftestCases, type SelftestRow, selftestText } from './load/selftest.ts';
export {
  type LoadSummary,
  type PercentileRow,
  type ReplicaRow,
  type SpectrumRow,
  type Spread,
  summaryOf,
} from './load/summary.ts';
