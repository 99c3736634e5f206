// scenario: what will happen, as data. Pure.

export * from './scenario/model.ts';
export { allFaults } from './scenario/all-faults.ts';
export { type Arrangement, baselineOf } from './scenario/arrangement.ts';
export { oneCopyOf } from './scenario/copies.ts';
export { type BuiltinScenario, builtinScenarios } from './scenario/builtin.ts';
export { firstKeepAlive } from './scenario/keep-alive.ts';
export { didYouMean, nearest } from './scenario/nearest.ts';
export { onlyImagined } from './scenario/only-imagined.ts';
export { parseObjective } from './scenario/objective.ts';
export { type Overrides, withOverrides } from './scenario/override.ts';
export { burstyRate, type Bursts } from './scenario/pace/bursty.ts';
export { constantRate } from './scenario/pace/constant.ts';
export type { RateCurve } from './scenario/pace/curve.ts';
export { evenly, type PacedDemand, type Pacer, pacerOf, waitFor } from './scenario/pace/pacer.ts';
export { poisson } from './scenario/pace/poisson.ts';
export { type Ramp, rampingRate } from './scenario/pace/ramping.ts';
export { listed, warped } from './scenario/pace/listed.ts';
export { type RateStage, stagedRate } from './scenario/pace/stages.ts';
export { parseForLab, type Parsed, parseScenario } from './scenario/parse.ts';
export { explain } from './scenario/explain.ts';
export { formatPath, formatProblem, type Problem } from './scenario/problem.ts';
export { parseDistribution } from './scenario/surface-distribution.ts';
export { constant, distributionMean, sampler } from './scenario/sampler.ts';
export { scenarioJsonSchema } from './scenario/schema.ts';
export { readSource, type Source } from './scenario/source.ts';
export { unimagined } from './scenario/unimagined.ts';
export { parseShare } from './scenario/units.ts';
