// scenario: what will happen, as data. Pure.

export * from './scenario/model.ts';
export { type Arrangement, baselineOf } from './scenario/arrangement.ts';
