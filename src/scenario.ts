// scenario: what will happen, as data. Pure.

export * from './scenario/model.ts';
export { type Arrangement, baselineOf } from './scenario/arrangement.ts';
export { type BuiltinScenario, builtinScenarios } from './scenario/builtin.ts';
export { didYouMean, nearest } from './scenario/nearest.ts';
export { type Overrides, withOverrides } from './scenario/override.ts';
export { type Parsed, parseScenario } from './scenario/parse.ts';
export { formatProblem, type Problem } from './scenario/problem.ts';
