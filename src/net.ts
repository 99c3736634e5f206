// net: sockets behind one small interface. Acts.

export * from './net/engine.ts';
export { nodeEngine, type NodeEngineOptions } from './net/node-engine.ts';
