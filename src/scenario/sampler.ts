// Durations drawn from a scenario's distributions, in the lab and in the simulator alike.

import { type Dice, type Duration, ns, unreachable } from '../base.ts';
import type { Distribution } from './model.ts';

/** The 99th percentile of the standard normal distribution. */
const normal99 = 2.3263478740408408;

/** A source of durations with this distribution. Allocates nothing per draw. */
export function sampler(distribution: Distribution, dice: Dice): () => Duration {
  switch (distribution.kind) {
    case 'constant':
      return () => distribution.value;
    case 'exponential':
      return () => ns(dice.exponential(distribution.mean));
    case 'uniform':
      return () => ns(distribution.min + (distribution.max - distribution.min) * dice.next());
    case 'log-normal': {
      const deviation = deviationOf(distribution);
      return () => ns(distribution.median * Math.exp(deviation * dice.normal()));
    }
    default:
      return unreachable(distribution, 'a distribution without a source');
  }
}

/** The same every time. */
export const constant = (value: Duration): Distribution => ({ kind: 'constant', value });

/** The mean of a distribution. That of a log-normal is median · e^(σ²/2). */
export function distributionMean(distribution: Distribution): Duration {
  switch (distribution.kind) {
    case 'constant':
      return distribution.value;
    case 'exponential':
      return distribution.mean;
    case 'uniform':
      return ns((distribution.min + distribution.max) / 2);
    case 'log-normal':
      return ns(distribution.median * Math.exp(deviationOf(distribution) ** 2 / 2));
    default:
      return unreachable(distribution, 'a distribution without a mean');
  }
}

/** ln X is normal: its mean is the logarithm of the median, and p99 lies 2.326 deviations above. */
const deviationOf = ({ median, p99 }: { readonly median: Duration; readonly p99: Duration }): number =>
  Math.log(p99 / median) / normal99;
