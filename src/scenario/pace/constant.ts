// The same rate all the time.

import { assert, ns } from '../../base.ts';
import type { RateCurve } from './curve.ts';

export function constantRate(ratePerSecond: number): RateCurve {
  assert(ratePerSecond > 0 && Number.isFinite(ratePerSecond), 'a constant rate is above 0');
  return {
    area: (elapsed) => (elapsed / 1e9) * ratePerSecond,
    inverse: (count) => ns((count / ratePerSecond) * 1e9),
  };
}
