// The suite that every engine must pass, where io_uring is allowed.

import { test } from 'node:test';
import { conformance } from '../testing/conformance.ts';
import type { Engine } from '../engine.ts';
import { uringEngine } from './uring-engine.ts';

const first = uringEngine();
if ('why' in first) {
  test('the uring engine', { skip: first.why }, () => {});
} else {
  await first.close();
  conformance('uring', (): Engine => {
    const engine = uringEngine();
    if ('why' in engine) throw new Error(engine.why);
    return engine;
  });
}
