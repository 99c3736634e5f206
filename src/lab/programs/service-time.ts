// Draws service times: one number of the replica's stream for each request that a worker takes up (two for log-normal).

import { type Dice, type Duration, ns, unreachable } from '../../base.ts';
import type { Distribution } from '../../scenario.ts';

/** The 99th percentile of the standard normal distribution. */
const normal99 = 2.3263478740408408;

/** A source of durations with the given distribution. */
export function serviceTimes(distribution: Distribution, dice: Dice): () => Duration {
  switch (distribution.kind) {
    case 'constant':
      return () => distribution.value;
    case 'exponential':
      return () => ns(dice.exponential(distribution.mean));
    case 'uniform':
      return () => ns(distribution.min + (distribution.max - distribution.min) * dice.next());
    case 'log-normal': {
      // ln X is normal: its mean is the logarithm of the median, and p99 lies 2.326 deviations above.
      const deviation = Math.log(distribution.p99 / distribution.median) / normal99;
      return () => ns(distribution.median * Math.exp(deviation * dice.normal()));
    }
    default:
      return unreachable(distribution, 'a distribution that has no source');
  }
}
