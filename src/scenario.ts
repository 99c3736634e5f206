// scenario: what will happen, as data. Pure.

export * from './scenario/model.ts';
