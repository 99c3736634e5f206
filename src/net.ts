// net: sockets behind one small interface. Acts.

export * from './net/engine.ts';
