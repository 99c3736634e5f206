// net: sockets behind one small interface. Acts.

export { chooseEngine, type ChosenEngine, type EngineChoice } from './net/choose-engine.ts';
export * from './net/engine.ts';
export { nodeEngine, type NodeEngineOptions } from './net/node-engine.ts';
export { uringEngine, type UringEngineOptions } from './net/uring/uring-engine.ts';
