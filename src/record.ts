// record: what did happen, as data. Pure.

export * from './record/lines.ts';
export type { Truth } from './record/truth.ts';
