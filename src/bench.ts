// bench: conducts runs. Acts.

export { conduct, type RunNews, type RunOptions, type RunResult } from './bench/conduct.ts';
export { arrange, inOrder } from './bench/experiments.ts';
export { labWorld, type LabWorldOptions } from './bench/lab-world.ts';
export { simWorld, type SimWorldOptions } from './bench/sim-world.ts';
export { truthOf } from './bench/truth.ts';
export type { PhaseOutcome, World } from './bench/world.ts';
