// bench: conducts runs. Acts.

export { conduct, type RunNews, type RunOptions, type RunResult } from './bench/conduct.ts';
export { arrange, inOrder } from './bench/experiments.ts';
export { labWorld, type LabWorldOptions } from './bench/lab-world.ts';
export { simWorld, type SimWorldOptions } from './bench/sim-world.ts';
export { type Figure, figureNamed, figuresOf, type FigureUnit, type PhaseFigures } from './bench/figures.ts';
export {
  type FigureInterval,
  intervalsOf,
  predictionsOf,
  replicate,
  type Replication,
  seedsFrom,
  settled,
} from './bench/replications.ts';
export { type Twin, twinsOf } from './bench/twins.ts';
export { type Edge, type LoadLine, loadLine, type LoadLineOptions, type LoadLineProgress } from './bench/load-line.ts';
export { replicateAll, type ReplicationJob, ReplicationPool } from './bench/replicate-all.ts';
export { replicateUntil, type Until } from './bench/replicate-until.ts';
export { type Change } from './bench/what-if/changes.ts';
export { fitFleet, type FittedFleet } from './bench/what-if/fit-fleet.ts';
export { type WhatIf, whatIf, type WhatIfOptions, whatIfScenario } from './bench/what-if/what-if.ts';
export { compareRuns, type CompareOptions } from './bench/compare/compare.ts';
export { defaultSmallest, figureKinds, type Smallest } from './bench/compare/run-figures.ts';
export { truthOf } from './bench/truth.ts';
export type { PhaseOutcome, World } from './bench/world.ts';
export { conductLive, type LiveOptions, type LiveResult } from './bench/live/conduct-live.ts';
export type { Proposal } from './bench/live/proposals.ts';
export { gatewayTarget, type LiveTarget } from './bench/live/target.ts';
