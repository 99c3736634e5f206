// A rate that changes in a straight line from one value to another and then stays there.
//
//   area(t) = from·t + (to − from)·t²/2T for t ≤ T. Its inverse is the root of a quadratic, in the form 2n / (from + √(…)),
//   which does not subtract nearly equal numbers (the textbook form loses every digit of a slow ramp).

import { assert, type Duration, inSeconds, ns } from '../../base.ts';
import type { RateCurve } from './curve.ts';

export interface Ramp {
  readonly fromPerSecond: number;
  readonly toPerSecond: number;
  readonly over: Duration;
}

export function rampingRate({ fromPerSecond: from, toPerSecond: to, over }: Ramp): RateCurve {
  assert(from >= 0 && to >= 0, 'a rate is not negative');
  assert(from + to > 0, 'a ramp has a rate above 0 at one end');
  assert(over > 0, 'a ramp takes time');
  const length = inSeconds(over);
  const slope = (to - from) / length;
  const rampArea = ((from + to) / 2) * length;
  return {
    area(elapsed) {
      const t = inSeconds(elapsed);
      return t <= length ? from * t + (slope * t * t) / 2 : rampArea + to * (t - length);
    },
    inverse(count) {
      if (count <= 0) return ns(0);
      if (count > rampArea) return to === 0 ? undefined : ns((length + (count - rampArea) / to) * 1e9);
      const root = Math.sqrt(Math.max(0, from * from + 2 * slope * count));
      return ns(((2 * count) / (from + root)) * 1e9);
    },
  };
}
