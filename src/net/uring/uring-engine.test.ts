// The suite that every engine must pass, where io_uring is allowed: as it is, so cramped that the kernel runs out of everything
// all the time (places for requests, for answers, buffers), which must cost speed and nothing else, and waiting in the ring.

import { test } from 'node:test';
import type { Engine } from '../engine.ts';
import { conformance } from '../testing/conformance.ts';
import { uringEngine, type UringEngineOptions } from './uring-engine.ts';

const cramped: UringEngineOptions = {
  sizes: { submissions: 4, completions: 8, receiveBytes: 2500, receiveBuffersFirst: 2, receiveBuffersMax: 4 },
};

const first = uringEngine();
if ('why' in first) {
  test('the uring engine', { skip: first.why }, () => {});
} else {
  await first.close();
  conformance('uring', () => make({}));
  conformance('cramped uring', () => make(cramped));
  conformance('waiting uring', () => make({ waitsInRing: true }));
  conformance('waiting uring with fine alarms', () => make({ waitsInRing: true, fineAlarms: true }));
}

function make(options: UringEngineOptions): Engine {
  const engine = uringEngine(options);
  if ('why' in engine) throw new Error(engine.why);
  return engine;
}
