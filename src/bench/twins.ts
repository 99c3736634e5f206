// Twins: one scenario in two worlds, and where they differ by more than they may. The imagined world is played many times at the
// lab's own length, so how far one run of that length strays by chance is known; on top of that comes what the model leaves
// out, and no more:
//
//   throughput, tries   ± 5 %
//   in-flight shares    ± 10 points
//   failed share        ± 2 points
//   quantiles           ± 10 % and 3 ms: sockets, a proxy, timers of a millisecond
//
// each on top of where one run in fifty would stray by chance alone where that is further than the tolerance (quantiles: added).
//
// A disagreement is a finding about one world or the other, and names the figure.

import type { Figure } from './figures.ts';
import { predictionsOf, type Replication } from './replications.ts';

export interface Twin {
  readonly figure: string;
  readonly unit: Figure['unit'];
  readonly lab: number;
  /** Mean of the imagined runs. */
  readonly sim: number;
  readonly low: number;
  readonly high: number;
  readonly agrees: boolean;
}

const pathTime = 3e6;

/** Figure by figure. A figure that only one world has is left out. */
export function twinsOf(lab: readonly Figure[], sim: readonly Replication[]): readonly Twin[] {
  return predictionsOf(sim, 0.98).flatMap((predicted): Twin[] => {
    const own = lab.find(({ name }) => name === predicted.name);
    if (own === undefined) return [];
    const { low, high } = allowed(predicted);
    return [
      {
        figure: predicted.name,
        unit: predicted.unit,
        lab: own.value,
        sim: predicted.value,
        low,
        high,
        agrees: own.value >= low && own.value <= high,
      },
    ];
  });
}

function allowed({
  name,
  value,
  low,
  high,
}: {
  readonly name: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}): { readonly low: number; readonly high: number } {
  if (name === 'throughput' || name === 'tries')
    return { low: Math.min(low, value * 0.95), high: Math.max(high, value * 1.05) };
  if (name === 'failed') return { low: Math.max(0, Math.min(low, value - 0.02)), high: Math.max(high, value + 0.02) };
  if (name.startsWith('in flight at ')) {
    return { low: Math.max(0, Math.min(low, value - 0.1)), high: Math.max(high, value + 0.1) };
  }
  return { low: low - 0.1 * value, high: high + 0.1 * value + pathTime };
}
