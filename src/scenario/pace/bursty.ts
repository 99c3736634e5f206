// So many at once, again and again: what a batch job or a cron entry does. The mean rate is size ÷ every.

import { assert, type Duration, ns } from '../../base.ts';
import type { RateCurve } from './curve.ts';

export interface Bursts {
  readonly size: number;
  readonly every: Duration;
}

export function burstyRate({ size, every }: Bursts): RateCurve {
  assert(Number.isInteger(size) && size > 0, 'a burst has a whole number of requests');
  assert(every > 0, 'bursts are some time apart');
  return {
    // A burst at t counts from t on, so it is not yet in the area before t: hence the ceiling.
    area: (elapsed) => Math.ceil(elapsed / every) * size,
    inverse: (count) => ns(Math.floor(count / size) * every),
  };
}
